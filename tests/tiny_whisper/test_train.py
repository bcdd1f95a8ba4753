import random

import numpy as np
import pytest
import torch

from engine.audio.devices import SAMPLE_RATE_HZ

pytest.importorskip("faster_whisper")

from tests.tiny_whisper import tokenizer as tiny_whisper_tokenizer
from tests.tiny_whisper import train as tiny_whisper
from tests.tiny_whisper.synthetic_speech import SpokenWord, Utterance, cut, sentence, utterance
from tests.tiny_whisper.train import TinyWhisper, make_example
from training.errors import TrainingError
from training.research import speech_corpus as espeak

needs_espeak = pytest.mark.skipif(not espeak.is_here(), reason="needs espeak-ng")


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


def spoken_in(words, seconds):
    noise = np.random.default_rng(0).standard_normal(round(seconds * SAMPLE_RATE_HZ)) / 100
    return Utterance(words=words, samples=noise.astype(np.float32))


HOME = (
    SpokenWord(text="They", start_s=0.4, end_s=0.8),
    SpokenWord(text="went", start_s=0.8, end_s=1.2),
    SpokenWord(text="home.", start_s=1.2, end_s=1.6),
)


def test_an_example_says_when_its_words_begin_and_end(tokenizer, extractor):
    example = make_example(spoken_in(HOME, 2.0), extractor, tokenizer)
    told = [tokenizer.id_to_token(number) for number in example.ids]
    assert told[:2] == ["<|startoftranscript|>", "<|0.40|>"]
    assert told[-2:] == ["<|1.60|>", "<|endoftext|>"]
    assert abs(example.features.shape[1] - 200) <= 2
    assert example.n_prompt == 0
    they = example.ids[2]
    assert example.frames[20:40].eq(they).all()
    assert not example.frames[:20].eq(they).any()
    # the first layer is drawn to the word that was read, the second to the one that follows
    assert example.spans[2].tolist() == [[20, 40], [40, 60]]


def test_what_was_said_before_is_told_and_not_learnt(tokenizer, extractor):
    told, timed = (
        make_example(
            spoken_in(HOME, 2.0), extractor, tokenizer, prompt="We like", timestamps=timestamps
        )
        for timestamps in (False, True)
    )
    names = [tokenizer.id_to_token(number) for number in told.ids]
    n_before = names.index("<|startoftranscript|>")
    assert names[0] == "<|startofprev|>"
    assert tokenizer.decode(told.ids[1:n_before]) == " We like"
    assert names[n_before + 1] == "<|notimestamps|>"
    assert (told.n_prompt, timed.n_prompt) == (n_before + 1, n_before)


def test_where_nobody_speaks_the_example_says_so(tokenizer, extractor):
    ids = make_example(spoken_in((), 1.0), extractor, tokenizer).ids
    told = [tokenizer.id_to_token(number) for number in ids]
    assert told == ["<|startoftranscript|>", "<|nospeech|>", "<|endoftext|>"]


def test_a_word_that_is_cut_short_is_not_told():
    whole = spoken_in(HOME, 2.0)
    heard = cut(whole, 0.8, 1.5)
    assert heard.text == "went"
    assert heard.words[0].start_s == pytest.approx(0.0)
    assert heard.words[0].end_s == pytest.approx(0.4)
    assert len(heard.samples) == round(0.7 * SAMPLE_RATE_HZ)
    assert cut(whole, 0.0, 2.0).words == whole.words


@needs_espeak
@pytest.mark.parametrize("seed", range(10))
def test_words_lie_behind_each_other_in_the_sound(seed):
    one = utterance(random.Random(seed), n_sentences=3)
    times = [at for word in one.words for at in (word.start_s, word.end_s)]
    assert times == sorted(times)
    assert all(0 <= at <= len(one.samples) / SAMPLE_RATE_HZ for at in times)
    assert all(word.end_s > word.start_s for word in one.words)


@needs_espeak
def test_a_voice_that_is_not_there_is_said_so():
    with pytest.raises(TrainingError, match="xx-nobody"):
        espeak.say("Hello.", espeak.Voice(name="xx-nobody"))


def test_attention_is_scored_by_what_falls_into_its_spans():
    attention = torch.zeros(1, 2, 3, 10)
    attention[..., 4] = 1.0
    within, beside, anywhere = torch.tensor([3, 6]), torch.tensor([5, 6]), torch.tensor([-1, -1])
    spans = torch.stack([within, anywhere, anywhere])[None]
    assert tiny_whisper._astray(attention, spans).item() == pytest.approx(0.0, abs=1e-3)
    spans = torch.stack([beside, anywhere, anywhere])[None]
    assert tiny_whisper._astray(attention, spans).item() > 5


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
