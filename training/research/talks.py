"""Whole talks: each is translated as one stream, cut to its reference, scored (``long-form``).

A talk's words are fed one by one to ``engine.translation.passage.Passage``, as in the app, which
cuts sentences by their punctuation; the segments of the reference are not known to it. Its output
is cut to them afterwards, twice: by word errors, as for StreamLAAL (``resegment``), and by likeness
of words, on which LongYAAL is defined (``soft_resegment``).

Files in the run folder, for each policy: ``log/POLICY.N.jsonl``, the event logs, in which a talk is
a line; all else is computed from them, and a run that was killed resumes from them, with the talk
after the last whole one. ``POLICY.talk``: the translations, a line for a talk. ``POLICY.hyp``: the
same cut to the reference, a line for a line of the source. ``POLICY.jsonl``: an object for each
talk, the fields of ``Translation``, ``references`` and ``lengths``, the source words of each
segment. For all policies together: ``run.json`` and ``summary.json``, a list of ``LongScores``.
"""

import argparse
import os
import re
import statistics
import string
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from pathlib import Path

import torch

from engine.events import FedWord
from engine.metrics.event_log import EventLog, Translation, is_spaced, n_reference_units
from engine.metrics.latency import (
    length_adaptive_average_lagging,
    real_time_delays,
    yet_another_average_lagging,
)
from engine.metrics.quality import Quality, make_bleu, measure_quality
from engine.runtime.loader import load_weights
from engine.translation.conversation import Conversation
from engine.translation.passage import Passage
from engine.translation.targets import Targets
from training.commands.evaluate import add_run_arguments, run_settings, score_table
from training.data.corpus import read_lines, read_pairs, replacing, write_json, write_lines
from training.errors import CorpusError, TrainingError
from training.evaluation.models import convert_once
from training.evaluation.runs import TALKS, RunRecord, RunSettings, write_translations
from training.evaluation.scores import (
    Cost,
    flattened,
    is_degenerate,
    measure_cost,
    normalised_erasure,
)
from training.evaluation.short_form import (
    logged_system,
    next_number,
    read_translations,
    show_progress,
    warm_up,
)

_COLUMNS = (
    "policy", "bleu", "chrf", "stream_laal", "stream_laal_ca", "bleu_soft", "long_yaal",
    "long_yaal_ca", "ms_per_word_p50", "ms_per_word_p95", "tokens_fed", "tokens_recomputed",
    "n_talks", "n_segments", "n_words", "n_empty", "n_degenerate",
)  # fmt: skip


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "long-form",
        help="translate whole talks live, without their segments, and score them",
        description="Translate whole talks word by word, cut the output to the reference, score. "
        "Run it again to resume a run that was stopped.",
    )
    add_run_arguments(parser)
    talks = "each line's talk (all lines are one talk)"
    parser.add_argument("--talks", dest="names", type=Path, metavar="FILE", help=talks)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    settings = run_settings(arguments, "slots")
    sys.stdout.write(score_table(_COLUMNS, [one.row() for one in evaluate_talks(settings)]))
    return 0


# Talks --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Talk:
    """A talk; its segments, of at least a word each, are for the scores only."""

    sources: tuple[str, ...]
    references: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(" ".join(self.sources).split())

    @property
    def lengths(self) -> tuple[int, ...]:
        """Source words of each segment."""
        return tuple(len(source.split()) for source in self.sources)


def read_talks(
    source: Path, reference: Path, names: Path | None = None, limit: int | None = None
) -> list[Talk]:
    """Read talks, a segment in each line; adjacent lines of equal name are one talk.

    Args:
        reference: their translations.
        names: the name of the talk in each line; None makes one talk of all lines.
        limit: segments from the start of the files; None takes all.
    """
    pairs = list(read_pairs((source, reference)))
    names_of_lines = [b""] * len(pairs) if names is None else list(read_lines(names))
    if len(names_of_lines) != len(pairs):
        msg = (
            f"expected the name of a talk for each line of {source}, but that has {len(pairs)} and "
            f"{names} has {len(names_of_lines)}; give each line one"
        )
        raise CorpusError(msg)
    for number, pair in enumerate(pairs, start=1):
        if not pair.source.split():
            msg = (
                f"expected words in each line, but line {number} of {source} has none; leave it "
                "out in all files"
            )
            raise CorpusError(msg)
    lines = list(zip(names_of_lines, pairs, strict=True))[:limit]
    talks = [list(group) for _, group in groupby(lines, key=lambda line: line[0].strip())]
    return [
        Talk(tuple(pair.source for _, pair in talk), tuple(pair.target for _, pair in talk))
        for talk in talks
    ]


