import json
import sys

import pytest

from benchmarks import language
from benchmarks.meeting_set import read_set
from training.data.corpus import write_lines


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run it on a set of two lines; every caption is the reference but for what is changed."""
    write_lines(
        tmp_path / "dev/small/en-fr.en", ["Here Anna has 3 cats.", "He waits and waits there."]
    )
    write_lines(
        tmp_path / "dev/small/en-fr.fr", ["Ici Anna a 3 chats.", "Il attend et attend là-bas."]
    )
    asked = []

    def evaluated(folder, pairs, arguments):
        asked.append((folder.relative_to(tmp_path), len(pairs), arguments.model.name))
        captions = [changes.get(target, target) for _, target in pairs]
        scores = {"bleu": 41.26, "chrf": 60, "laal": 2.346, "tokens_fed": 10}
        more = {"tokens_recomputed": 0, "n_degenerate": int("Il" in captions)}
        return scores | more, captions

    def made(**changed):
        changes.update(changed.get("changes", {}))
        options = ("fr", "--dev", tmp_path / "dev", "--out", tmp_path, *changed.get("options", ()))
        monkeypatch.setattr(sys, "argv", ["language", *map(str, options)])
        language.main()
        return (tmp_path / "results.md").read_text("utf-8")

    changes = {}
    made.asked = asked
    monkeypatch.setattr(language, "evaluated", evaluated)
    return made


def test_scores_faithfulness_aims_and_captions_come_out_of_one_run(run, tmp_path):
    text = run()
    assert "| meetings (158) | 41.3 | 60.0 | 2.35 | 0.1 | 0 | 0 | 2 |" in text
    assert "| small | 2 | written | 100.0 | 0 | 100.0 | 0 |" in text
    assert "Meetings by their references: numbers 100.0 %, names 100.0 %." in text
    assert "* BLEU of meetings: 41.26, aim 50: **not reached**" in text
    assert "* loops, %: 0, aim 1: reached" in text
    assert text.count("\n| ") == 3 + 5 + 41, "tables, and forty captions below their head"
    forms = [str(folder) for folder, *_ in run.asked]
    assert forms == ["written/meetings", "heard/meetings", "written/small", "heard/small"]
    assert {name for *_, name in run.asked} == {"surtitle-en-fr"}
    content = json.loads((tmp_path / "results.json").read_text())
    assert content["sets"][1]["counts"]["with_numbers"] == 1


def test_what_is_lost_invented_cut_short_or_looped_is_counted(run):
    first = next(one for one in read_set("fr") if one.numbers)
    wrong = {
        "Ici Anna a 3 chats.": "Elle a 5 chats.",
        "Il attend et attend là-bas.": "Il",
        first.reference: "Il l'a tué.",
    }
    text = run(changes=wrong)
    assert "| small (2) | 41.3 | 60.0 | 2.35 | 5.0 | 0 | 1 | 1 |" in text
    assert "| small | 2 | written | 0.0 | 1 | 0.0 | 0 |" in text
    assert "* harmful captions: 1, aim 0: **not reached**" in text


def test_a_set_that_is_not_there_is_one_sentence(run, capsys):
    with pytest.raises(SystemExit):
        run(options=["--sets", "none"])
    assert "expected sets among small in --dev, got ['none']" in capsys.readouterr().err
