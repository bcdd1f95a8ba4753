"""Words without a caption: a note stands in their place instead of silence. Plain Python."""

from app.config.messages import AppCode
from engine.text.sentences import is_strange
from engine.utterances import Utterance


def left_out_s(utterance: Utterance) -> float:
    """Return how long a complete utterance was spoken that has no caption; 0 if it has one.

    Symbols alone, and words in another script, stay as they are.
    """
    said_until_s = utterance.said_until_s
    if not utterance.ended or utterance.caption.strip() or said_until_s is None:
        return 0.0
    is_readable = any(map(str.isalpha, utterance.source))
    if not is_readable or is_strange([word.text for word in utterance.words]):
        return 0.0
    return max(1.0, said_until_s - utterance.begun_at_s)


def left_out_note(seconds: float) -> str:
    """Return the sentence that stands where so many seconds have no caption, in English."""
    return str(AppCode.LEFT_OUT(seconds=max(1, round(seconds))))
