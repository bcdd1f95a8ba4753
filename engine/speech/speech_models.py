"""Find, fetch and load models of speech of any kind, by name, hub id or folder.

Whisper in CTranslate2's format and Moonshine hear whole pieces of sound; a streaming model for
sherpa-onnx hears it as it comes. A folder tells by its files which of them it holds. A translator
that hears for itself is named by its owner (``load_direct_model``).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import FetchCancelledError, HubError, ModelError
from engine.hub.catalogue import MOONSHINE, STREAMING_MODELS, StreamingChoice, bundled_speech_model
from engine.hub.download import Fetching, ModelKind, fetch_model, find_model
from engine.messages import Code
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import read_card
from engine.speech import sherpa, whisper
from engine.speech.hypothesis import RecognizedWord
from engine.speech.moonshine import Moonshine, is_moonshine
from engine.speech.recognizer import (
    LiveRecognizer,
    Recognized,
    Recognizer,
    RecognizerSettings,
    SpeechModel,
    WholePieces,
)
from engine.speech.sherpa import checked_files, is_streaming
from engine.speech.streaming import PRE_ROLL_S, StreamingModel, StreamingRecognizer
from engine.speech.vad import Detector, SpeechPart, VadSettings, VoiceActivityDetector
from engine.speech.whisper import found_whisper, named_folder, whisper_folder

if TYPE_CHECKING:
    from engine.runtime.sound import Block, BlockStream


# A translator may hear speech without recognising it: blocks of vectors in the place of words
# (``engine.translation.spoken``). torch is imported when its encoder is loaded.


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectModel:
    """An encoder of speech; ``stream`` begins to hear one, in blocks of ``block_s``."""

    stream: "Callable[[], BlockStream]"
    block_s: float


def load_direct_model(folder: Path) -> DirectModel:
    """Load the encoder of a model folder.

    Raises:
        ModelError: the folder has none, or one that is damaged, oversized, or of another model.
    """
    from engine.runtime.sound import (  # noqa: PLC0415  torch takes seconds
        BlockStream,
        block_samples,
        load_speech_encoder,
    )

    encoder = load_speech_encoder(folder, read_card(folder), read_fingerprint(folder).hidden_size)
    block_s = block_samples(encoder.card) / SAMPLE_RATE_HZ
    return DirectModel(stream=lambda: BlockStream(encoder), block_s=block_s)


class DirectRecognizer(LiveRecognizer):
    """Turn speech into blocks, each once; a block is a word without a text.

    The cut of the sound into chunks makes no difference.
    """

    ends_passages = streams = True

    def __init__(self, model: DirectModel, vad: VoiceActivityDetector) -> None:
        super().__init__(vad)
        self._model = model
        self._stream: BlockStream | None = None
        self._end_s = 0.0  # of the newest block

    @property
    def marks_sentences(self) -> bool:
        return False

    def _take(self, part: SpeechPart) -> Iterator[Recognized]:
        if part.begins or self._stream is None:
            self._stream, self._end_s = self._model.stream(), part.start_s
        blocks = [*self._stream.feed(part.samples)]
        if part.ends:
            blocks += self._stream.flush()
        if blocks or part.ends:
            words = tuple(self._words(blocks))
            yield Recognized(committed=words, tail=(), speech_ended=part.ends)

    def _words(self, blocks: "Sequence[Block]") -> Iterator[RecognizedWord]:
        for block in blocks:
            start_s, self._end_s = self._end_s, self._end_s + self._model.block_s
            yield RecognizedWord(text="", start_s=start_s, end_s=self._end_s, vectors=block.vectors)


AnySpeechModel = SpeechModel | StreamingModel | DirectModel

_OF_WHISPER = ("model.bin", "config.json")


def speech_model_folder(
    name: str,
    library: Path,
    wanted: Fetching | None = None,
    *,
    again: bool = False,
) -> Path:
    """Return the folder of a model on this computer, or fetch it into the library.

    Arguments and errors as for ``fetch_model``, which call the model by ``name``; that may also be
    a common name of ``engine.hub.catalogue``, or a folder. Of the hub, streaming models are known
    by their common names alone.

    Raises:
        ModelError: there is no such model, or its folder is not complete.
    """
    choice, folder = STREAMING_MODELS.get(name), _known_folder(name)
    if folder is not None:
        return folder
    if name == MOONSHINE:
        raise ModelError(Code.MOONSHINE_MISSING())
    try:
        if choice is None:
            return whisper_folder(name, library, wanted, again=again)
        return fetch_model(choice.hub, library, wanted, kind=_kind(choice), again=again)
    except FetchCancelledError:
        raise
    except HubError as error:
        told = error.message
        if "name" not in told.values:
            raise
        raise HubError(replace(told, values={**told.values, "name": name})) from error


def found_speech_model(name: str, library: Path) -> Path | None:
    """Return the folder of a model on this computer, or None; without the network.

    Raises:
        ModelError: there is no such model, or its folder is not complete.
    """
    choice, folder = STREAMING_MODELS.get(name), _known_folder(name)
    if folder is not None or name == MOONSHINE:
        return folder
    if choice is None:
        return found_whisper(name, library)
    return find_model(choice.hub, library, _kind(choice))


def load_speech_model(
    folder: Path, device: str, language: str, words: tuple[str, ...] = ()
) -> SpeechModel | StreamingModel:
    """Load the model in a folder, of any kind.

    Args:
        device: one of ``engine.settings.DEVICES``; streaming models run on the CPU alone.
        language: two-letter code of what is spoken.
        words: names and the like that it prefers.

    Raises:
        ModelError: it cannot be used, or the extra ``speech`` is not installed.
    """
    if is_moonshine(folder):
        return Moonshine(folder)
    if is_streaming(folder):
        return sherpa.Sherpa(folder, language, words)
    return whisper.Whisper(folder, device, language, words)


def _known_folder(name: str) -> Path | None:
    """Return a named folder, None if there is none or it may hold a Whisper."""
    folder = bundled_speech_model() if name == MOONSHINE else named_folder(name)
    if folder is None or is_moonshine(folder):
        return folder
    if is_streaming(folder):
        checked_files(folder)
        return folder
    if not any((folder / file).exists() for file in _OF_WHISPER):
        raise ModelError(Code.NO_SPEECH_MODEL(folder=str(folder)))
    return None


def _kind(choice: StreamingChoice) -> ModelKind:
    return ModelKind(
        essential=".onnx",
        what="streaming speech model for sherpa-onnx",
        is_wanted=lambda name: name in choice.files,
        check=checked_files,
    )


# Make the live recogniser that suits a model of speech, alike for all who listen.

OFTEN = RecognizerSettings(step_s=0.5, trim_from_s=5.0, max_buffer_s=15.0, joins_s=0.7)
"""Of a model whose passes cost as much as their sound is long."""


def make_recognizer(
    model: AnySpeechModel,
    detector: Detector,
    *,
    whole_after_s: float | None = None,
) -> LiveRecognizer:
    """Return what turns sound into committed words.

    Args:
        detector: of voice activity, for this recogniser alone.
        whole_after_s: nobody waits for the words: such a model hears each piece once, when a
            silence of so many seconds has ended it; None: it hears the newest again and again.
    """
    vad = VadSettings()
    if isinstance(model, DirectModel):
        return DirectRecognizer(model, VoiceActivityDetector(detector, vad))
    if isinstance(model, StreamingModel):
        gate = VoiceActivityDetector(detector, replace(vad, pre_roll_s=PRE_ROLL_S))
        return StreamingRecognizer(model, gate)
    gate = VoiceActivityDetector(detector, vad)
    if whole_after_s is not None:
        return WholePieces(model, gate, whole_after_s)
    return Recognizer(model, gate, OFTEN if isinstance(model, Moonshine) else RecognizerSettings())
