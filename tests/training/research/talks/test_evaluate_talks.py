"""Test how whole talks are translated, gone on with, and scored on the reference's segments."""

import json
import random

import pytest
import torch

from engine.metrics.event_log import EventLog, read_events, replay
from engine.metrics.quality import measure_quality
from engine.settings import TranslationSettings
from engine.translation.feed import feed_line
from engine.translation.slot_translator import Translator
from tests.support.fakes import random_word, tiny_weights
from training.research.__main__ import main
from training.research.talks import feed_talk, resegment, soft_resegment

pytest.importorskip("mweralign")

FIELDS = {
    "policy", "system", "bleu", "bleu_signature", "chrf", "chrf_signature", "stream_laal",
    "stream_laal_ca", "long_yaal", "long_yaal_ca", "normalised_erasure", "tokens_fed",
    "tokens_recomputed", "forwards", "gflops_per_talk", "n_talks", "n_segments", "n_words",
    "n_empty", "n_degenerate",
}  # fmt: skip


@pytest.fixture
def files(tmp_path):
    rng = random.Random(3)
    source, reference, names = (tmp_path / name for name in ("t.en", "t.de", "t.talks"))
    for path in (source, reference):
        path.write_text("".join(f"{' '.join(sentence(rng))}\n" for _ in range(6)))
    names.write_text("a\na\na\nb\nb\nc\n")
    return source, reference, names


def sentence(rng):
    words = [random_word(rng) for _ in range(rng.randint(1, 6))]
    return [*words[:-1], f"{words[-1]}!"]  # a full stop might be that of an abbreviation


def long_form(files, model, out, *more, policies="read:3,wait:2"):
    source, reference, names = map(str, files)
    arguments = ["--source", source, "--reference", reference, "--talks", names, "--to", "de"]
    arguments += ["--policies", policies, "--out", str(out), "--model", str(model), *more]
    return main(["long-form", *arguments])


def lines_of(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["read:3", "wait:2"])
def test_a_talk_is_its_sentences_one_after_another(tmp_path, policy):
    rng = random.Random(2)
    settings = TranslationSettings(policy=policy, cut_loops=False)
    with EventLog(tmp_path / "log") as log:
        translator = Translator(tiny_weights(torch.float32), settings, log=log)
        for _ in range(2):
            sentences = [sentence(rng) for _ in range(4)] + [[random_word(rng) + "."]]
            words = [word for one in sentences for word in one]
            assert list(feed_talk(translator, log, 0, words)) == list(range(1, len(words) + 1))
            for index, one in enumerate(sentences):
                feed_line(translator, log, index, " ".join(one))
    translations = list(replay(read_events(tmp_path / "log")))
    assert len(translations) == 12
    for start in range(0, 12, 6):
        talk, *alone = translations[start : start + 6]
        before = [sum(len(one.source) for one in alone[:n]) for n in range(5)]
        assert talk.source == tuple(word for one in alone for word in one.source)
        assert talk.hypothesis == " ".join(filter(None, (one.hypothesis for one in alone)))
        assert list(talk.delays) == [
            n + delay for n, one in zip(before, alone, strict=True) for delay in one.delays
        ]
        assert talk.tokens_recomputed == 0
        assert len(talk.ms) == len(talk.source)
    assert sum(len(one.delays) for one in translations) > 30


@pytest.mark.slow
def test_talks_are_translated_cut_written_and_scored(tmp_path, files, tiny, capsys):
    out = tmp_path / "deep" / "out"
    assert long_form(files, tiny, out) == 0
    assert {str(path.relative_to(out)) for path in out.rglob("*.*")} == {
        "run.json",
        "summary.json",
        *(f"{p}.{end}" for p in ("read:3", "wait:2") for end in ("talk", "hyp", "jsonl")),
        *(f"log/{p}.1.jsonl" for p in ("read:3", "wait:2")),
    }
    summary = json.loads((out / "summary.json").read_text())
    assert [one["policy"] for one in summary] == ["read:3", "wait:2"]
    references = lines_of(files[1])
    for scores in summary:
        assert set(scores) >= FIELDS
        policy = scores["policy"]
        rows = [json.loads(row) for row in lines_of(out / f"{policy}.jsonl")]
        assert [row["references"] for row in rows] == [
            references[:3],
            references[3:5],
            references[5:],
        ]
        assert [row["hypothesis"] for row in rows] == lines_of(out / f"{policy}.talk")
        parts = [
            part.text
            for row in rows
            for part in resegment(row["hypothesis"], row["references"], "de")
        ]
        assert lines_of(out / f"{policy}.hyp") == parts
        soft_parts = [
            part.text
            for row in rows
            for part in soft_resegment(row["hypothesis"], row["references"], "de")
        ]
        assert soft_parts != parts
        for name, cut in (("chrf", parts), ("chrf_soft", soft_parts)):
            assert scores[name] == measure_quality(cut, references, "de").chrf
        assert (scores["n_talks"], scores["n_segments"]) == (3, 6)
        assert scores["n_words"] == len(files[0].read_text().split())
        assert scores["n_words"] == sum(sum(row["lengths"]) for row in rows)
        assert scores["n_empty"] == parts.count("")
        assert scores["tokens_recomputed"] == 0
        assert scores["tokens_fed"] == sum(row["tokens_fed"] for row in rows)
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].split()[:4] == ["policy", "bleu", "chrf", "stream_laal"]
    assert "tok:13a" in printed
