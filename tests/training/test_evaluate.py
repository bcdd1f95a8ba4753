"""Test the command that translates a test set live and scores it."""

import json
import random
import shutil

import pytest
import torch

from engine.latency import average_lagging
from engine.settings import TranslationSettings, UtteranceLimits
from engine.translator import Translator
from tests.fakes import random_word, tiny_weights
from training import evaluate as command
from training.__main__ import main
from training.evaluate import cut_line, translate_line

LIMITS = UtteranceLimits()
FIELDS = [
    "policy", "bleu", "bleu_signature", "chrf", "al", "laal", "ms_per_word_p50", "ms_per_word_p95",
    "tokens_fed", "tokens_recomputed", "forwards", "probes", "n_sentences", "n_empty",
]  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    weights = tiny_weights(torch.float32)
    weights.network.save_pretrained(folder)
    weights.tokenizer.save_pretrained(folder)
    weights.card.save(folder)
    return folder


@pytest.fixture
def files(tmp_path):
    rng = random.Random(3)

    def text(n_lines):
        lines = [
            " ".join(random_word(rng) for _ in range(rng.randint(2, 7))) for _ in range(n_lines)
        ]
        return "".join(f"{line}\n" for line in lines)

    source, reference = tmp_path / "test.en", tmp_path / "test.de"
    source.write_text(text(4) + "\n")  # the last line is empty
    reference.write_text(text(4) + "eins\n")
    return source, reference


def evaluate(files, model, out, *more, policies="read:3,wait:2,offline", to="de"):
    source, reference = map(str, files)
    arguments = ["--source", source, "--reference", reference, "--to", to, "--policies", policies]
    return main(["evaluate", *arguments, "--model", str(model), "--out", str(out), *more])


def lines_of(path):
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def translator(policy):
    return Translator(tiny_weights(torch.float32), TranslationSettings(policy=policy))


@pytest.mark.slow
def test_a_test_set_is_translated_written_and_scored(tmp_path, files, model, capsys):
    out = tmp_path / "deep" / "out"
    assert evaluate(files, model, out, "--workers", "2") == 0
    assert {path.name for path in out.iterdir()} == {
        "summary.json",
        *(f"{p}.{end}" for p in ("read:3", "wait:2", "offline") for end in ("hyp", "jsonl")),
    }
    summary = json.loads((out / "summary.json").read_text())
    assert [one["policy"] for one in summary] == ["read:3", "wait:2", "offline"]
    sources = lines_of(files[0])
    references = lines_of(files[1])
    for scores in summary:
        policy = scores["policy"]
        assert [name for name in FIELDS if name not in scores] == []
        live = translator(policy)
        translate_line(live, -1, "Hello.")
        alone = [translate_line(live, n, line) for n, line in enumerate(sources)]
        hypotheses = lines_of(out / f"{policy}.hyp")
        assert hypotheses == [one.hypothesis for one in alone]  # two workers say what one says
        rows = [json.loads(row) for row in lines_of(out / f"{policy}.jsonl")]
        assert [row["delays"] for row in rows] == [list(one.delays) for one in alone]
        assert [row["reference"] for row in rows] == references
        assert scores["tokens_fed"] == sum(one.tokens_fed for one in alone)
        assert scores["tokens_recomputed"] == 0
        assert (scores["n_sentences"], scores["n_empty"]) == (5, hypotheses.count(""))
        laggings = [
            average_lagging(row["delays"], len(row["source"]), len(row["reference"].split(" ")))
            for row in rows
            if row["delays"]
        ]
        assert scores["al"] == pytest.approx(sum(laggings) / len(laggings))
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].split()[:3] == ["policy", "bleu", "chrf"]
    assert "tok:13a" in printed


def test_only_the_first_lines_may_be_asked_for_and_the_model_may_be_bundled(
    tmp_path, files, model, monkeypatch
):
    monkeypatch.setattr(command, "bundled_models", lambda: [model])
    monkeypatch.setattr(command, "_from_workers", lambda shares: command._translations(*shares))
    source, reference = map(str, files)
    arguments = ["--source", source, "--reference", reference, "--to", "fr", "--out", str(tmp_path)]
    assert main(["evaluate", *arguments, "--policies", "read:3,read:3", "--limit", "1"]) == 0
    (scores,) = json.loads((tmp_path / "summary.json").read_text())
    assert scores["n_sentences"] == 1


