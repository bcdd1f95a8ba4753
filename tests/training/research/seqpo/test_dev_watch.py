"""The best step is kept and a run that harms is ended, by dev sets that are given."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from engine.metrics.translation import Translation
from tests.support.finetune_runs import pair_lines
from training.research.seqpo.dev_watch import DevWatch
from training.research.seqpo.settings import RewardSettings, SeqpoSettings
from training.settings import DevSettings
from training.trainer.distributed import OneProcess

ALONE = OneProcess(torch.device("cpu"))


class Said:
    """Rollouts that say the references, or the reversed ones, so many words late."""

    def __init__(self, references):
        self.references = references
        self.late = 2
        self.wrong = False

    def sample(self, requests):
        assert all(request.seed is None for request in requests), (
            "the dev sets are decoded greedily"
        )
        return [SimpleNamespace(translation=self._say(request.source)) for request in requests]

    def _say(self, source):
        words = source.split()
        said = self.references[source].split()
        delays = tuple(min(n + self.late, len(words)) for n in range(len(said)))
        hypothesis = " ".join(said)[:: -1 if self.wrong else 1]
        return translation(words, hypothesis, delays)


def translation(words, hypothesis, delays):
    counts = dict.fromkeys(
        ("index", "tokens_fed", "tokens_recomputed", "forwards", "probes", "flops", "n_erased",
         "n_cut", "peak_memory_bytes"), 0,
    )  # fmt: skip
    return Translation(
        source=tuple(words), hypothesis=hypothesis, delays=delays, ms=(0.0,) * len(words),
        emitted_ms=(0.0,) * len(delays), token_ms=(), **counts,
    )  # fmt: skip


@pytest.fixture
def settings(tmp_path):
    columns = [line.split("\t") for line in pair_lines(8, seed=9)]
    paths = (tmp_path / "dev.en", tmp_path / "dev.de")
    for number, path in enumerate(paths):
        path.write_text("".join(line[number] + "\n" for line in columns), encoding="utf-8")
    (tmp_path / "data.tsv").touch()
    return RewardSettings(
        data={"de": tmp_path / "data.tsv"},
        out=tmp_path / "out",
        base="any",
        dev=DevSettings(sets={"de": paths}, policies=("read:2",), every_steps=5),
        seqpo=SeqpoSettings(steps=20, max_fall=1.0, max_empty=0.6, lag_price=2.0),
    )


@pytest.fixture
def said(settings):
    source, reference = (
        path.read_text(encoding="utf-8").splitlines() for path in settings.dev.sets["de"]
    )
    return Said(dict(zip(source, reference, strict=True)))


def test_a_run_ends_when_the_dev_score_falls_and_not_before(settings, said):
    watch = DevWatch(settings, 0)
    watch.look(0, said, ALONE)
    assert not watch.look(5, said, ALONE)
    assert not watch.over
    said.wrong = True
    assert not watch.look(10, said, ALONE)
    assert watch.reason.startswith("chrF fell from 100.0 at the start to ")
    later = DevWatch(replace(settings, seqpo=replace(settings.seqpo, max_fall=99.9)), 10)
    assert not later.over  # as far as it may


def test_a_run_ends_when_most_writes_are_empty(settings):
    watch = DevWatch(settings, 0)
    watch.note_empty(0.6)
    assert not watch.over
    watch.note_empty(0.61)
    assert watch.reason == "61% of the writes are empty, and 60% are the most"
    settings.out.mkdir()
    steps = [json.dumps({"step": n, "empty_writes": 0.5 + n / 20}) + "\n" for n in (1, 2, 3)]
    (settings.out / "steps.jsonl").write_text("".join(steps), encoding="utf-8")
    assert DevWatch(settings, 3).over  # a run that has ended is not taken up again
    assert not DevWatch(settings, 2).over


def test_the_best_step_has_most_chrf_less_the_price_of_lagging(settings, said):
    watch = DevWatch(settings, 0)
    said.late = 3
    assert not watch.look(0, said, ALONE)  # the start is no step of the run
    said.late = 2
    assert watch.look(5, said, ALONE)
    assert watch.is_better
    assert watch.scores[0].laal < 3
    said.late = 3
    assert not watch.look(10, said, ALONE)
    said.late = 1
    assert watch.look(15, said, ALONE)
    dear = DevWatch(replace(settings, seqpo=replace(settings.seqpo, lag_price=-2.0)), 15)
    assert not dear.is_better  # were lagging worth something, the start would be best


def test_a_resumed_run_reads_the_decodings_up_to_its_checkpoint(settings, said):
    watch = DevWatch(settings, 0)
    watch.look(0, said, ALONE)
    said.late = 1
    watch.look(5, said, ALONE)
    said.wrong = True
    watch.look(10, said, ALONE)
    assert DevWatch(settings, 10).reason == watch.reason != ""
    earlier = DevWatch(settings, 9)  # a run that goes back to step 9 decodes step 10 again
    assert (earlier.over, earlier.is_better, earlier.scores) == (False, True, watch.scores)
    assert not DevWatch(settings, 10).over
    n_lines = len((settings.out / "dev.jsonl").read_text(encoding="utf-8").splitlines())
    assert not earlier.look(0, said, ALONE)  # the start is decoded once
    assert len((settings.out / "dev.jsonl").read_text(encoding="utf-8").splitlines()) == n_lines
