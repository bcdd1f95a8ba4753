"""What is written beside converted weights, the tokens of a model, and text made of them."""

import json

import pytest

from engine.errors import ModelError
from engine.models.encoder_decoder.record import (
    RECORD_FILE,
    Record,
    checked_vocabulary,
    converted_folder,
    precision_folder,
    read_record,
    save_calibration,
)
from engine.models.encoder_decoder.tokenizer import make_decoder
from engine.models.model_card import Calibration

RECORD = Record(
    name="some/model",
    family="nllb",
    sources={"en": "eng_Latn", "tlh": "tlh_Latn"},
    targets={"de": "deu_Latn"},
    source_pieces="a.model",
    target_pieces="b.model",
    licence="mit",
    encoder=1,
    decoder=2,
)


def test_a_record_is_read_as_it_was_saved_and_has_no_prompt_and_no_slots(tmp_path):
    RECORD.save(tmp_path)
    assert read_record(tmp_path) == RECORD
    saved = json.loads((tmp_path / RECORD_FILE).read_text())
    assert not {"weights_sha256", "calibration"} & set(saved)
    card = RECORD.card
    assert (card.name, card.family, card.sources) == ("some/model", "nllb", ("en", "tlh"))
    assert (card.languages["de"].name, card.languages["de"].system) == ("German", "")
    assert not card.knows_slots
    wanted = {"</s>", "<unk>", "<s>", "<pad>", "eng_Latn", "tlh_Latn", "deu_Latn"}
    assert RECORD.markers == wanted


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"family": "other"},
            "'family' should be one of marian, m2m100, nllb, madlad, got 'other'",
        ),
        ({"source_pieces": "../../secret"}, "'../../secret', which is no plain name"),
        ({"targets": {"../de": ""}}, "../de"),
        ({"encoder": -2}, "'encoder'"),
        ({"name": "x" * 201}, "'name'"),
        ({"format_version": 2}, "'format_version'"),
        ({"is_accepted": None}, "'is_accepted'"),
    ],
)
def test_a_garbled_record_is_refused_by_what_is_wrong(tmp_path, changes, said):
    RECORD.save(tmp_path)
    path = tmp_path / RECORD_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(ModelError, match="delete that folder, and it is converted again") as caught:
        read_record(tmp_path)
    assert said in str(caught.value)


def test_the_precision_that_is_asked_for_is_taken_before_another_one(tmp_path):
    assert converted_folder(tmp_path, "int8") is None
    for precision in ("float16", "int8"):
        folder = precision_folder(tmp_path, precision)
        folder.mkdir()
        RECORD.save(folder)
        assert converted_folder(tmp_path, "int8") == folder
    assert converted_folder(tmp_path, "float16") == precision_folder(tmp_path, "float16")
    RECORD.save(tmp_path)
    assert converted_folder(tmp_path, "float16") == tmp_path


def test_a_calibration_is_kept_beside_what_was_converted(tmp_path):
    calibration = Calibration(slope=2.0, offset=1.0, threshold=0.25)
    with pytest.raises(ModelError):
        save_calibration(tmp_path, calibration)
    folder = precision_folder(tmp_path, "int8")
    folder.mkdir()
    RECORD.save(folder)
    save_calibration(tmp_path, calibration)
    assert read_record(folder).calibration == calibration


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ("ab", "should hold a list of texts, got 'ab'"),
        (["a", 1], "should hold a list of texts"),
        (["x"] * ((1 << 20) + 1), "has 1048577 tokens, and 1048576 are the most"),
        (["a", "x" * 1001], "has a token of 1001 characters, and 1000 are the most"),
        (["a", "b", "c", "b"], "names 'b' twice"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_list_that_is_no_vocabulary_is_refused(tokens, said):
    with pytest.raises(ValueError, match=said):
        checked_vocabulary(tokens)


def test_a_vocabulary_knows_the_ids_of_its_tokens():
    assert checked_vocabulary(["a", "x" * 1000]).ids == {"a": 0, "x" * 1000: 1}
    assert checked_vocabulary([]) == ()


def test_ids_become_text_without_markers_and_bytes_become_characters():
    vocabulary = ["<unk>", "</s>", "▁gr", "ün", "▁A", "<0xC3>", "<0xA4>"]
    decoder = make_decoder(vocabulary, frozenset({"</s>", "<pad>", "<unk>"}), "<unk>")
    assert decoder.decode([2, 3, 4, 5, 6, 1]) == " grün Aä"
    assert decoder.decode([4, 1], skip_special_tokens=False) == " A</s>"
