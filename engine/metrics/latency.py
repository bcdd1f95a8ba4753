"""Measure the lag of the target behind the source, by delays, and of each spoken word by stage.

``delays[i]`` is the amount of source read when target word i was written (words for text,
milliseconds for speech); delays never fall. For a computation-aware measure, use the time of
writing in the same unit. Every function measures one sentence that has output; a corpus is the mean
over its sentences. Definitions as in SimulEval 1.1.4, except for YAAL, implemented from the
formulas.

Every function raises ValueError if nothing was written or a length is not above zero.
"""

import statistics
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, groupby, islice, pairwise, takewhile
from statistics import fmean

from engine.metrics.event_log import Translation, n_reference_units
from engine.utterances import Utterance


def average_lagging(delays: Sequence[float], source_length: float, target_length: int) -> float:
    """Average lagging, AL (Ma et al. 2019, STACL, equation 8).

    The mean over the words up to the first that is written when all source has been read; where
    that is the first of all, its delay is the lagging.

    Args:
        delays: one for each written word, at least one.
        source_length: |X|, in the unit of the delays.
        target_length: |Y*|, words of the reference.
    """
    _check(delays, source_length, target_length)
    n_early = sum(1 for _ in takewhile(lambda delay: delay < source_length, delays))
    return _mean_lag(delays[: n_early + 1], source_length / target_length)


def length_adaptive_average_lagging(
    delays: Sequence[float], source_length: float, target_length: int
) -> float:
    """AL with the longer of output and reference as target length, LAAL (Papi et al. 2022).

    An over-long output lowers it less than AL, but does lower it: words too many count with their
    lag, and their ideal delays grow more slowly.

    Arguments as for ``average_lagging``.
    """
    return average_lagging(delays, source_length, max(target_length, len(delays)))


def yet_another_average_lagging(
    delays: Sequence[float],
    source_length: float,
    target_length: int,
    *,
    recording_end: float | None = None,
) -> float | None:
    """LAAL of the words that were written before the source ended, YAAL (Polák et al. 2025).

    See https://arxiv.org/abs/2509.17349. Words held back until the end of the source do not depend
    on the policy, so they are left out; None if all are. LongYAAL is the same on a segment of a
    long recording: words may be written after the segment, and only those after the recording are
    left out.

    Args:
        delays: as for ``average_lagging``; on a segment from its start, below zero for words that
            were written earlier.
        source_length: |X| of the sentence or segment.
        target_length: |Y*| of the sentence or segment.
        recording_end: from the segment's start to the recording's end, for LongYAAL; infinite to
            leave out no word.
    """
    _check(delays, source_length, target_length)
    end = source_length if recording_end is None else recording_end
    counted = list(takewhile(lambda delay: delay < end, delays))
    step = source_length / max(target_length, len(delays))
    return _mean_lag(counted, step) if counted else None


def average_proportion(delays: Sequence[float], source_length: float, target_length: int) -> float:
    """Share of the source read for the average word, AP (Cho and Esipova 2016).

    As in SimulEval the reference gives the number of words: a longer output raises AP, even above
    one, a shorter one lowers it. Arguments as for ``average_lagging``.
    """
    _check(delays, source_length, target_length)
    return sum(delays) / (source_length * target_length)


def differentiable_average_lagging(delays: Sequence[float], source_length: float) -> float:
    """AL in which each written word costs time, DAL (Arivazhagan et al. 2019, MILk).

    A word comes at least |X| / |Y| after the previous one, so that words written at once at the end
    do not count as catching up. All words count, and |Y| is the hypothesis's own length, as in
    SimulEval with any settings. Arguments as for ``average_lagging``.
    """
    _check(delays, source_length)
    step = source_length / len(delays)
    spread = [float(delays[0])]
    for delay in delays[1:]:
        spread.append(max(delay, spread[-1] + step))
    return _mean_lag(spread, step)


def start_offset(delays: Sequence[float]) -> float:
    """Source read before the first word was written."""
    _check(delays)
    return float(delays[0])


