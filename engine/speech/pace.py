"""How fast models of speech compute on this computer: measured as they run, and foretold.

``SpeechPace`` is asked by all code that recommends a model or warns of one.
"""

from engine.hub.bundled import standard_speech_model
from engine.hub.catalogue import (
    MOONSHINE,
    SPEECH_CHOICES,
    STANDARD_WHISPER,
    STREAMING_MODELS,
    SpeechChoice,
    quicker_speech_model,
)

FAST, ENOUGH = 0.45, 0.9
"""Seconds of computing for a second of speech below which a model is fast, or fast enough."""


class Pace:
    """A running mean of seconds of computing per second of speech."""

    def __init__(self, newest_weight: float) -> None:
        """Count the newest measure by this weight in the mean."""
        self._newest_weight = newest_weight
        self._factor = 0.0

    @property
    def factor(self) -> float:
        """The mean; 0 before the first measure."""
        return self._factor

    def take(self, computing_s: float, speech_s: float) -> None:
        """Take a measure."""
        newest = computing_s / speech_s
        before = self._factor or newest
        self._factor = before + self._newest_weight * (newest - before)


class SpeechPace:
    """All that is known of how fast the models of speech are on this computer.

    Attributes:
        recommended: the model to begin with, that which comes along if it does; empty until that is
            certain. It never changes by a measure, but by captions that fall behind.
    """

    def __init__(self) -> None:
        standard = standard_speech_model()
        self.recommended = standard if standard == MOONSHINE else ""
        self._gflops = 0.0
        self._is_measured = False  # to the end
        self._fell_behind = set[str]()

    def take_speed(self, gflops: float, *, again: bool) -> None:
        """Take the billions of operations a second that were measured so far; 0 for unknown.

        A model that is fast enough by a measure is so for certain: other programs make one lower,
        never higher. One that is too slow by it may not be as long as it is measured ``again``.
        """
        self._gflops = max(self._gflops, gflops)
        self._is_measured |= not again
        if not self.recommended:
            self.recommended = self._quickest_needed()

    def note_behind(self, recognizer: str) -> None:
        """Note that captions fell behind speech with a model, whatever was foretold."""
        self._fell_behind.add(recognizer)
        if recognizer == self.recommended:
            self.recommended = quicker_speech_model(recognizer) or recognizer

    def fell_behind(self, recognizer: str) -> bool:
        """Return whether captions fell behind speech with this model or a lighter one."""
        names = [one.name for one in SPEECH_CHOICES]
        lighter = names[: names.index(recognizer) + 1] if recognizer in names else [recognizer]
        return not self._fell_behind.isdisjoint(lighter)

    def load_of(self, choice: SpeechChoice) -> float | None:
        """Return the seconds of computing for a second of speech; None while not certain."""
        if not self._gflops:
            return None
        load = choice.pass_gflop / self._gflops
        return load if load < ENOUGH or self._is_measured else None

    @property
    def is_measured(self) -> bool:
        """Whether nothing more is measured."""
        return self._is_measured

    def _quickest_needed(self) -> str:
        """Return the standard model, or the best quicker one; empty while that is not certain."""
        name = STANDARD_WHISPER
        while choice := next((one for one in SPEECH_CHOICES if one.name == name), None):
            load = self.load_of(choice)
            if load is None:
                return name if self._is_measured else ""
            if load < ENOUGH and not self.fell_behind(name):
                return name
            name = quicker_speech_model(name)
        return name or next(iter(STREAMING_MODELS))
