"""Feed a source line to a system word by word, as it would come from a person, and log it.

Nothing is measured here: everything a score needs is in the event log, see
``training.evaluation.replay``.

A line is one utterance, as the field takes it, even where it holds several sentences; the app would
cut it at each. The end-of-source marker comes with the last word. A line over the engine's limits
(``UtteranceLimits``), which the app never feeds either, is cut as ``engine.text.sentences`` cuts;
its words are counted from the start of the line all the same.
"""

from typing import TYPE_CHECKING

from engine.metrics.event_log import EventLog
from engine.text.sentences import cut_line, word_parts

if TYPE_CHECKING:
    from engine.translation.base import AnySystem

WARM_UP = -1
"""Index of a line that pays for first use and is not counted."""


def feed_line(system: "AnySystem", log: EventLog, index: int, line: str) -> None:
    """Translate a line live.

    Args:
        system: with the settings to translate with; it writes into ``log`` too.
        log: gets the line's words and their arrivals.
        index: of the line, or ``WARM_UP``.
        line: source text; an empty one gives no translation.
    """
    words = line.split()
    log.write("line", index=index, words=words)
    word_of_part = [n for n, word in enumerate(words, start=1) for _ in word_parts(word)]
    n_parts = 0  # fed in earlier utterances of the line
    for parts in cut_line(line, system.settings.limits):
        utterance = system.open()
        for n in range(1, len(parts) + 1):
            n_parts += 1
            ended = n == len(parts)
            log.write("arrived", n_words=word_of_part[n_parts - 1], ended=ended)
            system.set_source(utterance, parts[:n], ended=ended)
            for _ in system.advance(utterance):
                pass
    log.write("line_ended", index=index)