def end_offset(delays: Sequence[float], source_length: float) -> float:
    """Time from the end of the source to the last word; below zero if that came earlier."""
    _check(delays, source_length)
    return float(delays[-1] - source_length)


def _mean_lag(delays: Sequence[float], step: float) -> float:
    """Average the lag of delays behind a translator that needs ``step`` of source for a word."""
    return fmean(delay - index * step for index, delay in enumerate(delays))


def _check(delays: Sequence[float], source_length: float = 1, target_length: int = 1) -> None:
    if not delays:
        msg = "lagging needs at least one written word"
        raise ValueError(msg)
    if source_length <= 0 or target_length <= 0:
        msg = f"lagging needs lengths above zero, got {source_length} and {target_length}"
        raise ValueError(msg)


# Delays that contain computing: when a translation appears if its source comes live. Text has no
# clock of its own. We assume one word every ``word_ms`` milliseconds, and measure time in source
# words, so that all laggings apply:
#
# * A word arrives at its **end**, when it is complete: word c (counted from 1) at time c. Without
#   computing a unit written after c words has time c, so the delays equal the plain ones exactly.
#   The end of the source is known when its last word arrives, as in text.
# * The engine works on one word after another. Work on word c starts at
#   ``start_c = max(c, finish_(c-1))`` and ends at ``finish_c = start_c + ms_c / word_ms``:
#   computing runs while the next word is spoken, and only unfinished work is carried over.
# * A unit written in the work on word c appears at ``start_c`` plus its ``emitted_ms``.
#
# This is the queue model; reports use ``real_time_delays``. A backlog is processed word by word, as
# it was measured; an engine that fed waiting words together would be faster.
#
# No time here is earlier than the plain delay, so AP and DAL cannot fall. AL and LAAL can: they end
# with the first unit after the source, and computing may move that unit forward.

WORD_MS = 400.0
"""One word of 150 a minute, a usual rate of lectures: an assumption, stated with every score."""


def real_time_delays(translation: Translation, word_ms: float = WORD_MS) -> list[float]:
    """Compute when each target unit appears by the queue model; never falling.

    In source words from the start of the source, ``word_ms`` from one to the next.

    Raises:
        ValueError: ``word_ms`` is not above 0, or a delay is none of a source word with a time.
    """
    return _emissions(translation, queue_starts(translation.ms, word_ms), word_ms)


def simuleval_delays(translation: Translation, word_ms: float = WORD_MS) -> list[float]:
    """Compute when each target unit appears by SimulEval's convention for speech.

    Source read plus all computing since the start, as if no source came in while the engine
    computes, which over-estimates long sources. SimulEval applies it to speech only; here it is
    applied to words for comparison. Arguments, result and errors as for ``real_time_delays``.
    """
    _check_word(word_ms)
    spent = accumulate(translation.ms, initial=0.0)
    starts = [n + before / word_ms for n, before in enumerate(spent, start=1)]
    return _emissions(translation, starts, word_ms)


def queue_starts(ms: Sequence[float], word_ms: float = WORD_MS) -> list[float]:
    """Compute when the work on each source word starts, in source words, by the ``ms`` of each."""
    _check_word(word_ms)
    starts, finish = list[float](), 0.0
    for arrival, cost in enumerate(ms, start=1):
        starts.append(max(float(arrival), finish))
        finish = starts[-1] + cost / word_ms
    return starts


def _emissions(translation: Translation, starts: Sequence[float], word_ms: float) -> list[float]:
    """Add the time until a unit was written to the start of the work that wrote it."""
    n_words = len(translation.ms)
    units = list(zip(translation.delays, translation.emitted_ms, strict=True))
    if any(not 1 <= n <= n_words for n, _ in units):
        msg = f"units are written in the work on words 1 to {n_words}, got {translation.delays}"
        raise ValueError(msg)
    return [starts[n - 1] + emitted / word_ms for n, emitted in units]


def _check_word(word_ms: float) -> None:
    if not word_ms > 0:
        msg = f"words come some milliseconds apart, got {word_ms}"
        raise ValueError(msg)


