from dataclasses import replace

from app.captions.adapter_details import rows
from engine.models.adapters.adapter import AdapterScore, Corpus, inspect_adapter
from engine.untrusted.faults import Fault
from tests.support.adapter_folders import BASE, tiny_card, write_adapter


def lines(adapter):
    """Labels and values as a terminal prints them."""
    return [(str(label), str(value)) for label, value in rows(adapter)]


def test_what_helps_to_choose_an_adapter_is_told(tmp_path):
    card = tiny_card(
        description="A small one.",
        licence="CC0",
        slot_lengths=(8, 16, 17, 18),
        created_with="surtitle 0.1.0",
        created_at="2026-11-21",
        data=(Corpus(name="Tatoeba", licence="CC BY 2.0 FR", pairs=158_237, url="https://x"),
              Corpus(name="ours", licence="CC0")),
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
        ("languages", "en to de"),
        ("slot length", "16 (trained with 8, 16, 17, 18)"),
        ("policies", "read:3"),
        ("size", "4.6 kB, F32"),
        ("licence", "CC0"),
        ("made with", "surtitle 0.1.0, 2026-11-21"),
        ("data", "Tatoeba (pairs: 158,237), CC BY 2.0 FR, https://x"),
        ("data", "ours: CC0"),
        ("score", "dev (lines: 1,000), de, read:3: BLEU 23.4 (base alone 23.0), LAAL 2.59"),
        ("score", "dev (lines: 9), de, wait:1: BLEU 0.0, LAAL –"),
    ]  # fmt: skip


def test_of_a_blocked_adapter_the_reason_is_told_and_what_could_be_read(tmp_path):
    folder = write_adapter(tmp_path / "x")
    other = replace(BASE, layers=3)
    told = dict(lines(inspect_adapter(folder, other)))
    assert told["status"] == "blocked"
    assert "layers 2 there and 3 here" in told["reason"]
    assert told["size"] == "4.6 kB, F32"
    (folder / "adapter_config.json").unlink()
    told = dict(lines(inspect_adapter(folder, BASE)))
    missing = str(Fault.HAS_NO(name="adapter_config.json"))
    assert told == {"name": "x", "status": "blocked", "reason": missing, "folder": str(folder)}
