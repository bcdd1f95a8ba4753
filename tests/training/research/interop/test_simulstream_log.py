"""Test that simulstream reads from our logs what we say of our runs.

The figures were computed by simulstream 1.0.0, whose scorers are no dependency: they bring librosa
along. Where it is installed (``pip install --no-deps simulstream==1.0.0``) it is asked again.
"""

import json
import random
from argparse import Namespace
from dataclasses import replace
from itertools import accumulate

import pytest

from engine.metrics.real_time import WORD_MS
from training.errors import TrainingError
from training.research.interop.simulstream_log import Recording, convert_run, write_simulstream_log
from training.research.long_form.resegment import resegment
from training.research.long_form.segments import make_segments, stream_laal

FILES = {"metrics.jsonl", "segments.yaml", "reference.txt", "eval.yaml"}


def drawn(seed, n_recordings, language="de"):
    """Recordings like those of a run: what is committed at a word depends on it."""
    rng = random.Random(seed)
    found = []
    for _ in range(n_recordings):
        lengths = tuple(rng.randint(2, 9) for _ in range(rng.randint(1, 4)))
        n_words = sum(lengths)
        delays = sorted(rng.randint(1, n_words) for _ in range(n_words))
        units = [rng.choice("abcdefgh" if language == "de" else "甲乙丙丁戊己") for _ in delays]
        text = (" " if language == "de" else "").join(units)
        references = tuple(text[n : n + 2 * rng.randint(1, 9)].strip() or "a" for n in lengths)
        ms = tuple(round(rng.uniform(1, 350), 3) for _ in range(n_words))
        recording = Recording(
            translation=text, delays=tuple(delays), ms=ms, lengths=lengths, references=references
        )
        found.append(recording)
    return found


def our_stream_laal(recordings, language, *, computing):
    """StreamLAAL in seconds; with computing, as simulstream counts it: after all of its chunk."""
    segments = []
    for one in recordings:
        starts = accumulate(one.lengths, initial=0)
        spans = list(zip(starts, one.lengths, strict=False))
        delays = [n + computing * one.ms[n - 1] / WORD_MS for n in one.delays]
        parts = resegment(one.translation, one.references, language)
        segments += make_segments(parts, one.references, spans, delays)
    return stream_laal(segments, language) * WORD_MS / 1000


def rows_of(path):
    return [json.loads(row) for row in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("language", "without", "with_computing"),
    [("de", 0.0399192666, 0.2077899094), ("zh", 0.2349226220, 0.4113742180)],
)
def test_our_stream_laal_is_what_simulstream_computed_from_the_log(
    language, without, with_computing
):
    pytest.importorskip("mweralign")
    recordings = drawn(7, 20, language)
    found = [our_stream_laal(recordings, language, computing=n) for n in (0, 1)]
    assert found == pytest.approx([without, with_computing], abs=1e-6)


@pytest.mark.parametrize(("language", "unit"), [("de", "word"), ("zh", "char")])
def test_simulstream_reads_from_the_log_what_we_wrote(tmp_path, language, unit):
    config = pytest.importorskip("simulstream.config")
    readers = pytest.importorskip("simulstream.metrics.readers")
    scorers = pytest.importorskip("simulstream.metrics.scorers.latency")
    stats = pytest.importorskip("simulstream.metrics.stats")
    recordings = drawn(7, 20, language)
    write_simulstream_log(tmp_path, recordings, language)
    metrics, segments, texts, settings = (
        str(tmp_path / name)
        for name in ("metrics.jsonl", "segments.yaml", "reference.txt", "eval.yaml")
    )
    reader = readers.LogReader(config.yaml_config(settings), metrics, latency_unit=unit)
    outputs = reader.final_outputs_and_latencies()
    assert [one.final_text for one in outputs.values()] == [one.translation for one in recordings]
    references = readers.YamlReferenceReader(segments, texts).references
    scorer = scorers.LATENCY_SCORER_REGISTRY["stream_laal"](Namespace(latency_unit=unit))
    scores = scorer.score(
        [scorers.LatencyScoringSample(name, outputs[name], own) for name, own in references.items()]
    )
    assert [scores.ideal_latency, scores.computational_aware_latency] == pytest.approx(
        [our_stream_laal(recordings, language, computing=n) for n in (0, 1)], abs=1e-9
    )
    assert stats.NormalizedErasure().compute(reader) == 0
    ms = [value for one in recordings for value in one.ms]
    assert stats.RealTimeFactor().compute(reader) == pytest.approx(
        sum(ms) / (len(ms) * WORD_MS), abs=1e-6
    )


