import random
from types import SimpleNamespace

import pytest

from benchmarks import when_to_write
from benchmarks.when_to_write import Comparison, nested_boundaries
from engine.models.fingerprint import read_fingerprint
from tests.support.adapter_folders import factors, tiny_card, write_adapter
from tests.support.fakes import save_graph_model
from tests.support.run_folders import work_here
from tests.support.training_runs import write_dev
from training.evaluation.run_record import read_record

REFERENCES = ["the cat sat on the mat today", "a dog ran over the green hill"] * 20


def test_boundaries_far_apart_are_among_the_nearer_ones():
    rng = random.Random(0)
    for _ in range(100):
        n_source = rng.randint(1, 30)
        needs = sorted(rng.randint(1, n_source) for _ in range(rng.randint(1, 30)))
        levels = {apart: nested_boundaries(needs, apart) for apart in (1, 2, 4, 8)}
        assert levels[1] == tuple(sorted(set(needs)))
        for apart, kept in levels.items():
            steps = [b - a for a, b in zip((0, *kept), kept, strict=False)]
            assert all(step >= apart for step in steps)
            assert set(kept) <= set(levels[max(1, apart // 2)])
    assert nested_boundaries((1, 2, 3, 5, 6, 9), 2) == (2, 5, 9)


def result(laal, hypotheses):
    return SimpleNamespace(laal=laal, hypotheses=hypotheses)


def damaged(n_lines):
    """The references, some of them without their words: BLEU falls with every one."""
    return ["nothing"] * n_lines + REFERENCES[n_lines:]


def test_bleu_is_compared_with_the_line_between_the_neighbouring_points():
    fixed = [result(1.0, damaged(20)), result(2.0, damaged(10)), result(4.0, damaged(0))]
    compared = Comparison(fixed, REFERENCES, "en")
    points = [drawn[0] for drawn in compared._points]
    assert points[0] < points[1] < points[2] == pytest.approx(100)
    for laal, line in (
        (1.0, points[0]),
        (2.0, points[1]),
        (1.5, (points[0] + points[1]) / 2),
        (2.5, (3 * points[1] + points[2]) / 4),
    ):
        gain, _ = compared.gain(result(laal, REFERENCES))
        assert float(gain) == pytest.approx(points[2] - line, abs=0.006)
    seeds = compared.gain(result(1.2, REFERENCES), result(1.8, damaged(10)))
    assert float(seeds[0]) == pytest.approx((points[2] - points[0]) / 2, abs=0.006)
    assert compared.gain(result(0.9, REFERENCES)) == ("", "")
    assert compared.gain(result(4.1, REFERENCES)) == ("", "")
    assert compared.gain(result(float("nan"), REFERENCES)) == ("", "")


def test_a_line_leaves_out_policies_that_wrote_nothing_and_needs_two_points():
    silent = result(float("nan"), damaged(40))
    points = [result(2.0, damaged(10)), silent, result(1.0, damaged(20))]
    gain, _ = Comparison(points, REFERENCES, "en").gain(result(1.5, REFERENCES))
    plain, _ = Comparison([points[2], points[0]], REFERENCES, "en").gain(result(1.5, REFERENCES))
    assert gain == plain != ""
    assert Comparison(points[:2], REFERENCES, "en").gain(result(2.0, REFERENCES)) == ("", "")


@pytest.mark.slow
def test_further_adapters_are_decoded_and_compared_with_both_lines(tmp_path, monkeypatch, capsys):
    work_here(monkeypatch)
    base = save_graph_model(tmp_path / "base")
    fingerprint = read_fingerprint(base)
    for index, layout in enumerate(("slots", "interleaved")):
        tensors = factors(fingerprint, scale=0.1 + index / 5)
        write_adapter(
            tmp_path / layout,
            fingerprint,
            tensors=tensors,
            card=tiny_card(fingerprint, layout=layout),
        )
    write_dev(tmp_path, 4)
    when_to_write.main(
        ["--source", str(tmp_path / "dev.en"), "--reference", str(tmp_path / "dev.de"),
         "--model", str(base), "--adapter", str(tmp_path / "slots"), "--out", str(tmp_path / "out"),
         "--n", "1", "3", "--taus", "0", "0.5", "--deltas", "-1",
         "--also", f"EAST={tmp_path / 'interleaved'}", "--apart"]
    )  # fmt: skip
    lines = capsys.readouterr().out.strip().splitlines()
    names = [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]]
    own = ["adaptive:0", "adaptive:0.5"]
    assert names == ["read:1", "read:3", *own, "lsg:-1.0", *(f"EAST, {one}" for one in own)]
    by_name = dict(zip(names, (line.split(" | ")[1:4] for line in lines[2:]), strict=True))
    assert by_name["lsg:-1.0"] == by_name["read:1"] != by_name["read:3"]
    assert all(line.count(" | ") == lines[0].count(" | ") for line in lines[2:])
    record = read_record(tmp_path / "out" / "EAST")
    assert (record.layout, read_record(tmp_path / "out").layout) == ("interleaved", "slots")


def test_a_difference_of_few_sentences_is_not_significant_and_one_of_many_is():
    compared = Comparison([result(1.0, damaged(20)), result(2.0, damaged(20))], REFERENCES, "en")
    assert compared.gain(result(1.5, damaged(20))) == ("+0.00", "1.000")
    assert float(compared.gain(result(1.5, damaged(0)))[1]) < 0.05
    assert float(compared.gain(result(1.5, damaged(19)))[1]) > 0.05
