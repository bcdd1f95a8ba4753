import json
import locale

import pytest
import webvtt

from app.cues import Cue
from app.export import export
from app.export_dialog import ExportDialog
from app.text_lines import TextError
from tests.app.test_session_journal import STARTED

EIGHT_HOURS = [
    Cue(
        start_s=number * 4.0,
        end_s=number * 4.0 + 3.9,
        text=f"Das ist Satz {number} & <mehr>.",
        source=f"This is sentence {number}.",
        language="de",
    )
    for number in range(8 * 3600 // 4)
]


def exported(tmp_path, cues, form, content="captions"):
    path = tmp_path / f"captions.{form}"
    count = export(path, cues, form, content)
    return count, path.read_text(encoding="utf-8")


def test_eight_hours_are_exported_as_srt(tmp_path):
    count, _ = exported(tmp_path, EIGHT_HOURS, "srt")
    read = webvtt.from_srt(tmp_path / "captions.srt")
    assert count == len(read) == 7200
    assert read[-1].start == "07:59:56.000"


def test_eight_hours_are_exported_as_webvtt(tmp_path):
    exported(tmp_path, EIGHT_HOURS, "vtt", "both")
    read = webvtt.read(tmp_path / "captions.vtt")
    assert len(read) == 7200
    assert read[7199].lines == ["This is sentence 7199.", "Das ist Satz 7199 &amp; &lt;mehr&gt;."]


def test_eight_hours_are_exported_as_text_and_json_lines(tmp_path):
    _, text = exported(tmp_path, EIGHT_HOURS, "txt")
    assert text.splitlines() == [cue.text for cue in EIGHT_HOURS]
    _, text = exported(tmp_path, EIGHT_HOURS, "jsonl")
    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["start_s"], line["text"], line["source"]) for line in lines] == [
        (cue.start_s, cue.text, cue.source) for cue in EIGHT_HOURS
    ]


def test_text_of_both_languages_stands_in_pairs(tmp_path):
    _, text = exported(tmp_path, EIGHT_HOURS[:2], "txt", "both")
    assert text.split("\n\n")[0] == "This is sentence 0.\nDas ist Satz 0 & <mehr>."
    _, text = exported(tmp_path, EIGHT_HOURS[:2], "txt", "source")
    assert text == "This is sentence 0.\nThis is sentence 1.\n"


def test_a_cue_without_text_is_left_out_and_not_counted(tmp_path):
    cues = [EIGHT_HOURS[0], Cue(start_s=4, end_s=5, text=" ", source="x"), EIGHT_HOURS[2]]
    count, text = exported(tmp_path, cues, "srt")
    assert count == 2
    assert text.startswith("1\n")
    assert "\n\n2\n00:00:08,000" in text


def test_numbers_do_not_follow_the_locale(tmp_path):
    before = locale.setlocale(locale.LC_ALL)
    try:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8"):
            try:
                locale.setlocale(locale.LC_ALL, name)
            except locale.Error:
                continue
        _, text = exported(tmp_path, EIGHT_HOURS[:1], "jsonl")
    finally:
        locale.setlocale(locale.LC_ALL, before)
    assert json.loads(text)["end_s"] == 3.9


def test_a_place_that_cannot_be_written_is_told_and_left_as_it_was(tmp_path):
    with pytest.raises(TextError, match="choose another place"):
        export(tmp_path / "no" / "captions.srt", EIGHT_HOURS, "srt")
    there = tmp_path / "folder.srt"
    there.mkdir()
    with pytest.raises(TextError):
        export(there, EIGHT_HOURS[:3], "srt")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.srt"]


def test_a_form_nobody_knows_is_refused(tmp_path):
    with pytest.raises(ValueError, match="docx"):
        export(tmp_path / "x", [], "docx")


def test_the_dialog_writes_what_was_chosen_and_tells_it(qtbot, tmp_path):
    dialog = ExportDialog()
    qtbot.addWidget(dialog)
    dialog.show_cues([], STARTED)
    assert not dialog.save.isEnabled()
    dialog.show_cues(EIGHT_HOURS[:3], STARTED)
    dialog.form.setCurrentIndex(dialog.form.findData("txt"))
    dialog.content.setCurrentIndex(dialog.content.findData("source"))
    dialog.export_to(tmp_path / "mine.txt")
    assert (tmp_path / "mine.txt").read_text().startswith("This is sentence 0.\n")
    assert dialog.told.text().startswith("3 captions were written")
    dialog.export_to(tmp_path / "no" / "mine.txt")
    assert dialog.told.text().endswith("choose another place.")
    dialog.form.setCurrentIndex(dialog.form.findData("jsonl"))
    assert not dialog.content.isEnabled()


def spoken(*speakers):
    return [
        Cue(start_s=number, end_s=number + 1, text=f"Satz {number}.", speaker=speaker)
        for number, speaker in enumerate(speakers)
    ]


def test_who_speaks_is_told_where_two_are_told_apart(tmp_path):
    two = spoken("me", "them", "me")
    assert exported(tmp_path, two, "txt")[1] == "me: Satz 0.\nthem: Satz 1.\nme: Satz 2.\n"
    assert "them: Satz 1." in exported(tmp_path, two, "srt")[1]
    assert "<v them>Satz 1." in exported(tmp_path, two, "vtt")[1]
    one = spoken("me", "me")
    assert exported(tmp_path, one, "txt")[1] == "Satz 0.\nSatz 1.\n"
    assert "me" not in exported(tmp_path, one, "srt")[1]
    assert "<v" not in exported(tmp_path, one, "vtt")[1]
    lines = exported(tmp_path, one, "jsonl")[1].splitlines()
    assert [json.loads(line)["speaker"] for line in lines] == ["me", "me"]