# Translating --------------------------------------------------------------------------------------


def evaluate_talks(settings: RunSettings) -> "list[LongScores]":
    """Translate the talks that no log holds yet, write the files, return the scores."""
    talks = read_talks(settings.source, settings.reference, settings.names, settings.limit)
    language, out = settings.translation.target_language, settings.out
    load_aligners()  # a missing library is reported before the work
    make_bleu(language)
    convert_once(settings.model)
    RunRecord.of(settings, TALKS).claim(out)
    scores = list[LongScores]()
    with replacing(out / "summary.json") as summary:  # fails now if it cannot be written
        _translate(settings, talks)
        for policy in settings.policies:
            by_index = read_talks_done(out, policy, talks)
            translations = [by_index[index] for index in range(len(talks))]
            write_lines(out / f"{policy}.talk", [each.hypothesis for each in translations])
            more = [{"references": talk.references, "lengths": talk.lengths} for talk in talks]
            write_translations(out, policy, translations, more)
            parts, soft_parts = (
                [
                    cut(translation.hypothesis, talk.references, language)
                    for translation, talk in zip(translations, talks, strict=True)
                ]
                for cut in (resegment, soft_resegment)
            )
            write_lines(out / f"{policy}.hyp", [part.text for own in parts for part in own])
            scores.append(score(policy, translations, talks, parts, soft_parts, language))
        write_json(summary, [each.row() for each in scores])
    return scores


def feed_talk(
    translator: Conversation, log: EventLog, index: int, words: Sequence[str]
) -> Iterator[int]:
    """Translate a talk live, as line ``index`` of the log; yield the words fed, after each.

    The end of the talk comes with its last word. The translator writes into the log, too.
    """
    log.write("line", index=index, words=list(words))
    passage = Passage(Targets(translator))
    for n_words, word in enumerate(words, start=1):
        ended = n_words == len(words)
        log.write("arrived", n_words=n_words, ended=ended)
        passage.splice(passage.n_words, None, [FedWord(word)])
        if ended:
            passage.finish()
        while passage.advance():
            pass  # the log holds its events
        yield n_words
    log.write("line_ended", index=index)


def read_talks_done(folder: Path, policy: str, talks: Sequence[Talk]) -> dict[int, Translation]:
    """Read whole talks by index; those of other lines (``--limit``, ``--talks``) are ignored."""
    return read_translations(
        folder, policy, lambda one: one.index < len(talks) and one.source == talks[one.index].words
    )


def _translate(settings: RunSettings, talks: Sequence[Talk]) -> None:
    missing = {
        policy: [index for index in range(len(talks)) if index not in done]
        for policy in settings.policies
        for done in [read_talks_done(settings.out, policy, talks)]
    }
    if any(missing.values()):
        total = len(missing) * sum(len(talk.words) for talk in talks)
        left = sum(len(talks[index].words) for indices in missing.values() for index in indices)
        show_progress(_feed(settings, talks, missing), total=total, left=left, unit=" words")


def _feed(
    settings: RunSettings, talks: Sequence[Talk], missing: Mapping[str, Sequence[int]]
) -> Iterator[str]:
    torch.set_num_threads(1)  # as the workers of evaluate: times can be compared
    folder = settings.out / "log"
    folder.mkdir(exist_ok=True)
    weights = load_weights(settings.model)
    number = next_number(folder)
    for policy in filter(missing.__getitem__, missing):
        capacity = settings.model.capacity
        with logged_system(settings, weights, policy, number, capacity) as (system, log):
            system.model.run(warm_up(system, log))
            for index in missing[policy]:
                for _ in feed_talk(system, log, index, talks[index].words):
                    yield policy


# Cutting ------------------------------------------------------------------------------------------