@pytest.mark.parametrize("policy", ["read:1", "read:3", "wait:1", "wait:3", "offline"])
def test_delays_never_fall_and_end_within_the_source(policy):
    rng = random.Random(1)
    live = translator(policy)
    n_units = 0
    for index in range(30):
        words = [random_word(rng) for _ in range(rng.randint(1, 9))]
        translation = translate_line(live, index, "  ".join(words))
        assert translation.source == tuple(words)
        assert len(translation.delays) == len(translation.hypothesis.split())
        assert list(translation.delays) == sorted(translation.delays)
        assert all(1 <= delay <= len(words) for delay in translation.delays)
        assert len(translation.ms) == len(words)
        if policy == "offline":
            assert set(translation.delays) <= {len(words)}
        n_units += len(translation.delays)
    assert n_units > 30


def test_wait_k_begins_word_j_when_k_plus_j_words_are_read(monkeypatch):
    live = translator("wait:2")
    opened = []
    monkeypatch.setattr(live, "open", lambda: opened.append(Translator.open(live)) or opened[-1])
    n_words = 0
    for seed in range(40):
        rng = random.Random(seed)
        words = [random_word(rng) for _ in range(8)]
        delays = translate_line(live, 0, " ".join(words)).delays
        if set(filter(str.isspace, opened[-1].caption)) <= {" "}:  # the engine's words, too
            # later than that where the model had nothing to add
            assert all(delay >= min(2 + j, 8) for j, delay in enumerate(delays))
            n_words += len(delays)
    assert n_words > 40


def test_a_line_is_one_utterance_though_it_holds_several_sentences():
    assert cut_line("Yes. No! Why?", LIMITS) == [("Yes.", "No!", "Why?")]


def test_a_line_over_the_limits_is_cut_and_nothing_is_lost():
    line = " ".join(f"word{n}" for n in range(500))
    parts = cut_line(line, LIMITS)
    assert len(parts) > 10
    assert " ".join(word for words in parts for word in words) == line
    assert cut_line("", LIMITS) == []


@pytest.mark.slow
def test_delays_of_a_line_that_is_cut_count_from_its_start():
    words = ["ab cd"] * 60 + ["a" * 400]  # the last word is longer than any word may be
    line = " ".join(words)
    translation = translate_line(translator("offline"), 0, line)
    ends, n_words = set(), 0
    for parts in cut_line(" ".join(words[:-1]), LIMITS):
        n_words += len(parts)
        ends.add(n_words)
    assert len(translation.source) == len(translation.ms) == 121
    assert list(translation.delays) == sorted(translation.delays)
    assert len(ends & set(translation.delays)) >= 2
    assert max(translation.delays) <= 121


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"policies": "read:0"}, "a policy is written read:N"),
        ({"policies": ","}, "at least one policy"),
        ({"to": "xx"}, "translates to de, fr, not to 'xx'"),
    ],
)
def test_what_cannot_be_is_one_sentence(tmp_path, files, model, capsys, changes, words):
    assert evaluate(files, model, tmp_path / "out", **changes) == 2
    error = capsys.readouterr().err
    assert error.startswith("surtitle-train evaluate: ")
    assert words in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--limit", "--workers", "--slot"])
def test_numbers_are_at_least_one(tmp_path, files, model, option, capsys):
    assert evaluate(files, model, tmp_path / "out", option, "0") == 2
    assert "must be at least 1, got 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read"), (b"", "is empty"), (b"a\n", "equally many"), (b"\xff\n", "UTF-8")],
)
def test_a_wrong_file_is_one_sentence(tmp_path, files, model, capsys, content, words):
    files[1].unlink()
    if content is not None:
        files[1].write_bytes(content)
    assert evaluate(files, model, tmp_path / "out") == 1
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_a_folder_without_a_model_is_one_sentence(tmp_path, files, capsys):
    assert evaluate(files, tmp_path, tmp_path / "out") == 1
    assert "is no Surtitle model" in capsys.readouterr().err


def test_without_a_bundled_model_a_folder_must_be_named(tmp_path, files, monkeypatch, capsys):
    monkeypatch.setattr(command, "bundled_models", list)
    source, reference = map(str, files)
    arguments = ["--source", source, "--reference", reference, "--to", "de", "--out", str(tmp_path)]
    assert main(["evaluate", *arguments, "--policies", "offline"]) == 2
    assert "--model" in capsys.readouterr().err


@pytest.mark.slow
def test_a_model_that_does_not_load_is_told_by_the_worker(tmp_path, files, model, capsys):
    broken = tmp_path / "broken"
    shutil.copytree(model, broken)
    (broken / "model.safetensors").unlink()
    assert evaluate(files, broken, tmp_path / "out", "--workers", "1") == 1
    assert "cannot be loaded" in capsys.readouterr().err


def test_an_output_folder_that_cannot_be_is_told_before_anything_is_translated(
    tmp_path, files, model, capsys
):
    (tmp_path / "file").write_text("")
    assert evaluate(files, model, tmp_path / "file" / "out") == 1
    assert "expected to write" in capsys.readouterr().err
