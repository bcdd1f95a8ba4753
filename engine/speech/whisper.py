"""Whisper as faster-whisper runs it (CTranslate2): samples in, one hypothesis out.

faster-whisper and CTranslate2 belong to the extra ``speech`` and are imported when a model is
loaded. Downloading is left to others: only what lies on this computer is loaded.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import ModelError, is_failure
from engine.messages import Code
from engine.settings import DEVICES
from engine.speech.hallucinations import HallucinationSettings, SegmentScores, is_hallucination
from engine.speech.hypothesis import Hypothesis, RecognizedWord
from engine.untrusted.strict_json import shown

if TYPE_CHECKING:
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import Segment

_log = logging.getLogger(__name__)

_PROMPT_LETTERS = 200  # Whisper reads 224 tokens before; more would push the sound's own out


@dataclass(frozen=True, slots=True, kw_only=True)
class WhisperSettings:
    """Which Whisper, and where it runs.

    Attributes:
        model: a name (tiny ... large-v3, distil-large-v3), an id on huggingface.co, or a folder.
        device: one of ``DEVICES``; auto is a GPU where CTranslate2 finds one.
        compute_type: CTranslate2's; None is float16 on a GPU and int8 on a CPU.
        n_threads: on a CPU; 0 is CTranslate2's own choice.
        language: code of what is spoken.
        beam_size: hypotheses the decoder keeps; 1 is greedy.
        cache: where named models lie; None is huggingface's own cache.
        hallucinations: which segments are not believed.
    """

    model: str = "base.en"
    device: str = "auto"
    compute_type: str | None = None
    n_threads: int = 0
    language: str = "en"
    beam_size: int = 1
    cache: Path | None = None
    hallucinations: HallucinationSettings = field(default_factory=HallucinationSettings)

    def __post_init__(self) -> None:
        if self.device not in DEVICES:
            msg = f"the device must be one of {', '.join(DEVICES)}, got {self.device!r}"
            raise ValueError(msg)


class Whisper:
    """A loaded model. One thread uses it."""

    def __init__(self, settings: WhisperSettings) -> None:
        """Load it from this computer.

        Raises:
            ModelError: it is not here or not a Whisper model, the device cannot be used, or the
                extra ``speech`` is not installed.
        """
        self._settings = settings
        self._model = _load(settings)

    def recognize(self, samples: Samples, start_s: float, prompt: str) -> Hypothesis:
        """Recognise a piece of sound of at most 30 s.

        Args:
            samples: shape (n_samples,), 16 kHz mono.
            start_s: where it begins on the source's timeline.
            prompt: what was said before it; only its end is used.
        """
        segments, _ = self._model.transcribe(
            samples,
            language=self._settings.language,
            beam_size=self._settings.beam_size,
            temperature=0.0,  # falling back to sampling would make successive hypotheses disagree
            condition_on_previous_text=False,
            initial_prompt=prompt_end(prompt) or None,
            word_timestamps=True,
            vad_filter=False,
            no_speech_threshold=None,  # our filter decides
            log_prob_threshold=None,
            compression_ratio_threshold=None,
        )
        return Hypothesis(
            words=tuple(self._believed(segments, start_s)),
            start_s=start_s,
            end_s=start_s + len(samples) / SAMPLE_RATE_HZ,
        )

    def _believed(self, segments: "Iterable[Segment]", start_s: float) -> Iterable[RecognizedWord]:
        for segment in segments:
            scores = SegmentScores(
                text=segment.text,
                no_speech=segment.no_speech_prob,
                log_probability=segment.avg_logprob,
            )
            if is_hallucination(scores, self._settings.hallucinations):
                continue
            for word in segment.words or ():
                for text in word.word.split():
                    yield RecognizedWord(
                        text=text,
                        start_s=start_s + float(word.start),
                        end_s=start_s + float(word.end),
                        probability=float(word.probability),
                    )


def prompt_end(text: str) -> str:
    """Cut a text to its last whole words that a prompt has room for."""
    if len(text) <= _PROMPT_LETTERS:
        return text
    _, _, whole_words = text[-_PROMPT_LETTERS - 1 :].partition(" ")
    return whole_words


def _load(settings: WhisperSettings) -> "WhisperModel":
    try:
        import ctranslate2  # noqa: PLC0415  may be missing
        from faster_whisper import WhisperModel  # noqa: PLC0415  takes 0.5 s; may be missing
    except ImportError as error:
        raise ModelError(Code.SPEECH_LIBRARIES_MISSING(reason=str(error))) from error
    n_gpus = ctranslate2.get_cuda_device_count()
    if settings.device == "cuda" and not n_gpus:
        raise ModelError(Code.NO_GPU_FOR_SPEECH())
    device = "cuda" if n_gpus and settings.device != "cpu" else "cpu"
    folder = Path(settings.model)
    if folder.is_dir() and not (folder / "tokenizer.json").is_file():
        raise _not_loaded(
            settings.model, "no tokenizer.json"
        )  # the library would fetch another one
    try:
        return WhisperModel(
            settings.model,
            device=device,
            compute_type=settings.compute_type or ("float16" if device == "cuda" else "int8"),
            cpu_threads=settings.n_threads,
            download_root=str(settings.cache) if settings.cache else None,
            local_files_only=True,
        )
    except BaseException as error:  # the library of its tokenizer raises nothing more precise
        if not is_failure(error):
            raise
        _log.info("a library refused %s", settings.model, exc_info=error)
        raise _not_loaded(settings.model, type(error).__name__) from error


def _not_loaded(model: str, reason: str) -> ModelError:
    return ModelError(
        f"expected a Whisper model for CTranslate2 on this computer and could not load "
        f"{shown(model)} ({reason}): download it first, or name a folder that holds one"
    )
