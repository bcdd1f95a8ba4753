"""Feed a source line to a system word by word, like a speaker, and log it.

Nothing is measured here: all data of scores is in the event log, see ``engine.metrics.replay``.

A line is one utterance, as is usual in evaluation, even with several sentences; the app splits it
at each. The end-of-source marker comes with the last word. A line over the limits
(``UtteranceLimits``), which the app never feeds either, is split by ``engine.text.sentences``; its
words are still counted from the start of the line.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from engine.metrics.event_log import Event, EventLog
from engine.metrics.replay import replay
from engine.text.sentences import cut_line, word_parts

if TYPE_CHECKING:
    from engine.metrics.translation import Translation
    from engine.translation.base import AnySystem, System
    from engine.translation.captioned import Change, Kind

WARM_UP = -1
"""Index of a warm-up line, which is not counted."""


def changes(system: "System[Kind]", utterance: "Kind") -> "Iterator[Change]":
    """Translate as far as the committed words allow; yield each change of the caption."""
    return iter(lambda: system.advance(utterance), None)


def feed_words(
    system: "System[Kind]", words: Sequence[str], *, first: int = 1, full_stop: str = ""
) -> "Iterator[Iterator[Change]]":
    """Feed a new utterance word by word; its last word ends it.

    Args:
        system: with the settings of the translation.
        words: of the whole utterance, at least one.
        first: number of words to feed at once.
        full_stop: see ``System.set_source``.

    Yields:
        the changes caused by the newest word, which the caller must consume first.
    """
    yield from feed_utterance(system, system.open(), words, first=first, full_stop=full_stop)


def feed_utterance(
    system: "System[Kind]",
    utterance: "Kind",
    words: Sequence[str],
    *,
    first: int = 1,
    full_stop: str = "",
) -> "Iterator[Iterator[Change]]":
    """Feed words as ``feed_words`` does, to an utterance that has none yet."""
    for n_words in range(first, len(words) + 1):
        ended = n_words == len(words)
        stop = full_stop if ended else ""
        system.set_source(utterance, words[:n_words], ended=ended, full_stop=stop)
        yield changes(system, utterance)


def translate_unseen(system: "System[Kind]", text: str) -> None:
    """Translate a text at once and drop its caption, as a probe or a warm-up."""
    words = text.split()
    for changed in feed_words(system, words, first=len(words)):
        deque(changed, maxlen=0)


def feed_line(system: "AnySystem", log: EventLog, index: int, line: str) -> None:
    """Translate a line live; ``system`` must write into the same ``log``.

    ``index`` may be ``WARM_UP``; an empty line has no translation.
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
    """Translate lines, each with its index, live one after another, and replay the log of each."""
    rows = list[Event]()
    log = EventLog(rows)
    system = make_system(log)

    def events() -> Iterator[Event]:
        for index, line in lines:
            feed_line(system, log, index, line)
            yield from rows
            rows.clear()

    return replay(events())
