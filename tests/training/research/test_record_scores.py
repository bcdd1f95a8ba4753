"""Scores on an adapter's card, and the adapter that is used by default because of them."""

import json
import random
from dataclasses import replace

import pytest

from engine.hub import catalogue
from engine.models.adapters.adapter import AdapterScore, read_adapter_card
from engine.settings import TranslationSettings
from tests.support.adapter_folders import BASE, tiny_card, write_adapter
from tests.support.run_folders import references, translations, write_run
from training.evaluation.runs import fingerprint
from training.research.__main__ import main

POLICIES = ("read:3", "wait:3", "offline")


def a_run(folder, *, wrong, n_lines=20, **changes):
    rng = random.Random(3)
    wanted = references(rng, n_lines)
    made = {policy: translations(rng, wanted, wrong=wrong, late=2) for policy in POLICIES}
    return write_run(folder, made, wanted, **changes)


def record(adapter, *runs):
    return main(["record-scores", "--adapter", str(adapter), "--run", *runs])


def bleu(folder):
    rows = json.loads((folder / "summary.json").read_text())
    return {row["policy"]: round(row["bleu"], 2) for row in rows}


@pytest.fixture
def adapter(tmp_path):
    return write_adapter(tmp_path / "tiny-en-de")


def test_the_card_gets_the_scores_of_the_run_and_those_of_the_base_beside_them(adapter, tmp_path):
    its = a_run(tmp_path / "its", wrong=0.2, adapter_sha256=fingerprint(adapter))
    of_base = a_run(tmp_path / "base", wrong=0.5)
    assert record(adapter, f"talks={its},{of_base}") == 0
    card = read_adapter_card(adapter)
    assert {one.policy: one.bleu for one in card.scores} == bleu(its)
    assert {one.policy: one.base_bleu for one in card.scores} == bleu(of_base)
    assert {one.test_set for one in card.scores} == {"talks"}
    assert {one.lines for one in card.scores} == {20}
    assert card == replace(tiny_card(), scores=card.scores, weights_sha256=card.weights_sha256,
                           slot_lengths=card.slot_lengths)  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [{"adapter_sha256": "a"}, {"language": "fr"}, {"source_sha256": "b"}, {"model_sha256": "c"}],
)
def test_a_run_that_is_not_of_the_base_alone_over_the_same_lines_is_refused(
    adapter, tmp_path, capsys, changes
):
    its = a_run(tmp_path / "its", wrong=0.2, adapter_sha256=fingerprint(adapter))
    of_base = a_run(tmp_path / "base", wrong=0.5, **changes)
    assert record(adapter, f"talks={its},{of_base}") == 1
    assert "no run of the base alone" in capsys.readouterr().err
    assert read_adapter_card(adapter).scores == ()


def scored(policy, points, base_points, language="de"):
    return AdapterScore(
        test_set="talks", lines=9, language=language, policy=policy, bleu=points, laal=2.0,
        base_bleu=base_points,
    )  # fmt: skip


def default_for(policy, language="de", base=BASE):
    return catalogue.default_adapter(
        base, TranslationSettings(target_language=language, policy=policy)
    )


def test_the_bundled_adapter_that_adds_most_under_the_policy_is_the_default(tmp_path, monkeypatch):
    folders = {
        name: write_adapter(tmp_path / name, card=tiny_card(name=name, scores=scores))
        for name, scores in {
            "reads": (scored("read:3", 20, 10), scored("read:5", 10, 18)),  # 1 better
            "waits": (scored("wait:3", 20, 10), scored("read:3", 16, 10)),  # 10 and 6 better
            "worse": (scored("offline", 9, 10),),
            "hardly": (scored("offline", 10.4, 10),),
            "alone": (scored("offline", 99, None),),
            "french": (scored("offline", 99, 1, language="fr"),),
        }.items()
    }
    monkeypatch.setattr(catalogue, "bundled_adapters", lambda: list(folders.values()))
    assert default_for("read:9") == folders["waits"]
    assert default_for("wait:1") == folders["waits"]
    assert default_for("offline") is None
    other_base = replace(BASE, layers=3)
    assert default_for("read:9", base=other_base) is None
