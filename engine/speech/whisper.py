"""Recognise speech by Whisper in faster-whisper (CTranslate2): samples in, one hypothesis out.

faster-whisper and CTranslate2 belong to the extra ``speech`` and are imported when a model is
loaded. Nothing is downloaded here: only models on this computer are loaded.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import ModelError, is_failure
from engine.hub.catalogue import WHISPER_MODELS
from engine.hub.download import Fetching, ModelKind, fetch_model, find_model
from engine.messages import Code
from engine.runtime.ctranslate2.conversion import WEIGHTS, is_cut_short
from engine.speech.hallucinations import heard_words, repeats_itself
from engine.speech.hypothesis import Hypothesis, RecognizedWord
from engine.untrusted.faults import detail_of
from engine.untrusted.plain_files import is_hub_name
from engine.untrusted.strict_json import JsonObject, shown

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import Segment


_log = logging.getLogger(__name__)

_UNSPACED = frozenset({"zh", "ja", "th", "lo", "my", "yue"})  # the library's own list
_WHOLE_BEAMS = (
    5  # the library's own; a third more time, a fifth of the errors of one (docs/results)
)
_PROMPT_LETTERS = 200  # Whisper takes 224 tokens; a longer prompt would displace its output


class Whisper:
    """A loaded model. One thread uses it."""

    def __init__(
        self,
        folder: Path,
        device: str = "auto",
        language: str = "en",
        words: Sequence[str] = (),
        *,
        compute_type: str | None = None,
    ) -> None:
        """Load the model from a folder.

        Args:
            device: auto is a GPU where CTranslate2 finds one.
            language: two-letter code of what is spoken.
            words: names and the like that it prefers; the first of them, as many as fit.
            compute_type: CTranslate2's; None is float16 on a GPU and int8 on a CPU.

        Raises:
            ModelError: it is no Whisper model or not one for the language, the device cannot be
                used, or the extra ``speech`` is not installed.
        """
        self._model = _load(folder, device, compute_type)
        self._language = language
        self._words = prompt_start(words)
        if language not in self._model.supported_languages:
            model = shown(folder.name)
            raise ModelError(Code.WHISPER_LANGUAGE(model=model, code=language))

    def recognize(
        self, samples: Samples, start_s: float, prompt: str, *, whole: bool = False
    ) -> Hypothesis:
        """Recognise speech in a piece of sound of at most 30 s; of ``prompt`` only the end is used.

        Where the model repeats itself after a prompt it is heard again without: of *Lock! Lock!*,
        misheard before, it makes *Lock!* thirty times, and what is said is lost.
        """
        segments = self._segments(samples, start_s, prompt, whole=whole)
        if prompt and any(repeats_itself(words) for _, words in segments):
            segments = self._segments(samples, start_s, "", whole=whole)
        heard = [
            heard_words(words, no_speech=one.no_speech_prob, log_probability=one.avg_logprob)
            for one, words in segments
        ]
        return Hypothesis(
            words=tuple(chain.from_iterable(heard)),
            start_s=start_s,
            end_s=start_s + len(samples) / SAMPLE_RATE_HZ,
        )

    def _segments(
        self, samples: Samples, start_s: float, prompt: str, *, whole: bool
    ) -> "list[tuple[Segment, list[RecognizedWord]]]":
        segments, _ = self._model.transcribe(
            samples,
            language=self._language,
            beam_size=_WHOLE_BEAMS if whole else 1,
            temperature=0.0,  # falling back to sampling would make successive hypotheses disagree
            condition_on_previous_text=False,
            initial_prompt=prompt_end(prompt) or None,
            hotwords=self._words or None,
            word_timestamps=True,
            vad_filter=False,
            no_speech_threshold=None,  # ``heard_words`` decides
            log_prob_threshold=None,
            compression_ratio_threshold=None,
        )
        spaced = self._language not in _UNSPACED
        return [(one, _words(one, start_s, spaced=spaced)) for one in segments]


def _words(segment: "Segment", start_s: float, *, spaced: bool) -> list[RecognizedWord]:
    """Return the words of a segment.

    The library begins a word at a mark as well, as in ``1`` and ``,250``; where the language has
    blanks, only a blank does.
    """
    words = list[RecognizedWord]()
    for word in segment.words or ():
        goes_on = spaced and bool(words) and not word.word[:1].isspace()
        for text in word.word.split():
            told = RecognizedWord(
                text=text,
                start_s=start_s + float(word.start),
                end_s=start_s + float(word.end),
                probability=float(word.probability),
            )
            words.append(_joined(words.pop(), told) if goes_on else told)
            goes_on = False
    return words


def _joined(word: RecognizedWord, rest: RecognizedWord) -> RecognizedWord:
    probability = min(word.probability, rest.probability)
    text = word.text + rest.text
    return replace(word, text=text, end_s=rest.end_s, probability=probability)


def prompt_end(text: str) -> str:
    """Return the last whole words of a text that fit into a prompt."""
    if len(text) <= _PROMPT_LETTERS:
        return text
    _, _, whole_words = text[-_PROMPT_LETTERS - 1 :].partition(" ")
    return whole_words


def prompt_start(words: Sequence[str]) -> str:
    """Return the first words of a list that fit into a prompt, with commas between them."""
    text = ""
    for word in words:
        longer = f"{text}, {word}" if text else word
        if len(longer) > _PROMPT_LETTERS:
            break
        text = longer
    return text


def _load(folder: Path, device: str, compute_type: str | None) -> "WhisperModel":
    try:
        import ctranslate2  # noqa: PLC0415  may be missing
        from faster_whisper import WhisperModel  # noqa: PLC0415  takes 0.5 s; may be missing
    except ImportError as error:
        raise ModelError(Code.SPEECH_LIBRARIES_MISSING(reason=str(error))) from error
    n_gpus = ctranslate2.get_cuda_device_count()
    if device == "cuda" and not n_gpus:
        raise ModelError(Code.NO_GPU_FOR_SPEECH())
    device = "cuda" if n_gpus and device != "cpu" else "cpu"
    if not (folder / "tokenizer.json").is_file():  # the library would fetch one
        raise _not_loaded(folder, "no tokenizer.json")
    try:
        return WhisperModel(
            str(folder),
            device=device,
            compute_type=compute_type or ("float16" if device == "cuda" else "int8"),
            local_files_only=True,
        )
    except BaseException as error:  # the tokenizer library raises nothing more precise
        if not is_failure(error):
            raise
        _log.info("a library refused %s", folder, exc_info=error)
        raise _not_loaded(folder, type(error).__name__) from error


def _not_loaded(folder: Path, detail: str) -> ModelError:
    return ModelError(Code.WHISPER_NOT_LOADED(model=shown(str(folder)), detail=detail))


# All Whisper models are in CTranslate2's format. Other converted models are named by hub id or
# folder.

_NEEDED = ("config.json", WEIGHTS, "tokenizer.json")
_SOUND, _MAX_SOUND_BYTES = "preprocessor_config.json", 1 << 22  # the older ones hold a table
_FILES = (*_NEEDED, _SOUND, "vocabulary.json", "vocabulary.txt")
_SIZES = {
    "feature_size": 1024,
    "sampling_rate": 192_000,
    "hop_length": 10_000,
    "chunk_length": 300,
    "n_fft": 16_384,
}
"""Settings of a Whisper's sound, and the largest value that any model needs."""


