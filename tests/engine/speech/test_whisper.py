import random
from types import SimpleNamespace

import numpy as np
import pytest

from engine.errors import ModelError
from engine.speech.whisper import Whisper, prompt_end
from tests.support.spoken import TINY


@pytest.mark.parametrize("seed", range(20))
def test_a_prompt_is_cut_to_the_whole_words_at_its_end(seed):
    rng = random.Random(seed)
    words = ["x" * rng.randint(1, 12) for _ in range(rng.randrange(80))]
    kept = prompt_end(" ".join(words))
    assert len(kept) <= 200
    assert kept.split() == words[len(words) - len(kept.split()) :]
    assert kept == " ".join(words) or len(kept) > 180


def test_a_folder_without_a_model_is_one_clear_sentence(tmp_path):
    pytest.importorskip("faster_whisper")
    with pytest.raises(ModelError, match="get it again, or choose another one"):
        Whisper(tmp_path, "cpu")


class PanicException(BaseException):
    """What such a library raises where it should not have come to."""


@pytest.mark.parametrize(
    "error", [Exception("x"), RuntimeError("a\nb"), PanicException("x"), KeyError()]
)
def test_whatever_a_library_raises_of_a_folder_is_one_clear_sentence(monkeypatch, error):
    library = pytest.importorskip("faster_whisper")

    def refuse(*_arguments, **_others):
        raise error

    monkeypatch.setattr(library, "WhisperModel", refuse)
    with pytest.raises(ModelError, match="get it again, or choose another one") as caught:
        Whisper(TINY, "cpu")
    assert f"(detail: {type(error).__name__})" in str(caught.value)
    assert str(caught.value).isprintable()


def test_who_ends_the_program_while_a_model_is_loaded_ends_it(monkeypatch):
    library = pytest.importorskip("faster_whisper")

    def end(*_arguments, **_others):
        raise KeyboardInterrupt

    monkeypatch.setattr(library, "WhisperModel", end)
    with pytest.raises(KeyboardInterrupt):
        Whisper(TINY, "cpu")


def test_a_tokenizer_that_is_missing_is_not_fetched(tmp_path, monkeypatch):
    """The library would ask the hub for another one."""
    library = pytest.importorskip("faster_whisper")
    for name in ("config.json", "model.bin", "vocabulary.json"):
        (tmp_path / name).touch()
    asked = []
    monkeypatch.setattr(library, "WhisperModel", lambda *_, **_others: asked.append(1))
    with pytest.raises(ModelError, match=r"\(detail: no tokenizer\.json\)"):
        Whisper(tmp_path, "cpu")
    assert not asked


def test_a_gpu_that_is_not_there_is_said_so():
    ctranslate2 = pytest.importorskip("ctranslate2")
    if ctranslate2.get_cuda_device_count():
        pytest.skip("has a GPU")
    with pytest.raises(ModelError, match="no usable GPU"):
        Whisper(TINY, "cuda")


class Library:
    """A model of the library that recognises these languages, and remembers which it was asked."""

    def __init__(self, *languages, told=()):
        self.supported_languages, self.asked = languages, []
        self.told = [
            SimpleNamespace(word=text, start=n, end=n + 0.9, probability=1 - n / 100)
            for n, text in enumerate(told)
        ]

    def transcribe(self, _samples, *, language, **_others):
        self.asked.append(language)
        text = "".join(word.word for word in self.told)
        said = SimpleNamespace(text=text, words=self.told, no_speech_prob=0.0, avg_logprob=-0.1)
        return [said, said] if self.told else [], None


def test_speech_is_recognised_in_the_language_that_is_spoken(monkeypatch):
    library, loaded = pytest.importorskip("faster_whisper"), Library("en", "pl")
    monkeypatch.setattr(library, "WhisperModel", lambda *_, **__: loaded)
    for language in ("pl", "en"):
        whisper = Whisper(TINY, "cpu", language)
        whisper.recognize(np.zeros(1600, np.float32), 0.0, "")
    assert loaded.asked == ["pl", "en"]


@pytest.mark.parametrize(
    ("language", "told", "words"),
    [
        ("en", " We sold 1|,250| of 12|.5| %| today|.", "We sold 1,250 of 12.5 % today."),
        ("en", " We| paid| $2|.3| for| forty|-|five", "We paid $2.3 for forty-five"),
        ("en", "It| costs| 8|%|,| so| they| say", "It costs 8%, so they say"),
        ("zh", "今|天|很|好", "今 天 很 好"),
    ],
)
def test_a_mark_within_a_word_begins_no_other_where_there_are_blanks(
    monkeypatch, language, told, words
):
    library, loaded = pytest.importorskip("faster_whisper"), Library(language, told=told.split("|"))
    monkeypatch.setattr(library, "WhisperModel", lambda *_, **__: loaded)
    whisper = Whisper(TINY, "cpu", language)
    found = whisper.recognize(np.zeros(1600, np.float32), 5.0, "").words
    assert " ".join(word.text for word in found) == f"{words} {words}"
    assert found[0].start_s == 5.0
    assert all(word.start_s < word.end_s for word in found)


def test_a_number_in_pieces_lasts_until_its_last_one(monkeypatch):
    library, loaded = pytest.importorskip("faster_whisper"), Library("en", told=[" 1", ",250"])
    monkeypatch.setattr(library, "WhisperModel", lambda *_, **__: loaded)
    whisper = Whisper(TINY, "cpu")
    word = whisper.recognize(np.zeros(1600, np.float32), 5.0, "").words[0]
    assert (word.text, word.start_s, word.end_s) == ("1,250", 5.0, 6.9)
    assert word.probability == 0.99


def test_a_prompt_that_makes_it_repeat_itself_is_left_out(monkeypatch):
    """Whisper tiny.en makes of "ask not" after the prompt "Lock! Lock!" thirty times "Lock!"."""
    library, said = pytest.importorskip("faster_whisper"), Library("en", told=[" Ask", " not."])
    looped, prompts = Library("en", told=[" Lock!"] * 30), []

    class Taking(Library):
        def transcribe(self, samples, *, initial_prompt, **others):
            prompts.append(initial_prompt)
            return (looped if initial_prompt else said).transcribe(samples, **others)

    monkeypatch.setattr(library, "WhisperModel", lambda *_, **__: Taking("en"))
    whisper = Whisper(TINY, "cpu")
    found = whisper.recognize(np.zeros(1600, np.float32), 0.0, "Lock! Lock!").words
    assert [word.text for word in found] == ["Ask", "not."] * 2
    assert prompts == ["Lock! Lock!", None]


def test_a_language_that_a_model_does_not_recognise_is_one_sentence(monkeypatch):
    library = pytest.importorskip("faster_whisper")
    monkeypatch.setattr(library, "WhisperModel", lambda *_, **__: Library("en"))
    with pytest.raises(
        ModelError, match=r"'tiny-whisper' does not recognise 'pl': choose one that does"
    ):
        Whisper(TINY, "cpu", "pl")
