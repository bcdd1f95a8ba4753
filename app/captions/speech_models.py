"""Which speech model is recommended on this computer, by how fast it computes. Plain Python."""

from engine.hub.catalogue import SPEECH_CHOICES, STANDARD_WHISPER, SpeechChoice

FAST, ENOUGH = 0.45, 0.9
"""Seconds of computing for a second of speech; from ``ENOUGH`` on the listener advises a smaller
model (``RecognizerSettings.slow_from``)."""


def load_of(choice: SpeechChoice, gflops: float) -> float:
    """Return the seconds of computing for a second of speech.

    Args:
        choice: a speech model.
        gflops: billions of operations a second of this computer, above 0.
    """
    return choice.pass_gflop / gflops


def recommended_speech(gflops: float) -> str:
    """Return the standard model, or the fastest one if that is too slow for this computer.

    Args:
        gflops: as above; 0 if it is not known.
    """
    standard = next(one for one in SPEECH_CHOICES if one.name == STANDARD_WHISPER)
    is_slow = gflops > 0 and load_of(standard, gflops) >= ENOUGH
    return SPEECH_CHOICES[0].name if is_slow else standard.name