# Means are taken over sentences, as in SimulEval: a sentence without output has no lagging, so it
# is left out.


@dataclass(frozen=True, slots=True, kw_only=True)
class Laggings:
    """Every measure of lagging, in source words; AP is a share.

    Attributes:
        al, laal, ap, dal, atd, start_offset, end_offset: without the time of computing.
        laal_ca: LAAL with computing, by the queue model above.
        laal_ca_simuleval: LAAL by SimulEval's convention, in which computing adds up.
    """

    al: float
    laal: float
    ap: float
    dal: float
    atd: float
    start_offset: float
    end_offset: float
    laal_ca: float
    laal_ca_simuleval: float


def laggings(translation: Translation, n_units: int) -> Laggings:
    """Measure a translation that is not empty; ``n_units`` of its reference."""
    delays, length = translation.delays, len(translation.source)

    def laal(delays: Sequence[float]) -> float:
        return length_adaptive_average_lagging(delays, length, n_units)

    return Laggings(
        al=average_lagging(delays, length, n_units),
        laal=laal(delays),
        ap=average_proportion(delays, length, n_units),
        dal=differentiable_average_lagging(delays, length),
        atd=average_token_delay(delays),
        start_offset=start_offset(delays),
        end_offset=end_offset(delays, length),
        laal_ca=laal(real_time_delays(translation)),
        laal_ca_simuleval=laal(simuleval_delays(translation)),
    )


def mean_laggings(
    translations: Sequence[Translation], references: Sequence[str], language: str
) -> Laggings | None:
    """Average over the sentences that have output; None if none has."""
    rows = [
        laggings(translation, n_reference_units(reference, language))
        for translation, reference in zip(translations, references, strict=True)
        if translation.delays
    ]
    if not rows:
        return None
    names = [field.name for field in fields(Laggings)]
    return Laggings(
        **{name: statistics.fmean(float(getattr(row, name)) for row in rows) for name in names}
    )


