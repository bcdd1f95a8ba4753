"""Material of a run: pairs, prompts, the stream, and digests that distinguish runs."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType

from transformers import PreTrainedTokenizerFast

from engine.models.model_card import ModelCard
from engine.text.prompt import Prompt, make_prompt
from engine.untrusted.plain_files import file_sha256
from training.errors import CorpusError, UsageError
from training.settings import NEW, TrainSettings
from training.trainer.loss import Markers
from training.trainer.samples import METHODS, CorpusPair, Method, tokenize
from training.trainer.stream import Filled, Stream

_BLOCK = 16384
"""Pairs of a new base that are arranged together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """Material of a run.

    Attributes:
        markers: tokens that no label is weighed against.
        n_pairs: by corpus.
        step_pairs: in a step on average.
        fingerprint: digests by name, see ``Counters``.
    """

    stream: Stream
    markers: Markers
    n_pairs: Mapping[str, int]
    total_pairs: float
    step_pairs: float
    fingerprint: str


def find_method(settings: TrainSettings) -> Method:
    """Return the method of the settings; raise UsageError if there is none of its name."""
    if settings.method not in METHODS:
        msg = f"the method is one of {', '.join(METHODS)}, got {settings.method!r}"
        raise UsageError(msg)
    return METHODS[settings.method]


def slot_lengths(settings: TrainSettings, card: ModelCard) -> tuple[int, ...]:
    """Return the slot lengths of the run: those of its settings, or that of its base."""
    return settings.slot_lengths or (card.slot_length,)


def trained_policies(settings: TrainSettings, method: Method) -> tuple[str, ...]:
    reads, waits = method.shares(settings.mixture)
    names = [f"read:{n}" for n in settings.mixture.n if reads]
    names += [f"wait:{k}" for k in settings.mixture.k if waits]
    if reads + waits < 1:
        names.append("offline")
    return tuple(names)


def prepare(
    settings: TrainSettings,
    data: Mapping[str, Path],
    tokenizer: PreTrainedTokenizerFast,
    card: ModelCard,
    base: str = "",
) -> Material:
    """Encode the data and set up the steps.

    Args:
        data: files by target language.
        tokenizer: with the chat template.
        card: prompts and markers of the base.
        base: digest of the base of an adapter, or of what is trained on; empty for a new base.
    """
    method, optimisation = find_method(settings), settings.optimisation
    prompts = {code: make_prompt(tokenizer, card, code) for code in settings.languages}
    around = max(_n_around(prompt) for prompt in prompts.values())
    pairs = [
        one
        for one in tokenize(data, tokenizer, settings.max_length - around)
        if is_text(one, prompts[one.language])
    ]
    _check_pairs(pairs, settings, data, method)
    step_pairs: float = optimisation.batch_pairs
    if optimisation.batch_tokens:
        n_rows = sum(_n_tokens(pair) + around for pair in pairs)
        step_pairs = optimisation.batch_tokens * len(pairs) / n_rows
    stream = Stream(
        pairs=pairs,
        prompts=prompts,
        weights=settings.weights,
        method=method,
        mixture=settings.mixture,
        slot_lengths=slot_lengths(settings, card),
        arrangement=_arrangement(settings, step_pairs),
        seed=optimisation.seed,
    )
    return Material(
        stream=stream,
        markers=(
            Markers((), ()) if method.labels_all else Markers.of(next(iter(prompts.values())))
        ),
        n_pairs=Counter(pair.corpus for pair in pairs),
        total_pairs=stream.epoch_size() * optimisation.epochs,
        step_pairs=max(1, step_pairs) if settings.base == NEW else max(1, round(step_pairs)),
        fingerprint=fingerprint_of(settings, data, base, card),
    )


def _arrangement(settings: TrainSettings, step_pairs: float) -> Filled:
    """Return steps of so many pairs for an adapter, of as many lines as fit for a new base."""
    if settings.base != NEW:
        return Filled(max(1, round(step_pairs)), settings.max_length)
    n_rows = settings.optimisation.batch_tokens
    n_lines = max(1, n_rows // settings.max_length)
    return Filled(_BLOCK, max(n_rows // n_lines, settings.max_length), n_lines)


def fingerprint_of(
    settings: TrainSettings,
    data: Mapping[str, Path],
    base: str,
    card: ModelCard,
    own: Mapping[str, object] = MappingProxyType({}),
) -> str:
    """Digest the settings a resumed run must share, part by part; its length may change.

    Args:
        data: aligned TSV by target language.
        base: digest of the base of an adapter, or of what is trained on.
        own: settings of this kind of run alone, by name; their ``repr`` counts.
    """
    optimisation = settings.optimisation
    ends = (card.end_of_source, card.end_of_write, card.end_of_target)
    moves = (optimisation.batch_tokens, optimisation.seed, optimisation.optimizer)
    values: dict[str, object] = {
        "data": sorted((code, file_sha256(path)) for code, path in data.items()),
        "prompt": (sorted(card.languages.items()), ends, settings.prompt.chat_template),
        "method": settings.method,
        "slot_length": slot_lengths(settings, card),
        "mixture": asdict(settings.mixture),
        "weighting": sorted(settings.weights.items()),
        "max_length": settings.max_length,
    }
    if settings.base == NEW:
        values |= {"base": base} if base else {"shape": asdict(settings.shape)}
        values["step"] = moves
        if settings.dropout:
            values["dropout"] = settings.dropout
    else:
        values |= {"base": base, "LoRA": settings.lora, "quantisation": settings.quantise}
        values |= {"optimisation": replace(optimisation, epochs=1.0), **own}
    texts = {name: repr(value) for name, value in values.items()}
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return " ".join(f"{name}={digest[:12]}" for name, digest in digests.items())


def _n_around(prompt: Prompt) -> int:
    """Count the rows of a sample of one phase besides words: headers and two markers."""
    headers = prompt.headers
    return len(headers.system) + len(headers.first) + len(headers.assistant) + 2


def is_text(pair: CorpusPair, prompt: Prompt) -> bool:
    """Return whether a target can be written: one that spells a marker out cannot."""
    return prompt.markers.isdisjoint(id_ for word in pair.pair.target for id_ in word)


def _n_tokens(pair: CorpusPair) -> int:
    return sum(map(len, pair.pair.source)) + sum(map(len, pair.pair.target))


def _check_pairs(
    pairs: Sequence[CorpusPair],
    settings: TrainSettings,
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
    reads, _ = method.shares(settings.mixture)
    if reads and all(pair.pair.needs is None for pair in pairs):
        msg = (
            f"no pair in {names} has a schedule, which read-n needs: make them with "
            "surtitle-train align, or train --policies wait-k"
        )
        raise UsageError(msg)
