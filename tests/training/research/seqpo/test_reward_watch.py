"""The best step is kept and a run that harms is ended, by dev sets that are given."""

from dataclasses import replace

import pytest
import torch

from engine.metrics.event_log import Translation
from tests.support.training_runs import pair_lines
from training.research.seqpo import RewardSettings, SeqpoSettings, open_reward_watch
from training.settings import DevSettings
from training.trainer.checkpoint import Counters, save_checkpoint
from training.trainer.processes import OneProcess

ALONE = OneProcess(torch.device("cpu"))


class Said:
    """Says the references, or the reversed ones, so many words late."""

    def __init__(self, references):
        self.references = references
        self.late = 2
        self.wrong = False

    def __call__(self, sources, _language, _policy):
        return [self._say(number, source) for number, source in sources.items()]

    def _say(self, index, source):
        words = source.split()
        said = self.references[source].split()
        delays = tuple(min(n + self.late, len(words)) for n in range(len(said)))
        hypothesis = " ".join(said)[:: -1 if self.wrong else 1]
        return translation(index, words, hypothesis, delays)


def translation(index, words, hypothesis, delays):
    counts = dict.fromkeys(
        ("tokens_fed", "tokens_recomputed", "forwards", "probes", "flops", "n_erased",
         "n_cut", "peak_memory_bytes"), 0,
    )  # fmt: skip
    return Translation(
        index=index, source=tuple(words), hypothesis=hypothesis, delays=delays,
        ms=(0.0,) * len(words), emitted_ms=(0.0,) * len(delays), token_ms=(), **counts,
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


def opened(settings, step):
    """The watch of a run that goes on from a step."""
    network = torch.nn.Linear(1, 1)
    counters = Counters(step=step)
    save_checkpoint(
        settings.out / "checkpoint", network, torch.optim.SGD(network.parameters()), counters
    )
    return open_reward_watch(settings, "")


def look(watch, step, said):
    return watch.look(step, said, ALONE)[1]


def test_a_run_ends_when_the_dev_score_falls_and_not_before(settings, said):
    watch = opened(settings, 0)
    look(watch, 0, said)
    assert not look(watch, 5, said)
    assert not watch.reason
    said.wrong = True
    assert not look(watch, 10, said)
    assert watch.reason.startswith("chrF fell from 100.0 at the start to ")
    later = opened(replace(settings, seqpo=replace(settings.seqpo, max_fall=99.9)), 10)
    assert not later.reason  # as far as it may


def test_the_best_step_has_most_chrf_less_the_price_of_lagging(settings, said):
    watch = opened(settings, 0)
    said.late = 3
    assert not look(watch, 0, said)  # the start is no step of the run
    said.late = 2
    assert look(watch, 5, said)
    assert watch.is_better
    assert watch.scores[0].laal < 3
    said.late = 3
    assert not look(watch, 10, said)
    said.late = 1
    assert look(watch, 15, said)
    dear = opened(replace(settings, seqpo=replace(settings.seqpo, lag_price=-2.0)), 15)
    assert not dear.is_better  # were lagging worth something, the start would be best
