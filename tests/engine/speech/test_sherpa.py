"""The streaming recogniser for tests, heard by sherpa-onnx and by the listener."""

import sys

import numpy as np
import pytest

from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import ModelError
from engine.events import UtteranceEnded
from engine.speech.events import ListeningFailed
from engine.speech.listener import Lane, Listener, Recognition
from engine.speech.sherpa import Sherpa, checked_files
from engine.speech.streaming import StreamingRecognizer
from engine.speech.vad import VadSettings, VoiceActivityDetector
from tests.support.listening_fakes import Chunks, Echo, hear_out, to_both
from tests.support.sounds import music, n_edits, silence, white_noise
from tests.support.spoken import (
    TINY_STREAMING,
    TINY_TRANSDUCER,
    apart,
    keys,
    needs_sherpa,
    needs_voice,
    talk,
    tiny_streaming,
)

pytestmark = [needs_sherpa, pytest.mark.slow]


class Always:
    """Hears speech in every sound."""

    def probability(self, _frame):
        return 1.0

    def reset(self):
        pass


WORDS = ("kitchen", "Nguyen", "garden", "\N{SNOWMAN}", "k/n :9 #1", "")


@pytest.fixture(scope="module", params=["ctc", "transducer", "transducer that prefers words"])
def tiny(request):
    if request.param == "ctc":
        return tiny_streaming()
    words = WORDS if request.param.endswith("words") else ()
    return Sherpa(TINY_TRANSDUCER, words=words)


def listened(samples, model):
    """Hear a source to its end with an echo for a session."""
    echo, events = Echo(), []
    made = Listener(
        [Lane(name="", source=Chunks(samples), live=False)],
        echo,
        Recognition(make_model=lambda: model),
        events.append,
    )
    echo.report = to_both(events.append, made)
    hear_out(made)
    assert not [event for event in events if isinstance(event, ListeningFailed)]
    return echo.fed, events


@needs_voice
def test_of_a_hundred_words_at_most_five_are_wrong(tiny):
    n_words = n_wrong = 0
    for seed in range(6):
        spoken = talk(700 + seed, 1 + seed % 3)
        said = keys(spoken.text.split())
        n_words += len(said)
        n_wrong += n_edits(said, keys(word for _, word in listened(spoken.samples, tiny)[0]))
    assert n_wrong <= 0.05 * n_words, f"{n_wrong} of {n_words}"


def test_of_the_words_of_the_user_those_are_preferred_that_the_tokens_can_spell(monkeypatch):
    asked = []
    files = checked_files(TINY_TRANSDUCER)
    assert files.spelt(WORDS) == ("KITCHEN", "GARDEN")
    assert files.spelt(["the  garden", "thegarden"]) == ("THE GARDEN",)
    monkeypatch.setattr("engine.speech.sherpa.SherpaStream", lambda _, words: asked.append(words))
    for folder in (TINY_TRANSDUCER, TINY_STREAMING):
        Sherpa(folder, words=WORDS).stream()
    assert asked == ["KITCHEN/GARDEN", ""]


@needs_voice
def test_a_pause_ends_a_sentence(tiny):
    _, events = listened(apart(4, 3, silent_s=1.2).samples, tiny)
    assert sum(isinstance(event, UtteranceEnded) for event in events) >= 3


@needs_voice
def test_sentences_begin_with_a_capital_and_end_with_a_full_stop(tiny):
    heard = [word for _, word in listened(talk(700, 1).samples, tiny)[0]]
    assert " ".join(heard) == "They went to the garden every morning."


@needs_voice
def test_a_word_ends_where_it_is_said_to_within_a_third_of_a_second(tiny):
    spoken = talk(702, 2)
    stream = tiny.stream()
    stream.feed(spoken.samples)
    told = [piece for piece in stream.flush() if piece.text.startswith(" ")]
    assert len(told) == len(spoken.words)
    for piece, word in zip(told, spoken.words, strict=True):
        assert word.start_s < piece.at_s < word.end_s + 0.33


def test_words_are_in_small_letters_but_the_english_i(tiny):
    assert [tiny.spelled(word) for word in ("I", "I'LL", "IN", "MI")] == ["I", "I'll", "in", "mi"]
    italian = Sherpa(TINY_STREAMING, language="it")
    assert italian.spelled("I") == "i"


def test_half_a_minute_without_speech_gives_no_word(tiny):
    assert listened(np.concatenate([white_noise(15.0), music(15.0)]), tiny)[0] == []


@needs_voice
def test_greedy_search_never_takes_back_what_was_committed():
    for seed in range(3):
        samples = np.concatenate([talk(800 + seed, 3).samples, silence(0.6)])
        for folder in (TINY_STREAMING, TINY_TRANSDUCER):
            model = Sherpa(folder)
            gate = VoiceActivityDetector(Always(), VadSettings(silence_s=100.0))
            made = StreamingRecognizer(model, gate)
            sound = AudioChunk(samples=samples, start_s=0.0, heard_at_s=0.0)
            results = made.feed(sound) + made.flush()
            committed = [word.text for result in results for word in result.committed]
            stream = model.stream()
            stream.feed(samples)
            told = "".join(piece.text for piece in stream.flush()).split()
            # a piece that comes late is a word of its own
            assert "".join(keys(committed)) == "".join(keys(told))


@needs_voice
def test_the_cut_into_pieces_changes_no_word(tiny):
    samples = np.concatenate([talk(5, 2).samples, silence(0.6)])

    def told(size):
        stream = tiny.stream()
        for at in range(0, len(samples), size):
            stream.feed(samples[at : at + size])
        return stream.flush()

    assert told(1600) == told(997) == told(len(samples))
    assert told(1600)[-1].at_s < len(samples) / SAMPLE_RATE_HZ


def test_a_computer_without_the_library_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sherpa_onnx", None)
    with pytest.raises(ModelError, match=r"pip install 'surtitle\[speech\]'"):
        Sherpa(TINY_STREAMING)