def test_every_source_word_is_told_with_what_was_committed_then(tmp_path):
    recording = Recording(
        translation="eins zwei drei",
        delays=(2, 2, 3),
        ms=(1.5, 20.0, 3.0),
        lengths=(1, 2),
        references=("eins", "zwei drei"),
    )
    write_simulstream_log(tmp_path, [recording], "de", word_ms=500)
    assert {path.name for path in tmp_path.iterdir()} == FILES
    name, *steps = rows_of(tmp_path / "metrics.jsonl")
    assert name == {"id": 1, "metadata": {"wav_name": "000001.wav"}}
    assert [step["total_audio_processed"] for step in steps] == [0.5, 1.0, 1.5]
    assert [step["computation_time"] for step in steps] == [0.0015, 0.02, 0.003]
    assert [step["generated_tokens"] for step in steps] == [[], ["eins", "zwei"], ["drei"]]
    assert (tmp_path / "segments.yaml").read_text() == (
        '- {"wav": "000001.wav", "offset": 0.0, "duration": 0.5}\n'
        '- {"wav": "000001.wav", "offset": 0.5, "duration": 1.0}\n'
    )
    assert (tmp_path / "reference.txt").read_text() == "eins\nzwei drei\n"


def test_tokens_put_together_are_the_translation(tmp_path):
    for language, join in (("de", " "), ("zh", "")):
        recordings = drawn(1, 10, language)
        if language == "zh":
            recordings = [
                replace(one, translation=one.translation.replace("甲乙", "甲 乙"))
                for one in recordings
            ]
        write_simulstream_log(tmp_path, recordings, language)
        texts = list[list[str]]()
        for row in rows_of(tmp_path / "metrics.jsonl"):
            if "metadata" in row:
                texts.append([])
            else:
                texts[-1] += row["generated_tokens"]
        assert [join.join(tokens) for tokens in texts] == [one.translation for one in recordings]


def test_a_line_without_words_is_told_too(tmp_path):
    empty = Recording(translation="", delays=(), ms=(), lengths=(0,), references=("",))
    write_simulstream_log(tmp_path, [empty], "de")
    _, step = rows_of(tmp_path / "metrics.jsonl")
    assert (step["total_audio_processed"], step["generated_tokens"]) == (0, [])


def test_a_segment_ends_exactly_where_its_last_word_does(tmp_path):
    (recording,) = drawn(3, 1)
    recording = replace(recording, lengths=(1,) * 200, references=("a",) * 200)
    write_simulstream_log(tmp_path, [recording], "de")
    rows = [json.loads(row[2:]) for row in (tmp_path / "segments.yaml").read_text().splitlines()]
    ends = [round(n * WORD_MS / 1000, 6) for n in range(1, 201)]
    for row, end in zip(rows, ends, strict=True):
        assert end - row["offset"] == row["duration"]  # bit by bit


LINE = {"source": ["a", "b"], "hypothesis": "x y", "delays": [1, 2], "ms": [1.0, 2.0]}
RECORD = {
    "system": "slots", "language": "de", "model": "m", "model_sha256": "", "adapter_sha256": None,
    "slot_length": 8, "source_sha256": "", "reference_sha256": "",
}  # fmt: skip


def test_lines_and_talks_of_runs_are_converted(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(RECORD))
    rows = [{**LINE, "reference": "r s"}, {**LINE, "references": ["r", "s"], "lengths": [1, 1]}]
    (tmp_path / "read:3.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    convert_run(tmp_path, "read:3", tmp_path / "out")
    assert (tmp_path / "out" / "reference.txt").read_text() == "r s\nr\ns\n"
    segments = (tmp_path / "out" / "segments.yaml").read_text().splitlines()
    assert ['"duration": 0.8' in row for row in segments] == [True, False, False]
    assert len(rows_of(tmp_path / "out" / "metrics.jsonl")) == 2 * 3
    assert (tmp_path / "out" / "eval.yaml").read_text() == (
        "detokenizer_type: simuleval\nlatency_unit: word\n"
    )


@pytest.mark.parametrize("row", ["", "{", "[]", "{}", json.dumps(LINE)])
def test_a_damaged_run_is_one_sentence(tmp_path, row):
    (tmp_path / "run.json").write_text(json.dumps(RECORD))
    with pytest.raises(TrainingError, match="name a policy that was run"):
        convert_run(tmp_path, "read:3", tmp_path / "out")
    (tmp_path / "read:3.jsonl").write_text(f"{row}\n")
    with pytest.raises(TrainingError, match=r"read:3\.jsonl cannot be read"):
        convert_run(tmp_path, "read:3", tmp_path / "out")
    assert not (tmp_path / "out").exists()
