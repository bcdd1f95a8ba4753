import functools
import math
import random

import pytest
import torch

from engine.settings import LayoutSettings
from tests.support.fakes import tiny_weights
from tests.support.training_runs import write_dev
from training.errors import TrainingError
from training.settings import DevSettings
from training.trainer.dev_watch import DevScore, DevWatch, best_bleu, decode, read_sets
from training.trainer.finetuning import translate
from training.trainer.processes import OneProcess

ALONE = OneProcess(torch.device("cpu"))


def dev_score(policy, bleu, laal, language="de"):
    return DevScore(language=language, policy=policy, bleu=bleu, laal=laal, lines=1, signature="s")


def watching(tmp_path, monkeypatch, bleus, **changes):
    """A watch whose decodings give these BLEUs."""
    ahead = iter(bleus)
    monkeypatch.setattr(
        "training.trainer.dev_watch.decode", lambda *_: [dev_score("read:3", next(ahead), 2.0)]
    )
    return opened(tmp_path, settings(tmp_path, **changes))


def opened(out, settings, last_step=0):
    return DevWatch(out, settings, last_step, functools.partial(best_bleu, max_laal=0))


def settings(tmp_path, **changes):
    source, reference = write_dev(tmp_path).removeprefix("de=").split(",")
    values = {"sets": {"de": (tmp_path / source, tmp_path / reference)}, "every_steps": 10}
    return DevSettings(**(values | changes))


def look(watch, step):
    return watch.look(step, None, ALONE)[1]


def test_the_measure_is_the_best_bleu_that_lags_no_more_than_asked():
    scores = [dev_score("read:1", 10, 1.0), dev_score("read:3", 20, 2.5), dev_score("off", 30, 9)]
    assert [best_bleu(scores, bound) for bound in (0, 9, 8.9, 2.5, 2.4, 1)] == [
        30, 30, 20, 20, 10, 10,
    ]  # fmt: skip
    assert best_bleu(scores, 0.9) == -math.inf


def test_the_best_step_is_known_and_patience_ends(tmp_path, monkeypatch):
    watch = watching(tmp_path, monkeypatch, [5, 4, 6, 6, 3], patience=2)
    found = [(look(watch, step), bool(watch.reason)) for step in (10, 20, 30, 40, 50)]
    assert found == [(True, False), (False, False), (True, False), (False, False), (False, True)]
    assert watch.scores[0].bleu == 6


def test_a_run_that_goes_on_knows_what_it_knew(tmp_path, monkeypatch):
    rng = random.Random(0)
    for _ in range(20):
        bleus = [rng.randint(0, 9) for _ in range(6)]
        whole = watching(tmp_path, monkeypatch, bleus, patience=3)
        states = []
        for step in range(10, 70, 10):
            look(whole, step)
            states.append((whole.scores, whole.reason))
        for last_step in (65, 60, 40, 10):  # what is behind a checkpoint is forgotten
            path = tmp_path / "dev.jsonl"
            again = opened(tmp_path, settings(tmp_path, patience=3), last_step)
            assert (again.scores, again.reason) == states[last_step // 10 - 1]
            assert len(path.read_text().splitlines()) == last_step // 10
        path.unlink()


def test_a_line_that_cannot_be_written_is_one_sentence(tmp_path, monkeypatch):
    watch = watching(tmp_path, monkeypatch, [5])
    (tmp_path / "dev.jsonl").mkdir()
    with pytest.raises(TrainingError, match=r"dev.jsonl cannot be written \(Is a directory\)"):
        look(watch, 10)


def test_a_set_is_decoded_by_the_translator_and_training_goes_on(tmp_path):
    weights = tiny_weights(torch.float32, seed=5)
    weights.network.train()
    sets = read_sets(settings(tmp_path, limit=2))
    by_engine = functools.partial(translate, weights, LayoutSettings())
    scores = list(decode(sets, ["read:2", "offline"], by_engine, ALONE))
    assert [(one.policy, one.language, one.lines) for one in scores] == [
        ("read:2", "de", 2), ("offline", "de", 2),
    ]  # fmt: skip
    assert scores[0].laal < scores[1].laal
    assert weights.network.training
    weights.network.eval()
