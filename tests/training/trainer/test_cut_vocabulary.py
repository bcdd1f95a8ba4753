import json
import random
import string

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, trainers
from transformers import PreTrainedTokenizerFast

from engine.models.model_card import read_card
from engine.runtime.torch.torch_loader import load_tokenizer, pretrained_network
from engine.text.prompt import make_prompt, word_ids
from tests.support.networks import stock_network
from tests.support.training_runs import losses
from training.__main__ import main
from training.trainer.cut_vocabulary import (
    BEGIN,
    END,
    MARKERS,
    PAD,
    UNKNOWN,
    cut_tokenizer,
    needed_ids,
)

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
OTHERS = ["<mask>", *(f"<unused{n}>" for n in range(8, 40))]
N_IDS = 448


def random_words(rng, letters, n):
    """Words of syllables, so that byte-pair encoding finds pieces within pieces."""
    syllables = ["".join(rng.choices(letters, k=rng.randint(1, 3))) for _ in range(60)]
    return ["".join(rng.choices(syllables, k=rng.randint(1, 5))) for _ in range(n)]


@pytest.fixture(scope="module")
def texts():
    rng = random.Random(2)
    words = random_words(rng, string.ascii_lowercase[:9], 300)
    return [" ".join(rng.choices(words, k=7)) for _ in range(300)]


@pytest.fixture(scope="module")
def whole(texts):
    """A tokenizer built as Gemma's is, of more texts than those that are kept."""
    others = random_words(random.Random(3), "bdfhjln", 4000)
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN, byte_fallback=True, fuse_unk=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=900, special_tokens=[*MARKERS, *OTHERS, *BYTES], show_progress=False
    )
    words = [f" {word}" for text in texts for word in text.split()]
    tokenizer.train_from_iterator([*words, *(f" {word}" for word in others)], trainer)
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = [
        one for one in content["added_tokens"] if one["content"] not in BYTES
    ]
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(content)),
        pad_token=PAD,
        bos_token=BEGIN,
        eos_token=END,
        unk_token=UNKNOWN,
    )


def pieces(tokenizer, word):
    return tokenizer.convert_ids_to_tokens(word_ids(tokenizer, word))


def test_words_whose_pieces_are_kept_are_encoded_as_before(whole, texts):
    kept = needed_ids(whole, texts, N_IDS)
    fewer = cut_tokenizer(whole, kept)
    assert len(fewer) == len(kept) == N_IDS < len(whole)
    left = set(fewer.get_vocab())
    n_compared = n_other = 0
    strange = random_words(random.Random(4), "bdfhjln", 300)
    for word in {*" ".join(texts).split(), *strange}:
        before = pieces(whole, word)
        if left.issuperset(before):
            assert pieces(fewer, word) == before
            n_compared += 1
        else:
            assert fewer.decode(word_ids(fewer, word)) == f" {word}"
            n_other += 1
    assert n_compared > 100
    assert n_other > 100


@pytest.fixture
def folder(whole, tmp_path):
    folder = tmp_path / "whole"
    network = stock_network("gemma3", torch.float32, vocab_size=len(whole), pad_token_id=0)
    network.save_pretrained(folder)
    whole.save_pretrained(folder)
    return folder


@pytest.fixture
def corpus(texts, tmp_path):
    path = tmp_path / "corpus.tsv"
    path.write_text("".join(f"{text}\t{text}\tmine\n" for text in texts), "utf-8")
    return path


def cut(model, corpus, out, *more):
    arguments = ["--text", str(corpus), "--to", "de,fr", "--ids", str(N_IDS), "--out", str(out)]
    return main(["cut-vocabulary", str(model), *arguments, *more])


def test_the_smaller_model_says_of_kept_ids_what_the_whole_one_does(
    folder, corpus, whole, texts, tmp_path
):
    assert cut(folder, corpus, tmp_path / "cut") == 0
    kept = needed_ids(whole, [*texts, "English to German", "English to French"], N_IDS)
    large, small = (
        pretrained_network(one, dtype=torch.float32, packing=None, device=torch.device("cpu"))
        for one in (folder, tmp_path / "cut")
    )
    for weight in large.parameters():  # as the smaller one is kept
        weight.data = weight.data.to(torch.bfloat16).to(torch.float32)
    ids = torch.randint(0, N_IDS, (2, 20), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        expected = large(torch.tensor(kept)[ids]).logits[..., kept]
        torch.testing.assert_close(small(ids).logits, expected, rtol=0, atol=1e-4)


def test_its_card_asks_for_each_language_and_the_terms_come_along(folder, corpus, tmp_path):
    out = tmp_path / "cut"
    cut(folder, corpus, out)
    card, tokenizer = read_card(out), load_tokenizer(out)
    prompts = [make_prompt(tokenizer, card, code) for code in ("de", "fr")]
    assert prompts[0].headers.system != prompts[1].headers.system
    for prompt in prompts:
        headers = prompt.headers
        assert len(headers.user) == len(headers.assistant) == len(headers.first) == 1
        assert len({prompt.end_of_source, prompt.end_of_write, prompt.end_of_target}) == 3
    assert "found at ai.google.dev/gemma/terms" in (out / "NOTICE").read_text("utf-8")
    assert "Gemma Terms of Use" in (out / "LICENSE").read_text("utf-8")
    assert "modified" in (out / "README.md").read_text("utf-8")


def test_a_tokenizer_without_gemmas_markers_is_refused(folder, corpus, tmp_path, capsys):
    path = folder / "tokenizer.json"
    path.write_text(path.read_text("utf-8").replace("start_of_turn", "start_of_talk"), "utf-8")
    assert cut(folder, corpus, tmp_path / "cut") == 2
    assert "no <start_of_turn>" in capsys.readouterr().err


def trained(base, out, *data):
    recipe = base.parent / "mine.toml"
    recipe.write_text(
        'base = "new"\nslot_lengths = [32]\nmax_length = 256\ndevice = "cpu"\n'
        'precision = "fp32"\n[optimisation]\noptimizer = "adamw"\nrate = 1e-3\n'
        "warm_up_steps = 2\nbatch_tokens = 512\nepochs = 4\n",
        "utf-8",
    )
    arguments = ["--recipe", str(recipe), "--train-on", str(base), "--out", str(out)]
    return main(["pretrain", *arguments, "--data", *data])


def test_every_weight_is_trained_on_and_the_terms_go_with_the_result(folder, corpus, tmp_path):
    base, out = tmp_path / "cut", tmp_path / "run"
    cut(folder, corpus, base)
    data = tmp_path / "aligned.tsv"
    rows = (f"a b {n % 9}\th i {n % 9}\tmine\t1 2 3\n" for n in range(60))
    data.write_text("".join(rows), "utf-8")
    assert trained(base, out, f"de={data}", f"fr={data}") == 0
    card, prompt = read_card(out), make_prompt(load_tokenizer(out), read_card(out), "fr")
    assert card.slot_length == 32
    assert "read:3" in card.policies
    assert sorted(card.languages) == ["de", "fr"]
    assert prompt == make_prompt(load_tokenizer(base), read_card(base), "fr")
    before, after = (
        pretrained_network(one, dtype=torch.float32, packing=None, device=torch.device("cpu"))
        for one in (base, out)
    )
    for (name, old), new in zip(before.named_parameters(), after.parameters(), strict=True):
        assert not torch.equal(old, new), name
    assert losses(out)[-1] < losses(out)[0]
    assert (out / "NOTICE").read_bytes() == (base / "NOTICE").read_bytes()
    assert (out / "LICENSE").exists()