_RUN_OR_CHARACTER = re.compile(r"[!-~¡-ÿ]+|\S")
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a talk's translation that belongs to one segment of the reference.

    Attributes:
        text: as in the translation, without blanks at its ends; empty where no words fell to it.
        start, stop: its target units, from 0; a unit is a word between blanks, or a character in a
            script without blanks.
    """

    text: str
    start: int
    stop: int


def resegment(translation: str, references: Sequence[str], language: str) -> list[Part]:
    """Cut a translation where the cuts cost the fewest word errors, a part for each segment.

    Source: Matusov et al. 2005, https://aclanthology.org/2005.iwslt-1.19/, by mweralign
    (https://aclanthology.org/2025.iwslt-1.7/), untokenised, as in StreamLAAL. Words are compared as
    mweralign does: only the case of a-z is ignored. In a script without blanks characters are
    compared, but a run of Latin characters is a word.
    """
    spaced = is_spaced(language)
    pattern = re.compile(r"\S+") if spaced else _RUN_OR_CHARACTER
    words = list(pattern.finditer(translation))
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))

    def compared(text: str) -> str:
        # numbers instead of words: the library crashes on some text, such as ``###``
        return " ".join(str(numbers[word.translate(_LOWER)]) for word in pattern.findall(text))

    written = compared(translation)
    lines = "".join(compared(reference) + "\n" for reference in references)
    align_texts = load_aligners()
    with _silent():
        aligned = align_texts(lines, written)
    counts = (len(line.split()) for line in aligned.split("\n"))
    n_units = [*accumulate((1 if spaced else len(word.group()) for word in words), initial=0)]
    return [
        Part(_span(translation, words[start:stop]), n_units[start], n_units[stop])
        for start, stop in pairwise(accumulate(counts, initial=0))
    ]


def soft_resegment(translation: str, references: Sequence[str], language: str) -> list[Part]:
    """Cut a translation by likeness of words, as OmniSTEval does; as ``resegment`` otherwise.

    Source: SoftSegmenter (Polák et al. 2025, https://arxiv.org/abs/2509.17349), without a
    tokenizer. A word that can go to no segment, which OmniSTEval loses, goes to the first.
    """
    from omnisteval.alignment import Word, align_sequences, process_alignment  # noqa: PLC0415  an extra
    from omnisteval.tokenization import tokenize_words  # noqa: PLC0415  likewise

    spaced = is_spaced(language)
    pattern = re.compile(r"\S+" if spaced else r"\S")
    units = list(pattern.finditer(translation))
    wanted = [
        Word(one, seq_id=n) for n, text in enumerate(references) for one in pattern.findall(text)
    ]
    written = [Word(unit.group(), emission_cu=n) for n, unit in enumerate(units)]
    counts = Counter[int]()
    if wanted:
        aligned = align_sequences(*tokenize_words([wanted, written], None), not spaced)
        counts.update(word.seq_id for word in process_alignment(*aligned, not spaced))
    counts[0] += len(units) - counts.total()
    n_units = accumulate((counts[n] for n in range(len(references))), initial=0)
    return [
        Part(_span(translation, units[start:stop]), start, stop)
        for start, stop in pairwise(n_units)
    ]


def _span(text: str, words: Sequence["re.Match[str]"]) -> str:
    return text[words[0].start() : words[-1].end()] if words else ""


def load_aligners() -> Callable[[str, str], str]:
    """Import both aligners now, so that a long run fails at its start rather than at its end."""
    try:
        import mweralign  # noqa: PLC0415  an optional extra: surtitle[evaluate]
        import omnisteval  # noqa: F401, PLC0415  likewise: surtitle[dev]
    except ImportError as error:
        msg = (
            "cutting a talk's translation to its reference needs mweralign and omnisteval: "
            "install them with pip install 'surtitle[evaluate,dev]'"
        )
        raise TrainingError(msg) from error
    align_texts: Callable[[str, str], str] = mweralign.align_texts
    return align_texts


@contextmanager
def _silent() -> Iterator[None]:
    """Drop the messages of C++ code to standard error, which Python cannot turn off."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


# Scores -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A segment of the reference and its translation.

    Delays and lengths have one unit, words or seconds of the source, and count from the segment's
    start: output that was written before its segment began has a delay below zero.

    Attributes:
        delays: of the target units of ``text``.
        source_length: |X| of the segment.
        to_end: from the segment's start to the end of the talk.
    """

    text: str
    reference: str
    delays: tuple[float, ...]
    source_length: float
    to_end: float


def make_segments(
    parts: Sequence[Part],
    references: Sequence[str],
    spans: Sequence[tuple[float, float]],
    delays: Sequence[float],
) -> list[Segment]:
    """Combine parts, references, spans (start and length) and delays, from the start of a talk."""
    end = max(start + length for start, length in spans)
    return [
        Segment(
            text=part.text,
            reference=reference,
            delays=tuple(delay - start for delay in delays[part.start : part.stop]),
            source_length=length,
            to_end=end - start,
        )
        for part, reference, (start, length) in zip(parts, references, spans, strict=True)
    ]


def stream_laal(segments: Iterable[Segment], language: str) -> float | None:
    """Average LAAL over the segments that have output, StreamLAAL; None if none has.

    See Papi et al. 2024, https://aclanthology.org/2024.acl-long.202/, version 2.
    """
    return _mean(
        length_adaptive_average_lagging(
            one.delays, one.source_length, n_reference_units(one.reference, language)
        )
        for one in segments
        if one.delays
    )


def long_yaal(segments: Iterable[Segment], language: str) -> float | None:
    """Average YAAL over segments, LongYAAL (Polák et al. 2025, https://arxiv.org/abs/2509.17349).

    Words written after the end of the talk are left out, and so are segments without other words;
    None if no segment is left.
    """
    return _mean(
        yet_another_average_lagging(
            one.delays,
            one.source_length,
            n_reference_units(one.reference, language),
            recording_end=one.to_end,
        )
        for one in segments
        if one.delays
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


@dataclass(frozen=True, slots=True, kw_only=True)
class LongScores:
    """Scores of one policy over talks: an object of ``summary.json``.

    Attributes:
        quality: of the segments that ``resegment`` cut; ``stream_laal`` and ``n_empty`` likewise.
        bleu_soft, chrf_soft: of those that ``soft_resegment`` cut; ``long_yaal`` likewise. Lagging
            is in source words, None if nothing was written; ``_ca`` counts computing by the queue
            model of ``engine.metrics.latency``.
        normalised_erasure: target units taken away again for each unit that stayed.
        cost: a talk stands for a sentence.
        n_degenerate: segments whose output is a loop, see ``training.evaluation.scores``.
    """

    policy: str
    system: str
    quality: Quality
    bleu_soft: float
    chrf_soft: float
    stream_laal: float | None
    stream_laal_ca: float | None
    long_yaal: float | None
    long_yaal_ca: float | None
    normalised_erasure: float
    cost: Cost
    n_talks: int
    n_segments: int
    n_words: int
    n_empty: int
    n_degenerate: int

    def row(self) -> dict[str, str | float | None]:
        renamed = {"gflops_per_sentence": "gflops_per_talk"}
        return {renamed.get(name, name): value for name, value in flattened(self).items()}


def score(
    policy: str,
    translations: Sequence[Translation],
    talks: Sequence[Talk],
    parts: Sequence[Sequence[Part]],
    soft_parts: Sequence[Sequence[Part]],
    language: str,
) -> LongScores:
    """Score the translations of a policy, one for each talk, and their parts by either cut."""
    delays = [one.delays for one in translations]
    delays_ca = [real_time_delays(one) for one in translations]
    written, soft = (_segments(talks, cut, delays) for cut in (parts, soft_parts))
    written_ca, soft_ca = (_segments(talks, cut, delays_ca) for cut in (parts, soft_parts))
    sources = [source for talk in talks for source in talk.sources]
    soft_quality = _quality(soft, language)
    spaced = is_spaced(language)
    return LongScores(
        policy=policy,
        system="slots",
        quality=_quality(written, language),
        bleu_soft=soft_quality.bleu,
        chrf_soft=soft_quality.chrf,
        stream_laal=stream_laal(written, language),
        stream_laal_ca=stream_laal(written_ca, language),
        long_yaal=long_yaal(soft, language),
        long_yaal_ca=long_yaal(soft_ca, language),
        normalised_erasure=normalised_erasure(translations),
        cost=measure_cost(translations),
        n_talks=len(talks),
        n_segments=len(written),
        n_words=sum(len(talk.words) for talk in talks),
        n_empty=sum(not one.delays for one in written),
        n_degenerate=sum(
            is_degenerate(one.text, source.split(), spaced=spaced)
            for one, source in zip(written, sources, strict=True)
        ),
    )


def _quality(segments: Sequence[Segment], language: str) -> Quality:
    texts, references = zip(*((one.text, one.reference) for one in segments), strict=True)
    return measure_quality(texts, references, language)


def _segments(
    talks: Sequence[Talk], parts: Sequence[Sequence[Part]], delays: Sequence[Sequence[float]]
) -> list[Segment]:
    return [
        segment
        for talk, own_parts, own_delays in zip(talks, parts, delays, strict=True)
        for segment in make_segments(
            own_parts,
            talk.references,
            list(zip(accumulate(talk.lengths, initial=0), talk.lengths, strict=False)),
            own_delays,
        )
    ]
