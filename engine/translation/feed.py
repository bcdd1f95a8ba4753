"""Feed a source line to a system word by word, as it would come from a person, and log it.

Nothing is measured here: everything a score needs is in the event log, see
``engine.metrics.replay``.

A line is one utterance, as the field takes it, even where it holds several sentences; the app would
cut it at each. The end-of-source marker comes with the last word. A line over the engine's limits
(``UtteranceLimits``), which the app never feeds either, is cut as ``engine.text.sentences`` cuts;
its words are counted from the start of the line all the same.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from engine.metrics.event_log import Event, EventLog
from engine.metrics.replay import replay
from engine.text.sentences import cut_line, word_parts

if TYPE_CHECKING:
    from engine.metrics.translation import Translation
    from engine.translation.base import AnySystem, Change, Kind, System

WARM_UP = -1
"""Index of a line that pays for first use and is not counted."""


def changes(system: "System[Kind]", utterance: "Kind") -> "Iterator[Change]":
    """Translate as far as the committed words allow; yield each growth of the caption."""
    return iter(lambda: system.advance(utterance), None)


def feed_words(
    system: "System[Kind]", words: Sequence[str], *, first: int = 1, full_stop: str = ""
) -> "Iterator[Iterator[Change]]":
    """Feed an utterance of its own, one word more each time; its last word ends it.

    Args:
        system: with the settings to translate with.
        words: of the whole utterance, at least one.
        first: words that come at once; all of them where it is their number.
        full_stop: see ``System.set_source``.

    Yields:
        the changes that the newest word sets off; the caller takes all of them, then goes on.
    """
    utterance = system.open()
    for n_words in range(first, len(words) + 1):
        ended = n_words == len(words)
        stop = full_stop if ended else ""
        system.set_source(utterance, words[:n_words], ended=ended, full_stop=stop)
        yield changes(system, utterance)


def translate_unseen(system: "System[Kind]", text: str) -> None:
    """Translate a text at once and drop its caption, as a trial or to pay for first use."""
    words = text.split()
    for made in feed_words(system, words, first=len(words)):
        deque(made, maxlen=0)


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
    word_of_part = iter([n for n, word in enumerate(words, start=1) for _ in word_parts(word)])
    for parts in cut_line(line, system.settings.limits):
        fed = feed_words(system, parts)
        for n_parts in range(1, len(parts) + 1):
            log.write("arrived", n_words=next(word_of_part), ended=n_parts == len(parts))
            deque(next(fed), maxlen=0)
    log.write("line_ended", index=index)


def translate_lines(
    make_system: "Callable[[EventLog], AnySystem]", lines: Iterable[tuple[int, str]]
) -> "Iterator[Translation]":
    """Translate lines live, one after the other, and replay the log of each.

    Args:
        make_system: makes a system that writes into a log.
        lines: index and text.
    """
    rows = list[Event]()
    log = EventLog(rows)
    system = make_system(log)

    def events() -> Iterator[Event]:
        for index, line in lines:
            feed_line(system, log, index, line)
            yield from rows
            rows.clear()

    return replay(events())
