import random
import shutil

import numpy as np
import pytest
import torch

from engine.audio import SAMPLE_RATE_HZ

pytest.importorskip("faster_whisper")

from training import tiny_whisper, tiny_whisper_tokenizer
from training.synthetic_speech import Utterance, sentence, utterance
from training.tiny_whisper import TinyWhisper, make_example


@pytest.fixture(scope="module")
def tokenizer():
    rng = random.Random(0)
    return tiny_whisper_tokenizer.train([sentence(rng) for _ in range(1_000)])


@pytest.fixture(scope="module")
def extractor():
    from faster_whisper.feature_extractor import FeatureExtractor  # noqa: PLC0415  may be missing

    return FeatureExtractor()


def test_timestamps_follow_directly_behind_the_token_for_none(tokenizer):
    first = tiny_whisper_tokenizer.find(tokenizer, "<|notimestamps|>") + 1
    for number in range(tiny_whisper_tokenizer.N_TIMESTAMPS):
        assert tiny_whisper_tokenizer.timestamp(tokenizer, number * 0.02) == first + number
    assert tokenizer.get_vocab_size() == first + tiny_whisper_tokenizer.N_TIMESTAMPS


@pytest.mark.parametrize("seed", range(20))
def test_every_word_is_one_token_and_comes_back(tokenizer, seed):
    text = " " + sentence(random.Random(seed))
    ids = tokenizer.encode(text).ids
    assert len(ids) == len(text.split()) + 1  # the full stop
    assert tokenizer.decode(ids) == text


def test_an_example_says_when_its_words_begin_and_end(tokenizer, extractor):
    noise = np.random.default_rng(0).standard_normal(32_000).astype(np.float32) / 100
    spoken = Utterance(text="They went home.", samples=noise, start_s=0.5, end_s=1.5)
    example = make_example(spoken, extractor, tokenizer)
    told = [tokenizer.id_to_token(number) for number in example.ids]
    assert told[:2] == ["<|startoftranscript|>", "<|0.50|>"]
    assert told[-2:] == ["<|1.50|>", "<|endoftext|>"]
    assert abs(example.features.shape[1] - 200) <= 1


def test_where_nobody_speaks_the_example_says_so(tokenizer, extractor):
    spoken = Utterance(
        text="", samples=np.zeros(SAMPLE_RATE_HZ, np.float32), start_s=0.1, end_s=0.9
    )
    ids = make_example(spoken, extractor, tokenizer).ids
    told = [tokenizer.id_to_token(number) for number in ids]
    assert told == ["<|startoftranscript|>", "<|nospeech|>", "<|endoftext|>"]


def test_an_utterance_of_a_seed_is_always_the_same():
    if shutil.which("espeak-ng") is None:
        pytest.skip("needs espeak-ng")
    one, other = (utterance(random.Random(3)) for _ in range(2))
    assert one.text == other.text
    assert np.array_equal(one.samples, other.samples)
    assert 0 <= one.start_s < one.end_s <= len(one.samples) / SAMPLE_RATE_HZ


def test_our_encoder_of_any_length_is_the_librarys_on_thirty_seconds(tokenizer):
    torch.manual_seed(0)
    model = TinyWhisper(tokenizer.get_vocab_size(), 0).eval()
    features = torch.randn(1, 80, 3_000)
    with torch.no_grad():
        theirs = model.whisper.model.encoder(features).last_hidden_state
        torch.testing.assert_close(model.encode(features), theirs)


def test_an_interrupted_run_goes_on_where_it_was_saved(tokenizer, tmp_path):
    torch.manual_seed(0)
    model = TinyWhisper(tokenizer.get_vocab_size(), 0)
    optimizer = torch.optim.AdamW(model.parameters())
    tiny_whisper._save(model, optimizer, tmp_path, 7)
    other = TinyWhisper(tokenizer.get_vocab_size(), 0)
    again = torch.optim.AdamW(other.parameters())
    assert tiny_whisper._resume(other, again, tmp_path) == 7
    for name, weights in model.state_dict().items():
        assert torch.equal(other.state_dict()[name], weights)
    assert tiny_whisper._resume(other, again, tmp_path / "elsewhere") == 0
