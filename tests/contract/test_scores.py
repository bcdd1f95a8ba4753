"""``surtitle score`` and ``surtitle-train evaluate`` give the same scores, to the last digit."""

import json
import random

import pytest

from app.cli.score import read_pairs, score_file
from app.cli.translate import TerminalSettings
from engine.settings import ModelSettings, TranslationSettings
from tests.support.fakes import random_word, save_tiny_model
from tests.support.run_folders import work_here
from training.evaluation.model_choice import measured_model
from training.evaluation.run_record import RunSettings
from training.evaluation.short_form import evaluate


@pytest.fixture
def model(tmp_path):
    """The tiny model, which translates to Thai, too."""
    folder = save_tiny_model(tmp_path / "model")
    card = json.loads((folder / "surtitle.json").read_text("utf-8"))
    card["languages"]["th"] = card["languages"]["fr"]
    (folder / "surtitle.json").write_text(json.dumps(card), "utf-8")
    return folder


@pytest.fixture
def files(tmp_path):
    """Lines of words between blanks, some of them several; references have inner blanks, too."""
    rng = random.Random(5)
    text = {"en": "", "ref": ""}
    for _ in range(8):
        for name in text:
            words = [random_word(rng) for _ in range(rng.randint(1, 8))]
            text[name] += "".join(word + rng.choice((" ", " ", "  ")) for word in words).strip()
            text[name] += "\n"
    source, reference = tmp_path / "test.en", tmp_path / "test.ref"
    source.write_text(text["en"], "utf-8")
    reference.write_text(text["ref"], "utf-8")
    return source, reference


@pytest.mark.parametrize("policy", ["read:2", "wait:1"])
@pytest.mark.parametrize("language", ["de", "th"])
def test_the_two_commands_score_alike(model, files, tmp_path, monkeypatch, language, policy):
    source, reference = files
    work_here(monkeypatch)
    (of_training,) = evaluate(
        RunSettings(
            source=source,
            reference=reference,
            model=measured_model(model, None, "cpu"),
            translation=TranslationSettings(target_language=language, cut_loops=False),
            policies=(policy,),
            out=tmp_path / "out",
        )
    )
    reports = []
    score_file(
        TerminalSettings(
            model=ModelSettings(directory=model, device="cpu", quantise="none", system="slots"),
            translation=TranslationSettings(
                target_language=language, policy=policy, cut_loops=False
            ),
        ),
        read_pairs(source, reference),
        lambda kind, values: reports.append((kind, values)),
    )
    kind, of_app = reports[-1]
    row = of_training.row()
    assert kind == "score"
    assert row["laal"] > 0
    same = {"bleu": "bleu", "chrf": "chrf", "signature": "bleu_signature", "al": "al"}
    same |= {"laal": "laal", "n_lines": "n_sentences", "n_empty": "n_empty"}
    for mine, theirs in same.items():
        assert of_app[mine] == row[theirs], mine
