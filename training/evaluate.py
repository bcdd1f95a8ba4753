"""Measure a model: ``surtitle-train evaluate`` translates a test set live and scores it.

A source line is one utterance, as the field takes it, even where it holds several sentences; the
app would cut it at each. It is fed word by word, the end-of-source marker with the last word. A
line over the engine's limits (``UtteranceLimits``), which the app never feeds either, is cut as
``engine.sentences`` cuts; its delays count from the start of the line all the same.

The delay of a target word is the number of source words read in the step that wrote its last
character. Files in the output folder, for each policy:

* ``POLICY.hyp``: the hypotheses, a line for a line of the source.
* ``POLICY.jsonl``: an object for each line, the fields of ``Translation`` and the reference.
* ``summary.json``: a list of ``Scores``, one for each policy.
"""

import argparse
import json
import multiprocessing
import os
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tqdm import tqdm

from engine.bundled import bundled_models
from engine.card import ModelCard, read_card
from engine.errors import ModelError, PolicyError, SurtitleError
from engine.policy import parse_policy
from engine.sentences import split_sentences, word_parts
from engine.settings import LayoutSettings, ModelSettings, TranslationSettings, UtteranceLimits
from training.corpus import read_pairs, replacing
from training.errors import TrainingError, UsageError

if TYPE_CHECKING:
    from engine.translator import Translator
    from training.scores import Scores, Translation

_CAPACITY = 4096
"""Cache rows: more than an utterance within the limits can take, even if every write runs away."""