def caption_lags_s(translation: Translation) -> list[float]:
    """Return seconds from the end of the sound of each source word to its caption.

    Its caption is the target unit that stands at the same share of the line, as LAAL has it, or the
    end of the line where nothing was written. The time of computing does not count. Empty where
    words have no times.
    """
    n_words, came_s = len(translation.said_s), translation.came_s
    delays = translation.delays or (n_words,)
    units = (-(-number * len(delays) // n_words) for number in range(1, n_words + 1))
    return [
        came_s[delays[unit - 1] - 1] - said_s
        for unit, said_s in zip(units, translation.said_s, strict=True)
    ]


def average_token_delay(
    delays: Sequence[float], *, source_token: float = 1, target_token: float = 1
) -> float:
    """Average token delay, ATD (Kano et al. 2023, https://arxiv.org/abs/2211.13173).

    Other laggings use the amount of source read; this one uses the ends of words, so that a long
    output written at once delays later words. A chunk is source that was read at once, and the
    target written before the next read.

    The mean over target tokens t of ``end(t) - end(s)``, where s is the source token that
    corresponds to t: the t-th, less the number of tokens by which the target was ahead of the
    source at the start of the chunk, and at most the last one read. A target token starts when it
    is written and the previous one has ended. As in SimulEval 1.1.4.

    Args:
        delays: source read when each word was written, at least one, never falling.
        source_token: length of one in the unit of the delays; the last of a chunk may be shorter.
        target_token: likewise; a caption of speech takes no time.
    """
    _check_finite(delays)
    source_ends, target_end, lags, read = [0.0], 0.0, list[float](), 0.0
    for delay, chunk in groupby(delays):
        ahead = max(0, len(lags) - (len(source_ends) - 1))
        source_ends.extend(_token_ends(source_ends[-1], delay - read, source_token))
        read = delay
        for _ in chunk:
            target_end = max(delay, target_end) + target_token
            lags.append(target_end - source_ends[min(len(lags) + 1 - ahead, len(source_ends) - 1)])
    return fmean(lags)


def _token_ends(start: float, duration: float, token: float) -> Iterator[float]:
    """Yield the ends of the source tokens of a chunk; the last one may be shorter."""
    n_whole, rest = divmod(duration, token)
    for n in range(1, int(n_whole) + 1):
        yield start + n * token
    if rest:
        yield start + duration


def _check_finite(delays: Sequence[float]) -> None:
    if not delays:
        msg = "token delay needs at least one written word"
        raise ValueError(msg)
    if any(later < earlier for earlier, later in pairwise((0, *delays))):
        msg = f"delays never fall and are not below zero, got {list(delays)}"
        raise ValueError(msg)


HEARD_STAGES = ("recognised", "translated", "shown", "whole")
"""Of spoken words: until committed, until the first caption, until painted, and in all."""

_REMEMBERED = 20_000  # words, two hours of speech


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """Median and 95th percentile of a stage; ``n_words`` is 0 if there is no sample."""

    stage: str
    n_words: int = 0
    median_s: float = 0.0
    p95_s: float = 0.0


class _Times:
    """The newest times in a stage, oldest first, 10 bytes for each: an hour is below a megabyte."""

    def __init__(self) -> None:
        self.seconds = array("d")
        self._speakers = array("H")  # a place in ``_lanes`` for each

    def add(self, seconds: float, speaker: int = 0) -> None:
        self.seconds.append(seconds)
        self._speakers.append(speaker)
        if len(self.seconds) > _REMEMBERED:
            del self.seconds[0], self._speakers[0]

    @property
    def speakers(self) -> set[int]:
        return set(self._speakers)

    def newest_first(self, speaker: int | None = None) -> Iterator[float]:
        pairs = zip(reversed(self.seconds), reversed(self._speakers), strict=True)
        return (seconds for seconds, of in pairs if speaker is None or of == speaker)


class WordLags:
    """Measure spoken words on their way through a session."""

    def __init__(self) -> None:
        self.begin_listening()

    def begin_listening(self) -> None:
        self._heard = {stage: _Times() for stage in HEARD_STAGES}
        self._lanes = list[str]()  # those of spoken words, in the order they came

    def take(self, utterance: Utterance, now_s: float) -> None:
        """Take a changed utterance, whose newly captioned words are measured."""
        for word in utterance.new_captioned:
            if word.spoken_at_s is not None:
                seconds = word.committed_at_s - word.spoken_at_s
                self._add("recognised", seconds, utterance.lane)
                self._add("translated", now_s - word.committed_at_s, utterance.lane)

    def painted(self, utterance: Utterance, now_s: float) -> list[float]:
        """Note that a caption was painted; return how many seconds ago its new words were said."""
        ages_s = list[float]()
        for word, captioned_at_s in utterance.take_shown():
            if word.spoken_at_s is not None:
                self._add("shown", now_s - captioned_at_s, utterance.lane)
                ages_s.append(now_s - word.spoken_at_s)
                self._add("whole", ages_s[-1], utterance.lane)
        return ages_s

    @property
    def lanes(self) -> list[str]:
        return sorted(self._lanes[speaker] for speaker in self._heard["whole"].speakers)

    def heard(self, newest: int | None = None, lane: str | None = None) -> list[StageTime]:
        """Summarise the stages of spoken words, or of the ``newest`` words of each."""
        if lane is not None and lane not in self._lanes:
            return []
        speaker = None if lane is None else self._lanes.index(lane)
        found = {
            stage: [*islice(heard.newest_first(speaker), newest)]
            for stage, heard in self._heard.items()
        }
        return [_summed(stage, times_s) for stage, times_s in found.items() if times_s]

    def _add(self, stage: str, seconds: float, lane: str) -> None:
        if lane not in self._lanes:
            self._lanes.append(lane)
        self._heard[stage].add(max(0.0, seconds), self._lanes.index(lane))


def _summed(stage: str, times_s: Iterable[float]) -> StageTime:
    seconds = sorted(times_s)
    return StageTime(
        stage=stage,
        n_words=len(seconds),
        median_s=seconds[(len(seconds) - 1) // 2],
        p95_s=seconds[-(-95 * len(seconds) // 100) - 1],
    )
