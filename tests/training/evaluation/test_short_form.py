"""Test how a test set is translated live by workers, scored, and gone on with."""

import json

import pytest

from engine.metrics.event_log import EventLog, read_events, replay
from engine.metrics.latency import average_lagging
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import WARM_UP, feed_line
from engine.translation.slot_translator import Translator
from tests.support.run_folders import (
    evaluate,
    summary_of,
    work_here,
    write_test_set,
)
from training.evaluation import short_form as workers
from training.research.__main__ import main as research

pytestmark = pytest.mark.usefixtures("papers")

POLICIES = ("read:3", "wait:2", "offline")


FIELDS = [
    "policy", "system", "bleu", "bleu_signature", "chrf", "chrf_signature", "al", "laal", "ap",
    "dal", "atd", "start_offset", "end_offset", "laal_ca", "laal_ca_simuleval",
    "normalised_erasure", "ms_per_token_p50", "ms_per_token_p95", "ms_per_word_p50",
    "ms_per_word_p95", "ms_per_word_mean", "tokens_fed", "tokens_recomputed", "forwards", "probes",
    "gflops_per_sentence", "peak_memory_mib", "n_sentences", "n_empty",
    "n_degenerate", "lag_s_p50", "lag_s_p95",
]  # fmt: skip


TIMES = [name for name in FIELDS if name.startswith(("ms_", "laal_ca", "peak_"))]


@pytest.fixture
def files(tmp_path):
    return write_test_set(tmp_path)


@pytest.fixture
def in_process(monkeypatch):
    work_here(monkeypatch)


def lines_of(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def rows_of(path):
    return [json.loads(row) for row in lines_of(path)]


def without_times(out):
    """All that two runs of the same must have in common."""
    times = {"emitted_ms", "ms", "token_ms", "peak_memory_bytes"}
    translations = {
        policy: [
            {name: value for name, value in row.items() if name not in times}
            for row in rows_of(out / f"{policy}.jsonl")
        ]
        for policy in POLICIES
    }
    scores = [
        {name: value for name, value in one.items() if name not in TIMES} for one in summary_of(out)
    ]
    return translations, scores, [(out / f"{policy}.hyp").read_text() for policy in POLICIES]


def fed_alone(model, policy, sources, folder):
    """Translate the lines one after the other in one process, without the command."""
    with EventLog(folder / f"alone.{policy}.jsonl") as log:
        settings = TranslationSettings(policy=policy, cut_loops=False)
        system = Translator(load_weights(ModelSettings(directory=model)), settings, log=log)
        feed_line(system, log, WARM_UP, "Hello.")
        for index, line in enumerate(sources):
            feed_line(system, log, index, line)
    return list(replay(read_events(folder / f"alone.{policy}.jsonl")))


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
def test_a_test_set_is_translated_written_and_scored(tmp_path, files, tiny, capsys):
    out = tmp_path / "deep" / "out"
    assert evaluate(files, tiny, out, "--workers", "2") == 0
    assert {path.name for path in out.iterdir()} == {
        "log", "run.json", "summary.json",
        *(f"{p}.{end}" for p in POLICIES for end in ("hyp", "jsonl")),
    }  # fmt: skip
    summary = summary_of(out)
    assert [one["policy"] for one in summary] == list(POLICIES)
    sources, references = map(lines_of, files)
    for scores in summary:
        policy = scores["policy"]
        assert list(scores) == FIELDS
        alone = fed_alone(tiny, policy, sources, tmp_path)
        hypotheses = lines_of(out / f"{policy}.hyp")
        assert hypotheses == [one.hypothesis for one in alone]  # two workers say what one says
        rows = rows_of(out / f"{policy}.jsonl")
        assert [row["delays"] for row in rows] == [list(one.delays) for one in alone]
        assert [row["reference"] for row in rows] == references
        assert scores["tokens_fed"] == sum(one.tokens_fed for one in alone)
        assert scores["gflops_per_sentence"] * 5e9 == pytest.approx(sum(o.flops for o in alone))
        assert scores["tokens_recomputed"] == scores["normalised_erasure"] == 0
        assert (scores["n_sentences"], scores["n_empty"]) == (5, hypotheses.count(""))
        laggings = [
            average_lagging(row["delays"], len(row["source"]), len(row["reference"].split(" ")))
            for row in rows
            if row["delays"]
        ]
        assert scores["al"] == pytest.approx(sum(laggings) / len(laggings))
        assert scores["laal_ca"] >= scores["laal"]
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].split()[:3] == ["policy", "bleu", "chrf"]
    assert "tok:13a" in printed


