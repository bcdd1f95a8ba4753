"""The details of an adapter as labels and values, for the terminal and the windows."""

from collections.abc import Iterable

from engine.adapters.adapter import Adapter, Status
from engine.adapters.card import AdapterCard
from engine.files import bytes_text

Rows = list[tuple[str, str]]
NOTHING = "–"


def rows(adapter: Adapter) -> Rows:
    """Return the known details of an adapter, its faults first."""
    details = [("name", adapter.name), ("status", str(adapter.status))]
    if adapter.status is not Status.OK:
        details.append(("reason", adapter.reason))
    details.append(("folder", str(adapter.folder)))
    if adapter.card is not None:
        details += _purpose(adapter.card)
    if adapter.lora is not None:
        lora = adapter.lora
        details += [
            ("rank", str(lora.rank)),
            ("alpha", f"{lora.alpha:g}{', rank-stabilised' if lora.rank_stabilised else ''}"),
        ]
    if adapter.weights is not None:
        weights = adapter.weights
        details += [
            ("targets", _list(weights.modules)),
            ("layers", ranges(weights.layers)),
            ("parameters", f"{weights.n_parameters:,}"),
            ("size", f"{bytes_text(weights.n_bytes)}, {_list(weights.dtypes)}"),
        ]
    return details + (_provenance(adapter.card) if adapter.card else [])


def _purpose(card: AdapterCard) -> Rows:
    base = card.base
    return [
        *([("description", card.description)] if card.description else []),
        ("base", card.base_name),
        (
            "base's shape",
            f"{base.architecture}, {base.layers} layers, {base.hidden_size} wide, "
            f"{base.heads} heads of {base.head_size} ({base.kv_heads} for keys), "
            f"feed-forward {base.feed_forward}, vocabulary {base.vocabulary}",
        ),
        ("base's tokenizer", f"sha256 {base.tokenizer_sha256}"),
        ("languages", f"{card.source_language} to {_list(card.languages)}"),
        ("layout", card.layout),
        ("slot length", f"{card.slot_length} (trained with {ranges(card.slot_lengths)})"),
        ("policies", _list(card.policies)),
        ("prompt", card.prompt_template),
    ]


def _provenance(card: AdapterCard) -> Rows:
    made = ", ".join(part for part in (card.created_with, card.created_at) if part)
    found = [
        ("licence", card.licence or NOTHING),
        ("made with", made or NOTHING),
        ("seeds", _list(map(str, card.seeds)) or NOTHING),
    ]
    for corpus in card.data:
        pairs = "" if corpus.pairs is None else f"{corpus.pairs:,} pairs, "
        where = f", {corpus.url}" if corpus.url else ""
        found.append(("data", f"{corpus.name}: {pairs}{corpus.licence}{where}"))
    found += [("command", command) for command in card.commands]
    for score in card.scores:
        laal = NOTHING if score.laal is None else f"{score.laal:.2f}"
        what = f"{score.test_set} ({score.lines:,} lines), {score.language}, {score.policy}"
        alone = "" if score.base_bleu is None else f" (base alone {score.base_bleu:.1f})"
        found.append(("score", f"{what}: BLEU {score.bleu:.1f}{alone}, LAAL {laal}"))
    return found


def _list(values: Iterable[str]) -> str:
    return ", ".join(values)


def ranges(numbers: Iterable[int]) -> str:
    """Write increasing numbers as ranges: ``0-5, 8``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return _list(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
