from dataclasses import replace

import pytest

from app.captions.adapter_details import ranges, rows
from engine.models.adapters.adapter import inspect_adapter
from engine.models.adapters.card import AdapterScore, Corpus
from engine.untrusted.faults import Fault
from tests.support.adapter_folders import BASE, tiny_card, write_adapter


def lines(adapter):
    """Labels and values as a terminal prints them."""
    return [(str(label), str(value)) for label, value in rows(adapter)]


def test_all_that_is_known_of_an_adapter_is_told(tmp_path):
    card = tiny_card(
        description="A small one.",
        licence="CC0",
        slot_lengths=(8, 16, 17, 18),
        created_with="surtitle 0.1.0",
        created_at="2026-11-21",
        seeds=(1, 2),
        data=(Corpus(name="Tatoeba", licence="CC BY 2.0 FR", pairs=158_237, url="https://x"),
              Corpus(name="ours", licence="CC0")),
        commands=("surtitle-train finetune",),
        scores=(AdapterScore(test_set="dev", lines=1000, language="de", policy="read:3",
                             bleu=23.42, laal=2.587, base_bleu=22.96),
                AdapterScore(test_set="dev", lines=9, language="de", policy="wait:1", bleu=0,
                             laal=None)),
    )  # fmt: skip
    adapter = inspect_adapter(write_adapter(tmp_path / "x", card=card), BASE)
    assert lines(adapter) == [
        ("name", "x"),
        ("status", "ok"),
        ("folder", str(tmp_path / "x")),
        ("description", "A small one."),
        ("base", "tiny"),
        ("base's shape", "llama, 2 layers, 64 wide, 4 heads of 16 (2 for keys), feed-forward 64, "
                         "vocabulary 384"),
        ("base's tokenizer", "sha256 " + "0f" * 32),
        ("languages", "en to de"),
        ("layout", "slots"),
        ("slot length", "16 (trained with 8, 16-18)"),
        ("policies", "read:3"),
        ("prompt", "surtitle-chat-1"),
        ("rank", "2"),
        ("alpha", "4"),
        ("targets", "self_attn.q_proj, self_attn.v_proj"),
        ("layers", "0-1"),
        ("parameters", "896"),
        ("size", "4.6 kB, F32"),
        ("licence", "CC0"),
        ("made with", "surtitle 0.1.0, 2026-11-21"),
        ("seeds", "1, 2"),
        ("data", "Tatoeba (pairs: 158,237), CC BY 2.0 FR, https://x"),
        ("data", "ours: CC0"),
        ("command", "surtitle-train finetune"),
        ("score", "dev (lines: 1,000), de, read:3: BLEU 23.4 (base alone 23.0), LAAL 2.59"),
        ("score", "dev (lines: 9), de, wait:1: BLEU 0.0, LAAL –"),
    ]  # fmt: skip


def test_of_a_blocked_adapter_the_reason_is_told_and_what_could_be_read(tmp_path):
    folder = write_adapter(tmp_path / "x")
    other = replace(BASE, layers=3)
    told = dict(lines(inspect_adapter(folder, other)))
    assert told["status"] == "blocked"
    assert "layers 2 there and 3 here" in told["reason"]
    assert told["rank"] == "2"
    (folder / "adapter_config.json").unlink()
    told = dict(lines(inspect_adapter(folder, BASE)))
    missing = str(Fault.HAS_NO(name="adapter_config.json"))
    assert told == {"name": "x", "status": "blocked", "reason": missing, "folder": str(folder)}


def test_of_a_rank_stabilised_adapter_alpha_is_told_with_that(tmp_path):
    folder = write_adapter(tmp_path / "x", config={"lora_alpha": 6, "use_rslora": True})
    assert dict(lines(inspect_adapter(folder, BASE)))["alpha"] == "6, rank-stabilised"


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([3], "3"), ([0, 1], "0-1"), ([0, 1, 2, 5, 7, 8], "0-2, 5, 7-8")],
)
def test_rising_numbers_are_written_as_ranges(numbers, text):
    assert ranges(numbers) == text
