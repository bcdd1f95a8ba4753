"""Make the live recogniser that suits a model of speech, alike for all who listen."""

from dataclasses import replace

from engine.speech.direct.direct_recognizer import DirectModel, DirectRecognizer
from engine.speech.live_recognizer import LiveRecognizer
from engine.speech.moonshine import Moonshine
from engine.speech.recognizer import Recognizer, RecognizerSettings, SpeechModel, WholePieces
from engine.speech.streaming import PRE_ROLL_S, StreamingModel, StreamingRecognizer
from engine.speech.vad import Detector, VadSettings, VoiceActivityDetector

OFTEN = RecognizerSettings(step_s=0.5, trim_from_s=5.0, max_buffer_s=15.0, joins_s=0.7)
"""Of a model whose passes cost as much as their sound is long."""


def make_recognizer(
    model: SpeechModel | StreamingModel | DirectModel,
    detector: Detector,
    vad: VadSettings | None = None,
    *,
    whole_after_s: float | None = None,
) -> LiveRecognizer:
    """Return what turns sound into committed words.

    Args:
        model: of any kind.
        detector: of voice activity, for this recogniser alone.
        vad: None for the defaults.
        whole_after_s: nobody waits for the words: such a model hears each piece once, when a
            silence of so many seconds has ended it; None: it hears the newest again and again.
    """
    vad = vad or VadSettings()
    if isinstance(model, DirectModel):
        return DirectRecognizer(model, VoiceActivityDetector(detector, vad))
    if isinstance(model, StreamingModel):
        heard = replace(vad, pre_roll_s=max(vad.pre_roll_s, PRE_ROLL_S))
        return StreamingRecognizer(model, VoiceActivityDetector(detector, heard))
    gate = VoiceActivityDetector(detector, vad)
    if whole_after_s is not None:
        return WholePieces(model, gate, whole_after_s)
    return Recognizer(model, gate, OFTEN if isinstance(model, Moonshine) else RecognizerSettings())
