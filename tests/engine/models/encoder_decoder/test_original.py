"""Test that folders of four families are recognised, and that unusable ones get one sentence."""

import json
import shutil

import pytest
from transformers import AutoTokenizer

from engine.errors import ModelError
from engine.models.adapters.adapter import model_card
from engine.models.encoder_decoder.original import is_encoder_decoder, model_record, read_original
from engine.models.encoder_decoder.record import Vocabulary, two_letters
from engine.models.encoder_decoder.tokenizer import SentencePieceTokenizer, read_processor
from tests.engine.runtime.ctranslate2.tiny_models import (
    FAMILIES,
    LANGUAGES,
    train_pieces,
)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_and_its_languages_are_read_from_the_files(originals, family):
    folder = originals[family]
    card = model_card(folder, None)
    assert is_encoder_decoder(folder)
    assert (card.family, tuple(card.languages)) == (family, LANGUAGES[family])
    sources = {"marian": ("en",), "madlad": ()}.get(family, LANGUAGES[family])
    assert card.sources == sources
    assert not card.knows_slots


@pytest.mark.parametrize("family", ["marian", "m2m100"])
def test_words_are_cut_as_transformers_cuts_a_whole_sentence(originals, family):
    folder = originals[family]
    original = read_original(folder)
    tokenizer = SentencePieceTokenizer(
        read_processor(folder / original.record.source_pieces),
        Vocabulary(original.vocabulary),
        original.record.markers,
        "<unk>",
    )
    options = {"src_lang": "en"} if family == "m2m100" else {}
    with pytest.warns() if family == "marian" else _nothing():  # it recommends sacremoses
        theirs = AutoTokenizer.from_pretrained(folder, **options)
    words = ["the", "old", "12", "grün", "livre"]
    before = original.record.source_tokens("en", "de")
    ours = [one for word in words for one in tokenizer.encode(" " + word)]
    wanted = theirs.convert_ids_to_tokens(theirs(" ".join(words)).input_ids)
    assert [*before, *tokenizer.convert_ids_to_tokens(ours), "</s>"] == wanted


class _nothing:  # noqa: N801
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


@pytest.mark.parametrize(
    ("family", "source", "target"),
    [
        ("marian", [], []),
        ("m2m100", ["__pl__"], ["__de__"]),
        ("nllb", ["pol_Latn"], ["deu_Latn"]),
        ("madlad", ["<2de>"], []),
    ],
)
def test_each_family_has_its_language_tokens_on_its_own_side(originals, family, source, target):
    record = model_record(originals[family])
    spoken = "en" if family == "marian" else "pl"
    assert record.source_tokens(spoken, "de") == source
    assert record.target_tokens("de") == target


def test_a_marian_of_many_targets_is_asked_by_a_token_before_the_source(original):
    vocabulary = json.loads((original / "vocab.json").read_text())
    for token in (">>fra<<", ">>cmn_Hans<<"):
        vocabulary[token] = len(vocabulary)
    (original / "vocab.json").write_text(json.dumps(vocabulary))
    record = model_record(original)
    assert list(record.targets) == ["fr", "cmn_Hans"]
    assert record.source_tokens("en", "fr") == [">>fra<<"]


def test_a_pair_that_a_model_does_not_know_is_named(originals):
    record = model_record(originals["marian"])
    with pytest.raises(ModelError, match="translates to de, not to 'fr'"):
        record.source_tokens("en", "fr")
    with pytest.raises(ModelError, match="translates from en, not from 'pl'"):
        record.source_tokens("pl", "de")
    with pytest.raises(ModelError, match="in 'de', which is spoken"):
        model_record(originals["m2m100"]).source_tokens("de", "de")


def test_codes_of_three_letters_become_those_of_two():
    codes = ["deu", "deu_Latn", "de", "zho_Hans", "cmn", "nob_Latn", "ace_Arab", "zho_Hant"]
    wanted = ["de", "de", "de", "zh", "zh", "no", "ace_Arab", "zho_Hant"]
    assert [two_letters(code) for code in codes] == wanted


