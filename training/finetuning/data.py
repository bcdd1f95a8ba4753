"""What a fine-tuning run works on: pairs, prompts, steps, and the digest that tells runs apart."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from engine.layout.rows import IGNORE
from engine.text.prompt import Prompt, make_prompt
from training.errors import CorpusError, UsageError
from training.evaluation.run_record import fingerprint, readable_sha256
from training.finetuning.base_model import Base
from training.finetuning.settings import FinetuneSettings
from training.samples.batches import pack
from training.samples.loss import Markers
from training.samples.methods import METHODS, Method
from training.samples.packing import Line, StepStream
from training.samples.pairs import CorpusPair, tokenize
from training.trainer.checkpoint import Counters
from training.trainer.distributed import Machines
from training.trainer.loop import Pass, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a run works on.

    Attributes:
        stream: the steps.
        markers: what ends something.
        n_pairs: by corpus.
        fingerprint: digests by name, see ``Counters``.
    """

    stream: StepStream
    markers: Markers
    n_pairs: Mapping[str, int]
    fingerprint: str


def find_method(settings: FinetuneSettings) -> Method:
    """Find the method by its name.

    Raises:
        UsageError: there is none.
    """
    if settings.method not in METHODS:
        msg = f"the method is one of {', '.join(METHODS)}, got {settings.method!r}"
        raise UsageError(msg)
    return METHODS[settings.method]


def trained_policies(settings: FinetuneSettings, method: Method) -> tuple[str, ...]:
    """Name the policies that are drawn, as policies are written."""
    mixture = settings.mixture
    reads, waits = mixture.fixed_reads + mixture.aligned_reads, mixture.waits
    names = list[str]()
    if not method.offline:
        names += [f"read:{n}" for n in mixture.n if reads]
        names += [f"wait:{k}" for k in mixture.k if waits]
    if method.offline or reads + waits < 1:
        names.append("offline")
    return tuple(names)


def prepare(
    settings: FinetuneSettings, data: Mapping[str, Path], base: Base, method: Method
) -> Material:
    """Encode the data and set up the steps.

    Raises:
        CorpusError: there is nothing to train on.
        ModelError: the base has no chat template, or none that can be used.
        UsageError: read-n is asked for and no pair has a schedule.
    """
    prompts = {code: make_prompt(base.tokenizer, base.card, code) for code in settings.languages}
    around = max(_n_around(prompt) for prompt in prompts.values())
    pairs = list(tokenize(data, base.tokenizer, settings.max_length - around))
    _check_pairs(pairs, settings, data, method)
    optimisation = settings.optimisation
    step_pairs = optimisation.batch_pairs
    if optimisation.batch_tokens:
        n_rows = sum(_n_tokens(one) + around for one in pairs)
        step_pairs = max(1, round(optimisation.batch_tokens * len(pairs) / n_rows))
    stream = StepStream(
        pairs=pairs,
        prompts=prompts,
        weights=settings.weights,
        method=method,
        mixture=settings.mixture,
        slot_lengths=settings.slot_lengths,
        step_pairs=step_pairs,
        line_rows=settings.max_length,
        seed=optimisation.seed,
    )
    return Material(
        stream=stream,
        markers=Markers.of(next(iter(prompts.values()))),
        n_pairs=Counter(pair.corpus for pair in pairs),
        fingerprint=_fingerprint(settings, data, base),
    )


def share_steps(
    stream: StepStream, machines: Machines, pass_tokens: int, taken: Counters
) -> Iterator[Step]:
    """Yield what this process does of each step; all processes have equally many passes.

    Args:
        stream: the steps.
        machines: the processes: lines are dealt out to them.
        pass_tokens: rows in a pass, padding included; a longer line has a pass of its own.
        taken: the steps that were taken before.
    """
    for lines in stream.steps(skip=taken.step):
        yield share_step(lines, machines.rank, machines.n_processes, pass_tokens)


def share_step(lines: Sequence[Line], rank: int, n_processes: int, pass_tokens: int) -> Step:
    """Deal out the lines of a step; see ``share_steps``."""
    dealt = [_chunks(lines[first::n_processes], pass_tokens) for first in range(n_processes)]
    n_labels = sum(map(_n_labels, lines))
    passes = [Pass(pack(chunk), sum(map(_n_labels, chunk)) / n_labels) for chunk in dealt[rank]]
    while len(passes) < max(map(len, dealt)):
        passes.append(Pass(pack(lines[-1:]), 0.0))  # libraries wait for every process
    examples = [example for line in lines for example in line]
    return Step(
        passes,
        n_pairs=sum(example.share for example in examples),
        n_rows=sum(len(example.rows) for example in examples),
    )


def _chunks(lines: Sequence[Line], pass_tokens: int) -> list[list[Line]]:
    chunks = list[list[Line]]()
    longest = 0
    for line in lines:
        n_rows = sum(len(example.rows) for example in line)
        longest = max(longest, n_rows)
        if not chunks or (len(chunks[-1]) + 1) * longest > pass_tokens:
            chunks.append([])
            longest = n_rows
        chunks[-1].append(line)
    return chunks


def _n_labels(line: Line) -> int:
    return sum(row.label != IGNORE for example in line for row in example.rows)


def _n_around(prompt: Prompt) -> int:
    """Count the rows of a sample of one phase that are no words: headers and two markers."""
    headers = prompt.headers
    return len(headers.system) + len(headers.first) + len(headers.assistant) + 2


def _n_tokens(pair: CorpusPair) -> int:
    return sum(map(len, pair.pair.source)) + sum(map(len, pair.pair.target))


def _check_pairs(
    pairs: Sequence[CorpusPair],
    settings: FinetuneSettings,
    data: Mapping[str, Path],
    method: Method,
) -> None:
    names = ", ".join(map(str, data.values()))
    if not pairs:
        msg = (
            f"there are no pairs of up to {settings.max_length} tokens to train on in {names}: "
            "make them with surtitle-train align, or raise max_length"
        )
        raise CorpusError(msg)
    mixture = settings.mixture
    reads = mixture.fixed_reads + mixture.aligned_reads
    if reads and not method.offline and all(pair.pair.needs is None for pair in pairs):
        msg = (
            f"no pair in {names} has a schedule, which read-n needs: make them with "
            "surtitle-train align, or train --policies wait-k"
        )
        raise UsageError(msg)


def _fingerprint(settings: FinetuneSettings, data: Mapping[str, Path], base: Base) -> str:
    """Digest what a resumed run must share, part by part."""
    optimisation = replace(settings.optimisation, epochs=1.0)  # a run may be made longer
    parts = {
        "base": fingerprint(base.folder),
        "data": sorted((code, readable_sha256(path)) for code, path in data.items()),
        "prompt": _spoken(base, settings),
        "method": settings.method,
        "slot_length": settings.slot_lengths,
        "mixture": asdict(settings.mixture),
        "weighting": sorted(settings.weights.items()),
        "LoRA": settings.lora,
        "optimisation": optimisation,
        "max_length": settings.max_length,
        "quantisation": settings.quantise,
    }
    return " ".join(f"{name}={_digest(value)}" for name, value in parts.items())


def _spoken(base: Base, settings: FinetuneSettings) -> tuple[object, ...]:
    card = base.card
    ends = (card.end_of_source, card.end_of_write, card.end_of_target)
    return sorted(card.languages.items()), ends, settings.prompt.chat_template


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:12]
