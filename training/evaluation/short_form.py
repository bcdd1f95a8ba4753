"""Measure a model on a test set: translate it live, replay the logs, score, write the run folder.

Files in the run folder, for each policy:

* ``log/POLICY.N.jsonl``: the event logs, the only source of all that follows; see
  ``engine.metrics.event_log`` for their schema. A run that was killed goes on from them.
* ``POLICY.hyp``: the hypotheses, a line for a line of the source.
* ``POLICY.jsonl``: an object for each line, the fields of ``Translation`` and the reference.

And for all of them ``run.json`` (what was run), ``summary.json`` (a list of ``Scores``) and
``quality_latency.png`` (BLEU over LAAL).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from engine.metrics.translation import Translation
from engine.settings import LayoutSettings, TranslationSettings, at_least
from training.data.corpus import SentencePair, read_pairs, replacing, write_lines
from training.evaluation.model_choice import measured_model
from training.evaluation.run_record import RunRecord, check_run
from training.evaluation.workers import Job, Setup, read_translations, translate

if TYPE_CHECKING:
    from training.metrics.scores import Scores

SYSTEMS = ("slots", "retranslate")
"""Those of ``engine.translation.factory``, whose import takes seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateSettings:
    """What one run translates, how, and where its files go."""

    source: Path
    reference: Path
    language: str  # two-letter code of the target
    policies: tuple[str, ...]
    model: Path
    layout: LayoutSettings
    out: Path
    adapter: Path | None = None
    system: str = "slots"
    device: str = "cpu"
    limit: int | None = None  # lines from the start of the files; None takes all
    n_workers: int = 1
    cut_loops: bool = False

    def __post_init__(self) -> None:
        check_run(self.policies, self.limit)
        if self.system not in SYSTEMS:
            msg = f"--system is one of {', '.join(SYSTEMS)}, got {self.system!r}"
            raise ValueError(msg)
        at_least("--workers", self.n_workers, 1)
        self.setup()  # checks the rest

    def setup(self) -> Setup:
        """Say how lines are translated, to the workers."""
        return Setup(
            system=self.system,
            model=measured_model(self.model, self.adapter, self.device),
            translation=TranslationSettings(
                target_language=self.language,
                layout=self.layout,
                cut_loops=self.cut_loops,
            ),
            log_folder=self.out / "log",
        )

    def record(self) -> RunRecord:
        """Say what decides the translations.

        Raises:
            TrainingError: a file cannot be read.
        """
        setup = self.setup()
        return RunRecord.of(
            self.system, setup.model, setup.translation, self.source, self.reference
        )


def evaluate(settings: EvaluateSettings) -> "list[Scores]":
    """Translate what no log holds yet, write the files, return the scores.

    Raises:
        CorpusError: the test set cannot be read, or the files cannot be written.
        TrainingError: the model cannot be loaded, a worker died, the folder holds another run, or
            matplotlib is missing for the picture; all else is written then.
    """
    from training.metrics.scores import score  # noqa: PLC0415  sacreBLEU; help must not wait for it

    pairs = list(read_pairs((settings.source, settings.reference)))[: settings.limit]
    settings.record().claim(settings.out)
    with replacing(settings.out / "summary.json") as summary:  # tells now if it cannot be written
        _translate(settings, pairs)
        scores = list["Scores"]()
        for policy in settings.policies:
            translations = read_translations(settings.out, policy)
            ordered = [translations[index] for index in range(len(pairs))]
            references = [pair.target for pair in pairs]
            _write(settings.out, policy, ordered, references)
            scores.append(score(policy, settings.system, ordered, references, settings.language))
        content = json.dumps([one.row() for one in scores], indent=2)
        summary.write_text(content + "\n", encoding="utf-8")
    _draw(settings, scores)  # last: all numbers are kept where the library for pictures is missing
    return scores


def _draw(settings: EvaluateSettings, scores: "Sequence[Scores]") -> None:
    from training.plots.quality_latency import Curve, Point, draw  # noqa: PLC0415  help must not wait for it

    points = tuple(
        Point(one.policy, None if one.laggings is None else one.laggings.laal, one.quality.bleu)
        for one in scores
    )
    draw([Curve(settings.out.name, points)], settings.out / "quality_latency.png")


def _translate(settings: EvaluateSettings, pairs: Sequence[SentencePair]) -> None:
    """Translate the lines that are missing, under a progress bar."""
    jobs = list[Job]()
    for policy in settings.policies:
        done = read_translations(settings.out, policy)
        jobs += [
            (policy, index, pair.source) for index, pair in enumerate(pairs) if index not in done
        ]
    if not jobs:
        return
    total = len(pairs) * len(settings.policies)
    with tqdm(
        total=total, initial=total - len(jobs), unit=" lines", disable=None, leave=False
    ) as bar:
        for policy in translate(settings.setup(), jobs, settings.n_workers):
            bar.set_postfix_str(policy, refresh=False)
            bar.update()


def _write(
    folder: Path, policy: str, translations: Sequence[Translation], references: Sequence[str]
) -> None:
    write_lines(folder / f"{policy}.hyp", [one.hypothesis for one in translations])
    rows = [
        {**asdict(translation), "reference": reference}
        for translation, reference in zip(translations, references, strict=True)
    ]
    write_lines(folder / f"{policy}.jsonl", [json.dumps(row, ensure_ascii=False) for row in rows])
