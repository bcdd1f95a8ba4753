"""Settings of ``surtitle-research speech-train``: those of any run, and a table ``speech``."""

from dataclasses import dataclass, field
from pathlib import Path

from engine.models.speech_card import FRAMES_MERGED
from engine.settings import at_least, check_choice
from training.settings import TrainSettings

STAGES = ("words", "translate", "joint")
PARTS = ("encoder", "adapter", "head", "translator")
LOSSES = ("words", "embeddings", "offline", "simultaneous", "policy")

_MOST_WARPED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderShape:
    """Shape of a new encoder, as in ``engine.models.speech_card.SpeechCard``."""

    block_frames: int = 8
    context_frames: int = 4
    left_blocks: int = 16
    width: int = 256
    layers: int = 6
    heads: int = 4
    feed_forward: int = 1024

    def __post_init__(self) -> None:
        at_least("block_frames", self.block_frames, FRAMES_MERGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechSettings:
    """Trained parts and losses of a stage.

    Attributes:
        stage: ``words``: an encoder on the words that are said (CTC); ``translate``: with its
            adapter, on translations of whole utterances; ``joint``: with a policy head, on
            translations as they are written live.
        parts: of the network that are trained; the others stay.
        losses: that are added up; ``embeddings`` makes vectors those of the words that are heard.
        policy_weight: of the loss of decisions (lambda of the paper).
        encoder: shape of a new one, in the first stage.
        pretrained: folder of wav2vec 2.0 as on the hub, whose network becomes the encoder in the
            place of a new one, or of that of the stage before.
        masks: parts of the spectrum that are hidden of each utterance (SpecAugment); 0: none. Of
            wav2vec 2.0, which hears samples, nothing is hidden.
        warp: share by which voice and speed of each utterance are changed at most, for voices
            that a corpus has not; 0: not at all. Speed alone where no loss counts blocks.
    """

    stage: str = STAGES[0]
    parts: tuple[str, ...] = ("encoder",)
    losses: tuple[str, ...] = ("words",)
    policy_weight: float = 1.0
    encoder: EncoderShape = EncoderShape()
    pretrained: Path | None = field(default=None, repr=False)  # a run is known by its weights
    masks: int = 2
    warp: float = 0.0

    def __post_init__(self) -> None:
        check_choice("the stage", self.stage, STAGES)
        for part in self.parts:
            check_choice("a part", part, PARTS)
        for loss in self.losses:
            check_choice("a loss", loss, LOSSES)
        if not (self.parts and self.losses):
            msg = "at least one part is trained, by at least one loss"
            raise ValueError(msg)
        at_least("the masks", self.masks, 0)
        if not 0 <= self.warp <= _MOST_WARPED:
            msg = f"a voice is warped by a share from 0 to {_MOST_WARPED}, got {self.warp}"
            raise ValueError(msg)
        if self.policy_weight < 0:
            msg = f"a weight is not below 0, got {self.policy_weight}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechTrainSettings(TrainSettings):
    """One run of ``surtitle-research speech-train``.

    Attributes:
        speech: stage, parts and losses.
    """

    speech: SpeechSettings = SpeechSettings()
