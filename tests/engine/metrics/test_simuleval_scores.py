"""Our figures against SimulEval's own, on sentences drawn at random.

``simuleval_scores.json`` holds figures alone, which SimulEval 1.1.4 made of sentences that a seed
drew; the script is in git (``scripts/simuleval-scores`` of 68d95e61).
"""

import json
from pathlib import Path

import pytest

from engine.metrics.latency import (
    average_lagging,
    average_proportion,
    average_token_delay,
    differentiable_average_lagging,
    end_offset,
    length_adaptive_average_lagging,
    start_offset,
)

CASES = json.loads(Path(__file__).with_name("simuleval_scores.json").read_text())


def scores(delays, source_length, reference_length):
    return {
        "AL": average_lagging(delays, source_length, reference_length),
        "LAAL": length_adaptive_average_lagging(delays, source_length, reference_length),
        "AP": average_proportion(delays, source_length, reference_length),
        "DAL": differentiable_average_lagging(delays, source_length),
    }


def ours(case):
    lengths = case["source_length"], case["reference_length"]
    delays, elapsed = case["delays"], case.get("elapsed")
    tokens = {"source_token": 300, "target_token": 0} if elapsed else {}  # as SimulEval does
    plain = scores(delays, *lengths) | {
        "ATD": average_token_delay(delays, **tokens),
        "StartOffset": start_offset(delays),
        "EndOffset": end_offset(delays, lengths[0]),
    }
    if not elapsed:
        return plain
    return plain | {f"{name}_CA": score for name, score in scores(elapsed, *lengths).items()}


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_our_score_is_that_of_simuleval(case):
    given = {"delays", "elapsed", "source_length", "reference_length", "ATD_CA"}  # not ours
    expected = {name: value for name, value in case.items() if name not in given}
    assert ours(case) == pytest.approx(expected, abs=1e-6)


def test_the_sentences_are_many_and_odd():
    spoken = [case for case in CASES if "elapsed" in case]
    assert len(CASES) - len(spoken) >= 40
    assert len(spoken) >= 20
    assert any(len(case["delays"]) > 2 * case["reference_length"] for case in CASES)
    assert any(2 * len(case["delays"]) < case["reference_length"] for case in CASES)
    assert any(case["delays"][0] > case["source_length"] for case in CASES)
    assert any(case["delays"][0] == 0 for case in CASES)