@pytest.mark.usefixtures("in_process")
def test_seconds_are_told_where_words_have_times_and_words_of_a_moment_come_together(
    tmp_path, files, tiny
):
    times = tmp_path / "times"
    words = [len(line.split()) for line in lines_of(files[0])]
    times.write_text("".join(" ".join(["1.0:3.5"] * n) + "\n" for n in words))
    at_once, one_by_one = tmp_path / "at-once", tmp_path / "one-by-one"
    evaluate(files, tiny, at_once, "--arrivals", str(times), "--batch", "2", "--workers", "1")
    evaluate(files, tiny, one_by_one, "--workers", "1")
    for together, alone in zip(summary_of(at_once), summary_of(one_by_one), strict=True):
        assert (together["lag_s_p50"], together["lag_s_p95"]) == (2.5, 2.5)
        assert alone["lag_s_p50"] is alone["lag_s_p95"] is None
        assert (together["laal"] > alone["laal"]) is (together["policy"] != "offline")
    times.write_text(times.read_text().replace("3.5", "4.5"))
    assert evaluate(files, tiny, at_once, "--arrivals", str(times)) == 2  # another run


@pytest.mark.usefixtures("in_process")
def test_lines_translated_side_by_side_score_the_same_and_have_no_times(
    tmp_path, files, tiny, capsys
):
    one, many = tmp_path / "one", tmp_path / "many"
    evaluate(files, tiny, one, "--workers", "1")
    evaluate(files, tiny, many, "--workers", "2", "--batch", "3")
    for policy in POLICIES:
        assert (many / f"{policy}.hyp").read_text() == (one / f"{policy}.hyp").read_text()
    alone, scores, _ = without_times(one)
    together, scores_together, _ = without_times(many)
    for policy in POLICIES:
        for first, second in zip(alone[policy], together[policy], strict=True):
            rounded = pytest.approx(second.pop("log_probability"), abs=1e-4)
            assert first.pop("log_probability") == rounded
            assert first == second
    assert scores == scores_together
    times = [name for name in TIMES if not name.startswith("peak_")]
    assert all(row[name] is None for row in summary_of(many) for name in times)
    assert all(row[name] is not None for row in summary_of(one) for name in times)
    capsys.readouterr()
    assert evaluate(files, tiny, many) == 2
    assert "another batch (3, not 1)" in capsys.readouterr().err
    compared = tmp_path / "compared"
    more = ["--out", str(compared), "--samples", "20"]
    assert research(["compare", str(one), str(many), *more]) == 0
    found = json.loads((compared / "compare.json").read_text())["differences"]
    assert [row["laal_ca"] for row in found] == [None] * 3


def interrupted(n_lines, monkeypatch):
    """Let the workers stop after some lines, in the middle of the next one."""

    def work(shares):
        for n_done, message in enumerate(
            message for share in shares for message in workers._translations(share)
        ):
            if n_done == n_lines:
                raise KeyboardInterrupt
            yield message

    monkeypatch.setattr(workers, "_from_workers", work)


@pytest.mark.usefixtures("in_process")
def test_a_run_that_was_stopped_goes_on_and_ends_as_an_unbroken_one(
    tmp_path, files, tiny, monkeypatch
):
    evaluate(files, tiny, tmp_path / "whole", "--workers", "1")
    whole = without_times(tmp_path / "whole")
    for n_lines in (3, 14):
        broken = tmp_path / str(n_lines)
        with monkeypatch.context() as patch:
            interrupted(n_lines, patch)
            with pytest.raises(KeyboardInterrupt):
                evaluate(files, tiny, broken, "--workers", "1")
        assert not (broken / "summary.json").exists()
        newest = max((broken / "log").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        newest.write_bytes(newest.read_bytes()[:-7])  # as a kill in the middle of a row leaves it
        n_logged = len(list((broken / "log").iterdir()))
        assert evaluate(files, tiny, broken, "--workers", "2") == 0
        assert without_times(broken) == whole
        n_lines_again = sum(
            row["event"] == "line" and row["index"] >= 0
            for path in sorted((broken / "log").iterdir())[n_logged:]
            for row in rows_of(path)
        )
        assert n_lines_again <= 15


@pytest.mark.slow
def test_the_logs_of_a_tau_are_not_those_of_a_longer_one(tmp_path):
    names = [f"{policy}.{n}.jsonl" for policy in ("adaptive:0", "adaptive:0.3") for n in (2, 10)]
    for name in (*names, "adaptive:0.35.1.jsonl"):
        (tmp_path / name).touch()
    for policy, own in (("adaptive:0", names[:2]), ("adaptive:0.3", names[2:])):
        assert [path.name for path in workers.log_paths(tmp_path, policy)] == own