def _check(folder: Path) -> None:
    """Check that a folder is complete, before a library waits for a pipe or runs out of memory."""
    for name in _FILES:
        path = folder / name
        if not path.is_file() and (name in _NEEDED or path.exists()):
            raise _unfit(folder, f"it has no {name} that is a file")
    try:
        is_cut = is_cut_short(folder / WEIGHTS)
    except OSError as error:
        raise _unfit(folder, f"{WEIGHTS}: {detail_of(error)}") from error
    if is_cut:
        raise ModelError(Code.SPEECH_MODEL_CUT(folder=str(folder)))
    _check_sound(folder)


def _check_sound(folder: Path) -> None:
    """Refuse a folder whose settings of the sound ask for too much."""
    try:
        if (folder / _SOUND).exists():
            content = JsonObject.read(folder / _SOUND, _MAX_SOUND_BYTES)
            for key, most in _SIZES.items():  # the library makes tables of these sizes
                if key in content:
                    content.integer(key, least=1, most=most)
    except (OSError, ValueError) as error:
        raise _unfit(folder, f"{_SOUND}: {detail_of(error)}") from error


def _unfit(folder: Path, detail: str) -> ModelError:
    return ModelError(Code.WHISPER_UNFIT(folder=str(folder), detail=detail))


WHISPER = ModelKind(
    essential=WEIGHTS,
    what="Whisper model for CTranslate2",
    is_wanted=lambda name: name in _FILES,
    check=_check,
)


def whisper_folder(
    name: str,
    library: Path,
    wanted: Fetching | None = None,
    *,
    again: bool = False,
) -> Path:
    """Return the folder of a Whisper model on this computer, or fetch it into the library.

    Arguments and errors as for ``fetch_model``; ``name`` may also be one of ``WHISPER_MODELS``, or
    a folder.
    """
    folder = named_folder(name)
    if folder is not None:
        _check(folder)
        return folder
    return fetch_model(_hub_id(name), library, wanted, kind=WHISPER, again=again)


def found_whisper(name: str, library: Path) -> Path | None:
    """Return the folder of a Whisper model on this computer, or None; without the network."""
    folder = named_folder(name)
    if folder is None:
        return find_model(_hub_id(name), library, WHISPER)
    _check(folder)
    return folder


def named_folder(name: str) -> Path | None:
    try:
        folder = Path(name).expanduser()
        return folder if name and folder.is_dir() else None
    except (RuntimeError, OSError):  # an unknown ~user, or no valid path
        return None


def _hub_id(name: str) -> str:
    if name in WHISPER_MODELS:
        return WHISPER_MODELS[name]
    if not is_hub_name(name):
        raise ModelError(Code.NO_SUCH_WHISPER(name=shown(name), known=", ".join(WHISPER_MODELS)))
    return name