_COLUMNS = (
    "policy", "bleu", "chrf", "al", "laal", "ms_per_word_p50", "ms_per_word_p95", "tokens_fed",
    "tokens_recomputed", "forwards", "probes", "n_sentences", "n_empty",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateSettings:
    """What one run translates, how, and where its files go."""

    source: Path
    reference: Path
    language: str  # two-letter code of the target
    policies: tuple[str, ...]
    model: Path
    slot_length: int
    out: Path
    limit: int | None = None  # lines from the start of the files; None takes all
    n_workers: int = 1

    def __post_init__(self) -> None:
        if not self.policies:
            msg = "at least one policy is needed, for example --policies read:3,offline"
            raise ValueError(msg)
        for policy in self.policies:
            parse_policy(policy)
        for name, value in (("limit", self.limit), ("workers", self.n_workers)):
            if value is not None and value < 1:
                msg = f"--{name} must be at least 1, got {value}"
                raise ValueError(msg)
        LayoutSettings(slot_length=self.slot_length)


@dataclass(frozen=True, slots=True)
class _Share:
    """What one worker does.

    Attributes:
        settings: of the run.
        lines: number and text of the source lines.
    """

    settings: EvaluateSettings
    lines: tuple[tuple[int, str], ...]


_Message: TypeAlias = "tuple[str, Translation] | str"
"""What a worker sends: policy and translation, or the sentence it failed with."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``evaluate`` to the command line."""
    parser = subparsers.add_parser(
        "evaluate",
        help="translate a test set live under several policies and score it",
        description="Translate a test set word by word and score quality, lagging and cost.",
    )
    parser.add_argument("--source", type=Path, required=True, metavar="FILE")
    parser.add_argument("--reference", type=Path, required=True, metavar="FILE")
    parser.add_argument("--to", required=True, metavar="LANG", help="target, for example de")
    parser.add_argument(
        "--policies", required=True, metavar="P,P,...", help="out of read:N, wait:K and offline"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--model", type=Path, metavar="DIR", help="model folder (the bundled one for LANG)"
    )
    parser.add_argument("--slot", type=int, metavar="N", help="slot length (that of the model)")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N lines")
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="(%(default)s)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Obey the command line: translate, write, score, print.

    Raises:
        TrainingError: one sentence says what is wrong.
    """
    model, card = find_model(arguments.model, arguments.to)
    try:
        settings = EvaluateSettings(
            source=arguments.source,
            reference=arguments.reference,
            language=arguments.to,
            policies=tuple(dict.fromkeys(arguments.policies.replace(",", " ").split())),
            model=model,
            slot_length=card.slot_length if arguments.slot is None else arguments.slot,
            out=arguments.out,
            limit=arguments.limit,
            n_workers=arguments.workers,
        )
    except (ValueError, PolicyError) as error:
        raise UsageError(str(error)) from error
    sys.stdout.write(table(evaluate(settings)))
    return 0


def find_model(directory: Path | None, language: str) -> tuple[Path, ModelCard]:
    """Read the card of a model folder, or find the bundled model of a language.

    Raises:
        TrainingError: there is no such model.
        UsageError: the model does not know the language.
    """
    if directory is None:
        known = ((path, read_card(path)) for path in bundled_models())
        for path, card in known:
            if language in card.languages:
                return path, card
        msg = f"no bundled model translates to {language!r}: name a model folder with --model"
        raise UsageError(msg)
    try:
        card = read_card(directory)
    except ModelError as error:
        raise TrainingError(str(error)) from error
    try:
        card.language(language)
    except ModelError as error:
        raise UsageError(str(error)) from error
    return directory, card


def evaluate(settings: EvaluateSettings) -> "list[Scores]":
    """Translate the test set under every policy, write the files, return the scores.

    Raises:
        CorpusError: the test set cannot be read, or the files cannot be written.
        TrainingError: the model cannot be loaded, or a worker process died.
    """
    from training.scores import score  # noqa: PLC0415  sacreBLEU; help must not wait for it

    pairs = list(read_pairs((settings.source, settings.reference)))[: settings.limit]
    references = [pair.target for pair in pairs]
    with replacing(settings.out / "summary.json") as summary:  # tells now if it cannot be written
        done = _translate(settings, [pair.source for pair in pairs])
        scores = list["Scores"]()
        for policy in settings.policies:
            translations = sorted(done[policy], key=lambda translation: translation.index)
            _write(settings.out, policy, translations, references)
            scores.append(score(policy, translations, references, settings.language))
        content = json.dumps([asdict(one) for one in scores], indent=2)
        summary.write_text(content + "\n", encoding="utf-8")
    return scores


def translate_line(translator: "Translator", index: int, line: str) -> "Translation":
    """Feed a line word by word and record what was written when.

    Args:
        translator: with the settings to translate with.
        index: of the line.
        line: source text; an empty one gives an empty hypothesis.
    """
    from training.scores import Translation, is_spaced  # noqa: PLC0415  sacreBLEU again

    spaced = is_spaced(translator.settings.target_language)
    unit = re.compile(r"\S+" if spaced else r"\S")
    words = line.split()
    word_of_part = [n for n, word in enumerate(words, start=1) for _ in word_parts(word)]
    before = _counts(translator)
    captions, delays, ms = list[str](), list[int](), [0.0] * len(words)
    n_parts = 0  # fed in earlier utterances of the line
    for parts in cut_line(line, translator.settings.limits):
        utterance = translator.open()
        written = list[int]()  # for each character of the caption, parts read
        for n in range(1, len(parts) + 1):
            start_s = time.perf_counter()
            translator.set_source(utterance, parts[:n], ended=n == len(parts))
            for change in translator.advance(utterance):
                # the engine counts a marker that comes alone, and the pieces of a very long word
                written += [n_parts + min(change.n_read, n)] * len(change.text)
            ms[word_of_part[n_parts + n - 1] - 1] += 1000 * (time.perf_counter() - start_s)
        n_parts += len(parts)
        captions.append(" ".join(utterance.caption.split()))
        ends = (match.end() for match in unit.finditer(utterance.caption))
        delays += [word_of_part[written[end - 1] - 1] for end in ends]
    counts = [now - then for now, then in zip(_counts(translator), before, strict=True)]
    return Translation(
        index=index,
        source=tuple(words),
        hypothesis=(" " if spaced else "").join(filter(None, captions)),
        delays=tuple(delays),
        ms=tuple(round(value, 4) for value in ms),
        tokens_fed=counts[0],
        forwards=counts[1],
        tokens_recomputed=counts[2],
        probes=counts[3],
    )


def cut_line(line: str, limits: UtteranceLimits) -> list[tuple[str, ...]]:
    """List the words of a line's utterances: one utterance unless the line is over the limits."""
    words = tuple(part for word in line.split() for part in word_parts(word))
    n_bytes = sum(len(word.encode()) + 1 for word in words)
    if words and len(words) <= limits.max_words and n_bytes <= limits.max_bytes:
        return [words]
    return [sentence.words for sentence in split_sentences(words, limits, finished=True)]


def table(scores: "Sequence[Scores]") -> str:
    """Draw the scores for a terminal, with the signatures below."""
    rows: list[tuple[str, ...]] = [_COLUMNS]
    for one in scores:
        values = asdict(one)
        rows.append(tuple(_cell(values[name]) for name in _COLUMNS))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
    return "\n".join([*lines, scores[0].bleu_signature, scores[0].chrf_signature]) + "\n"


def _cell(value: str | float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _write(
    folder: Path, policy: str, translations: "Sequence[Translation]", references: Sequence[str]
) -> None:
    with replacing(folder / f"{policy}.hyp") as partial:
        text = "".join(f"{translation.hypothesis}\n" for translation in translations)
        partial.write_text(text, encoding="utf-8")
    with replacing(folder / f"{policy}.jsonl") as partial, partial.open("w", encoding="utf-8") as f:
        for translation, reference in zip(translations, references, strict=True):
            value = {**asdict(translation), "reference": reference}
            f.write(json.dumps(value, ensure_ascii=False) + "\n")


def _translate(settings: EvaluateSettings, lines: Sequence[str]) -> "dict[str, list[Translation]]":
    """Share the lines among the workers and gather what they translate, under a progress bar."""
    n_workers = min(settings.n_workers, len(lines))
    numbered = tuple(enumerate(lines))
    shares = [_Share(settings, numbered[start::n_workers]) for start in range(n_workers)]
    done: dict[str, list[Translation]] = {policy: [] for policy in settings.policies}
    total = len(lines) * len(settings.policies)
    with tqdm(total=total, unit=" lines", disable=None, leave=False) as bar:
        for message in _from_workers(shares):
            if isinstance(message, str):
                raise TrainingError(message)
            policy, translation = message
            done[policy].append(translation)
            bar.set_postfix_str(policy, refresh=False)
            bar.update()
    return done


def _from_workers(shares: Sequence[_Share]) -> Iterator[_Message]:
    """Start a process for each share and pass on what it sends; end them all at the end."""
    context = multiprocessing.get_context("spawn")
    workers: dict[Connection[None, _Message], SpawnProcess] = {}
    try:
        for share in shares:
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(share, sender), daemon=True)
            process.start()
            sender.close()  # the child has its own: when that closes, the receiver tells the end
            workers[receiver] = process
        while workers:
            ready = wait(list(workers))
            for receiver in [one for one in workers if one in ready]:
                try:
                    yield receiver.recv()
                except EOFError:
                    _join(workers.pop(receiver))
    finally:
        for process in workers.values():
            process.terminate()
            process.join()


def _join(process: SpawnProcess) -> None:
    process.join()
    if process.exitcode:
        msg = f"a worker process died (exit code {process.exitcode}): try again with --workers 1"
        raise TrainingError(msg)


def _work(share: _Share, sender: "Connection[_Message, None]") -> None:
    """Be a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the parent, which ends its workers
    with sender, suppress(BrokenPipeError):  # the parent was killed: nobody listens any more
        try:
            for message in _translations(share):
                sender.send(message)
        except SurtitleError as error:
            sender.send(str(error))


def _translations(share: _Share) -> "Iterator[tuple[str, Translation]]":
    """Load the model and translate a share, policy by policy."""
    import torch  # noqa: PLC0415  seconds, and only workers need it

    from engine.model import load_weights  # noqa: PLC0415
    from engine.translator import Translator  # noqa: PLC0415

    torch.set_num_threads(1)
    settings = share.settings
    weights = load_weights(ModelSettings(directory=settings.model, device="cpu"))
    translations = [
        TranslationSettings(
            target_language=settings.language,
            policy=policy,
            layout=LayoutSettings(slot_length=settings.slot_length),
        )
        for policy in settings.policies
    ]
    translator = Translator(weights, translations[0], capacity=_CAPACITY)
    for translation in translations:
        translator.configure(translation)
        # The first translation pays for first use and for the system prompt: it is not counted.
        translate_line(translator, -1, "Hello.")
        for index, line in share.lines:
            yield translation.policy, translate_line(translator, index, line)


def _counts(translator: "Translator") -> tuple[int, int, int, int]:
    model, counters = translator.model, translator.counters
    return model.tokens_fed, model.forwards, counters.tokens_recomputed, counters.probes
