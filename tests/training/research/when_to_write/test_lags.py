import itertools
import random
from dataclasses import replace

import pytest

from engine.models.adapters.adapter import Status, inspect_adapter
from engine.models.adapters.card import read_adapter_card
from engine.models.adaptive_card import AdaptiveCard
from engine.models.model_card import read_card
from tests.support.adapter_folders import write_adapter
from tests.support.run_folders import references, translations, write_run
from training.errors import TrainingError
from training.evaluation.runs import read_run
from training.research.__main__ import main
from training.research.when_to_write import measured_lags, rising
from training.trainer.tokenizer import make_card

pytestmark = pytest.mark.usefixtures("papers")


def measured(folder, late_by_policy, n_lines=30, **changes):
    rng = random.Random(0)
    wanted = references(rng, n_lines)
    policies = {
        policy: translations(rng, wanted, wrong=0.1, late=late)
        for policy, late in late_by_policy.items()
    }
    write_run(folder, policies, wanted, **changes)
    return read_run(folder)


def test_values_that_never_fall_stay_and_others_are_pooled():
    assert rising([1.0, 2.0, 2.5]) == [1.0, 2.0, 2.5]
    assert rising([1.0, 3.0, 2.0, 4.0]) == [1.0, 2.5, 2.5, 4.0]
    assert rising([3.0, 2.0, 1.0]) == [2.0, 2.0, 2.0]


def test_no_other_rising_values_are_nearer():
    steps = [n / 4 for n in range(13)]
    for seed in range(5):
        values = [random.Random(f"{seed} {n}").uniform(0, 3) for n in range(4)]
        found = rising(values)
        assert found == sorted(found)

        def far(line, values=values):
            return sum((a - b) ** 2 for a, b in zip(line, values, strict=True))

        others = itertools.combinations_with_replacement(steps, 4)
        assert far(found) <= min(map(far, others)) + 1e-12


def test_the_lag_of_a_tau_is_the_mean_over_all_lines_of_all_runs(tmp_path):
    one = measured(tmp_path / "one", {"adaptive:0.1": 0, "adaptive:0.5": 2, "read:3": 1}, 10)
    two = measured(tmp_path / "two", {"adaptive:0.1": 1, "adaptive:0.5": 3, "adaptive:0.9": 4}, 30)
    lags = measured_lags([one, two])
    assert list(lags) == ["0.1", "0.5"]
    for tau, lag in lags.items():
        laals = [run.policies[f"adaptive:{tau}"].scores.laal for run in (one, two)]
        assert lag == pytest.approx((10 * laals[0] + 30 * laals[1]) / 40, abs=0.006)


def test_runs_without_two_values_of_tau_are_refused(tmp_path):
    run = measured(tmp_path / "one", {"adaptive:0.1": 0, "adaptive:0.5:3": 1, "read:3": 1})
    with pytest.raises(TrainingError, match="at least 2 policies adaptive:TAU in common, got 1"):
        measured_lags([run])


def test_the_lags_stand_on_the_card_beside_the_head(tmp_path, capsys):
    card = make_card(name="tiny", languages=["de"], slot_length=16, policies=["read:3"])
    head = AdaptiveCard(head_sha256="0f" * 32, lags={"0.7": 9.0})
    replace(card, adaptive=head).save(tmp_path)
    run = measured(tmp_path / "run", {"adaptive:0.1": 0, "adaptive:0.5": 2})
    command = ["calibrate-lag", "--model", str(tmp_path), "--run", str(tmp_path / "run")]
    assert main(command) == 0
    found = read_card(tmp_path).adaptive
    assert found == AdaptiveCard(head_sha256="0f" * 32, lags=measured_lags([run]))
    assert f"{found.lags['0.5']:.2f}  words behind with adaptive:0.5" in capsys.readouterr().out


def test_a_run_of_the_bare_model_does_not_calibrate_an_adapter(tmp_path, capsys):
    folder = write_adapter(tmp_path / "adapter")
    measured(tmp_path / "run", {"adaptive:0.1": 0, "adaptive:0.5": 2})
    command = ["calibrate-lag", "--adapter", str(folder), "--run", str(tmp_path / "run")]
    assert main(command) == 2
    assert "is a run of the bare model: name runs of what is calibrated" in capsys.readouterr().err
    assert read_adapter_card(folder).adaptive is None


def test_the_lags_stand_on_the_card_of_an_adapter(tmp_path):
    folder = write_adapter(tmp_path / "adapter")
    policies = {"adaptive:0.1": 0, "adaptive:0.5": 2}
    run = measured(tmp_path / "run", policies, adapter_sha256="a")
    assert main(["calibrate-lag", "--adapter", str(folder), "--run", str(tmp_path / "run")]) == 0
    assert read_adapter_card(folder).adaptive.lags == measured_lags([run])
    assert inspect_adapter(folder).status is Status.OK