def test_the_pair_of_a_marian_without_settings_is_in_its_folder_s_name(original):
    (original / "tokenizer_config.json").unlink()
    with pytest.raises(ModelError, match="nothing in it names the languages"):
        read_original(original)
    for name in ("opus-mt-en-de", "Helsinki-NLP--opus-mt-en-de"):
        original = original.rename(original.with_name(name))
        assert model_record(original).card.sources == ("en",)
    assert model_record(original).name == "Helsinki-NLP/opus-mt-en-de"


def _pickled(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def _without_pieces(folder):
    (folder / "target.spm").unlink()


def _damaged_pieces(folder):
    (folder / "source.spm").write_bytes(b"\x0a\x05hello")


def _gaps(folder):
    vocabulary = json.loads((folder / "vocab.json").read_text())
    vocabulary.pop("<unk>")
    (folder / "vocab.json").write_text(json.dumps(vocabulary))


def _cut_weights(folder):
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-10])


def _setting(key, value):
    def change(folder):
        config = json.loads((folder / "config.json").read_text())
        config[key] = value
        (folder / "config.json").write_text(json.dumps(config))

    return change


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_pickled, "its weights are a pickle .pytorch_model.bin., which can run code; name"),
        (_without_pieces, "it has no target.spm; get it again"),
        (_damaged_pieces, "its source.spm cannot be used"),
        (_gaps, "vocab.json gives its tokens ids with gaps"),
        (_cut_weights, "'model.safetensors' was cut"),
        (_setting("auto_map", {"AutoConfig": "evil.Config"}), "names Python code of its own"),
        (_setting("max_position_embeddings", 2**30), "'max_position_embeddings' should be a whole"),
        (_setting("encoder_layers", 10**6), "4096 is the most"),
        (_setting("share_encoder_decoder_embeddings", False), "have a vocabulary each"),
    ],
)
def test_a_folder_that_cannot_be_used_gets_one_sentence(original, damage, said):
    damage(original)
    with pytest.raises(ModelError, match=said) as caught:
        read_original(original)
    assert "\n" not in str(caught.value)


def test_a_t5_that_is_no_translation_model_is_refused(originals, tmp_path):
    folder = shutil.copytree(originals["madlad"], tmp_path / "t5")
    shutil.copy(originals["m2m100"] / "sentencepiece.bpe.model", folder / "spiece.model")
    with pytest.raises(ModelError, match="nothing in it names the languages"):
        read_original(folder)


def test_nllb_is_under_its_licence_even_without_a_readme(originals, tmp_path):
    folder = shutil.copytree(originals["nllb"], tmp_path / "nllb")
    (folder / "README.md").unlink()
    assert model_record(folder).forbids_commerce


def _bomb(folder, side, n):
    """Let the rules of a side put a long text for a digit that no trial has."""
    rules = folder / "rules.tsv"
    rules.write_text("37\t" + " ".join(["61"] * n) + "\n")
    train_pieces(folder / "source.spm", **{f"{side}_rule_tsv": str(rules)})


@pytest.mark.parametrize("side", ["normalization", "denormalization"])
def test_pieces_whose_rules_make_a_long_text_of_a_short_one_are_refused(original, side):
    _bomb(original, side, 30)
    assert read_original(original).record.family == "marian"
    _bomb(original, side, 3000)
    with pytest.raises(ModelError, match="it makes a text of 3000 bytes of another"):
        read_original(original)


@pytest.mark.parametrize(
    ("family", "key"),
    [("marian", "encoder_layers"), ("nllb", "num_hidden_layers"), ("madlad", "num_decoder_layers")],
)
def test_more_layers_than_there_are_weights_for_are_refused_before_they_are_built(
    originals, tmp_path, family, key
):
    folder = shutil.copytree(originals[family], tmp_path / family)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, key: 4096}))
    with pytest.raises(ModelError, match="asks for a larger network than it has weights for"):
        read_original(folder)
