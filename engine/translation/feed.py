"""Feed a source line to a system word by word, like a speaker, and log it.

Nothing is measured here: all data of scores is in the event log, see ``engine.metrics.event_log``.

A line is one utterance, as is usual in evaluation, even with several sentences; the app splits it
at each. Its end is fed as the app feeds the end of a sentence, so that its score is that of what is
seen. A line over the limits (``UtteranceLimits``), which the app never feeds either, is split by
``engine.text.sentences``; its words are still counted from the start of the line.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from engine.metrics.event_log import Event, EventLog, replay
from engine.text.sentences import Sentence, cut_line, word_parts

if TYPE_CHECKING:
    from engine.metrics.event_log import Translation
    from engine.runtime.causal_model import Asking
    from engine.translation.captioner import Captioned, Captioner, Change
    from engine.translation.conversation import Conversation
    from engine.translation.translated import Translated

Arrival = tuple[float, float]
"""Of a word, in seconds since its line began: the end of its sound, and when it comes."""

WARM_UP = -1
"""Index of a warm-up line, which is not counted."""


def changes(utterance: "Captioned") -> "Iterator[Change]":
    """Translate as far as the committed words allow; yield each change of the caption."""
    return iter(utterance.advance, None)


def feed_sentence(
    utterance: "Captioned", sentence: Sentence, *, first: int = 1
) -> "Iterator[Iterator[Change]]":
    """Feed a new utterance word by word, the ``first`` ones at once.

    Yields:
        the changes caused by the newest word, which the caller must consume first.
    """
    for known in growing(sentence, first):
        utterance.set_source(known)
        yield changes(utterance)


def growing(sentence: Sentence, first: int = 1) -> Iterator[Sentence]:
    """Yield a sentence as far as it is known, with a word more each time."""
    for n_words in range(first, len(sentence.words)):
        yield Sentence(sentence.words[:n_words], ended=False)
    yield sentence


def known_steps(utterance: "Translated", known: Sentence) -> "Asking[None]":
    """Translate what is known of a sentence; yield what the model is to compute."""
    utterance.set_source(known)
    while (yield from utterance.steps()) is not None:
        pass


def translate_unseen(captioner: "Captioner", text: str) -> str:
    """Translate a text at once, as a probe or a warm-up; return its caption."""
    utterance = captioner.open()
    utterance.set_source(Sentence(tuple(text.split()), ended=True))
    deque(changes(utterance), maxlen=0)
    return utterance.caption


def feed_line(
    system: "Conversation", log: EventLog, index: int, line: str, arrivals: Sequence[Arrival] = ()
) -> None:
    """Translate a line live; ``system`` must write into the same ``log``.

    Args:
        index: of the line, or ``WARM_UP``.
        line: an empty one has no translation.
        arrivals: of all its words; words that come at the same time come together. None: one by
            one.
    """
    system.model.run(line_steps(system, log, index, line, arrivals))


def line_steps(
    system: "Conversation", log: EventLog, index: int, line: str, arrivals: Sequence[Arrival] = ()
) -> "Asking[None]":
    """Do as ``feed_line``, but yield what the model is to compute."""
    words = line.split()
    said_s, came_s = [said for said, _ in arrivals], [came for _, came in arrivals]
    times = {"said_s": said_s, "came_s": came_s} if arrivals else {}
    log.write("line", index=index, words=words, **times)
    word_of_part = iter([n for n, word in enumerate(words, start=1) for _ in word_parts(word)])
    for sentence in cut_line(line, system.settings.limits):
        utterance = system.open()
        for known in growing(sentence):
            n_words, ended = next(word_of_part), known is sentence
            if not ended and came_s[n_words - 1 : n_words] == came_s[n_words : n_words + 1] != []:
                continue  # the next word comes with it
            log.write("arrived", n_words=n_words, ended=ended)
            yield from known_steps(utterance, known)
    log.write("line_ended", index=index)


def translate_lines(
    make_system: "Callable[[EventLog], Conversation]", lines: Iterable[tuple[int, str]]
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
