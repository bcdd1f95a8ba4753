import json

import pytest

from benchmarks.methods import SYSTEMS, run_folder, table

SEEDS = ("1", "2", "3")


@pytest.fixture
def runs(tmp_path):
    """Three seeds of one system, as ``evaluate`` writes them."""
    for seed, bleu in zip(SEEDS, (11.0, 12.5, 15.5), strict=True):
        folder = run_folder(tmp_path, SYSTEMS[0], seed)
        folder.mkdir()
        score = {"policy": "wait:3", "bleu": bleu, "laal": bleu - 9, "tokens_recomputed": 4}
        (folder / "summary.json").write_text(json.dumps([score]))
        (folder / "wait:3.jsonl").write_text('{"flops": 1e9}\n{"flops": 3e9}\n')
    return tmp_path


def test_seeds_are_averaged_and_their_range_is_shown(runs):
    row = table(runs, SYSTEMS[:1], ["wait:3"], SEEDS).splitlines()[-1]
    assert row == "| ExPosST | 13.0 (11.0-15.5) / 4.00 | 1.00 2.00 3.00 | 4 |"


def test_one_seed_has_no_range(runs):
    row = table(runs, SYSTEMS[:1], ["wait:3"], SEEDS[:1]).splitlines()[-1]
    assert row == "| ExPosST | 11.0 / 2.00 | 0.50 2.00 3.50 | 4 |"
