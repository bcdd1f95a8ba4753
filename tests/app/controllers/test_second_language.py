"""A second language below the captions, by a real session with a tiny model."""

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from app.captions.export import n_lacking
from app.captions.journal import read_session
from engine.events import CaptionChanged, FurtherCaptionLeftOut
from engine.translation.targets import Targets
from tests.support.app.whole_program import Program, TinyEngine, cells


@pytest.fixture
def one(qtbot, tmp_path, tiny, monkeypatch):
    monkeypatch.setattr("app.captions.models.bundled_models", list)
    program = Program(qtbot, tmp_path, TinyEngine(), model=tiny).open().wait_until_ready()
    yield program
    program.window.close()


def in_french(one):
    one.window.choices.second.aboutToShow.emit()
    one.window.choices.second.pick("fr")
    one.wait(lambda: one.application.further.ready == ("fr",))


def say(one, text):
    one.say(text)
    writer = one.application.history.writer

    def found():
        return [cue for cue in writer.cues if cue.source == text]

    one.wait(lambda: any(cue.further and cue.further[0].text for cue in found()))
    return found()[0]


def test_languages_that_need_no_download_are_offered_with_what_they_cost(one):
    second = one.window.choices.second
    second.aboutToShow.emit()
    assert second.entries == [("None", ""), ("French (twice the computing, no more memory)", "fr")]
    assert second.text == "None"  # it has the mark
    one.application.settings.choose_mode("captions only")
    second.aboutToShow.emit()
    assert second.entries == [("None", "")]


def test_a_second_language_stands_below_the_captions_everywhere(one, tmp_path):
    in_french(one)
    assert one.window.choices.summary == "English → German + French"
    cue = say(one, "ab cd ef gh.")
    ((french),) = cue.further
    assert (french.language, bool(french.text)) == ("fr", True)
    ((source, caption),) = cells(one.window.transcript)
    assert (source, caption) == (cue.source, f"{cue.text}\n{french.text}")
    rows = one.window.transcript.rows
    assert "French" in rows.headerData(1, Qt.Orientation.Horizontal)
    shown = one.application.overlay_controller.lines
    assert shown.second
    assert [line.text for line in one.overlay.view.second] == [line.text for line in shown.second]
    content = json.loads(one.application.page.source.since("", "")[1])
    assert {line["kind"] for line in content["lines"]} == {"caption", "second"}
    one.window.close()
    journal = next((tmp_path / "sessions").glob("*/session.jsonl")).read_text()
    assert french.text in json.loads(journal.splitlines()[-2])["further"][0]["text"]


def test_what_it_leaves_out_is_told_in_the_status_line_until_it_is_made_up_for(one):
    in_french(one)
    say(one, "ab cd ef gh.")
    bridge, state = one.application.bridge, one.window.status.state
    utterance = bridge.utterances.ended[-1].number
    bridge.take(FurtherCaptionLeftOut(utterance=utterance, language="fr"))
    assert state.text() == "Ready · French leaves out 1 sentence for now"
    assert one.application.further.left_out == {"fr": 1}
    bridge.take(CaptionChanged(utterance=utterance, language="fr", kept=0, text="Mots.", n_read=4))
    assert state.text() == "Ready"
    bridge.take(FurtherCaptionLeftOut(utterance=utterance, language="fr"))
    one.window.choices.second.pick("")
    one.wait(lambda: state.text() == "Ready")


def test_a_language_that_fell_behind_leaves_nothing_empty_in_what_is_kept(
    one, monkeypatch, tmp_path
):
    monkeypatch.setattr("engine.translation.targets.MOST_WAITING", 12)
    told = []
    one.application.bridge.event_came.connect(told.append)
    in_french(one)
    one.window.typed_line.lines_pasted.emit((("ab", "cd", "ef", "gh."),) * 12)
    one.wait(lambda: len(one.cues) == 12)
    one.window.close()
    assert any(isinstance(event, FurtherCaptionLeftOut) for event in told)
    assert all(cue.further[0].text for cue in one.cues)
    journal = next((tmp_path / "sessions").glob("*/session.jsonl"))
    cues = read_session(journal).cues
    assert len(cues) == 12
    assert all(cue.further[0].text for cue in cues)


def new_session(one):
    one.window.menu_actions.new_session.trigger()


def another_model(one):
    one.application.model.start_over()
    one.wait(lambda: len(one.engine.sessions) == 2)
    one.wait_until_ready()


def earlier_session(one, **more):
    folder = one.application.history.writer.sessions_folder / "earlier"
    folder.mkdir(parents=True)
    started = {"event": "session", "version": 1, "started": "2026-11-21T09:30:00+01:00"}
    cue = {"event": "cue", "key": 0, "start_s": 1, "end_s": 2, "text": "Ja.", "source": "Yes."}
    cue |= more
    lines = "".join(json.dumps(line) + "\n" for line in (started, cue, {"event": "closed"}))
    (folder / "session.jsonl").write_text(lines)
    one.application.captions.resume(read_session(folder / "session.jsonl"))


@pytest.mark.parametrize("go_on", [new_session, earlier_session, another_model])
def test_what_a_language_owes_is_made_up_for_in_the_session_that_it_belongs_to(
    one, monkeypatch, go_on
):
    monkeypatch.setattr("engine.translation.targets.MOST_WAITING", 12)
    make_up = Targets.make_up
    monkeypatch.setattr(Targets, "make_up", lambda _: None)  # it never rests
    in_french(one)
    one.window.typed_line.lines_pasted.emit((("ab", "cd", "ef", "gh."),) * 6)
    one.wait(lambda: len(one.cues) == 6)
    one.wait(lambda: bool(one.application.further.left_out))
    keeper = one.application.history.writer
    one.wait(lambda: keeper.running_journal is not None)
    journal = keeper.running_journal
    n_owed = len(one.application.bridge.utterances.owing)
    assert n_owed
    monkeypatch.setattr(Targets, "make_up", make_up)
    go_on(one)
    one.wait(lambda: not one.application.bridge.utterances.owing)
    one.wait(lambda: not one.application.further.left_out)
    one.window.close()
    cues = read_session(journal).cues
    assert len(cues) == 6
    assert all(cue.further[0].text for cue in cues)
    others = [path for path in keeper.sessions_folder.glob("*/session.jsonl") if path != journal]
    found = [cue.source for path in others for cue in read_session(path).cues]
    assert found == (["Yes."] if go_on is earlier_session else [])


def test_what_a_language_still_owed_at_the_end_is_made_up_for_once_the_session_is_continued(
    one, monkeypatch, qtbot, tmp_path, tiny
):
    monkeypatch.setattr("engine.translation.targets.MOST_WAITING", 12)
    make_up = Targets.make_up
    monkeypatch.setattr(Targets, "make_up", lambda _: None)  # no time is left for it
    in_french(one)
    one.window.typed_line.lines_pasted.emit((("ab", "cd", "ef", "gh."),) * 6)
    one.wait(lambda: len(one.cues) == 6)
    further, keeper = one.application.further, one.application.history.writer
    one.wait(lambda: 0 < n_lacking(keeper.cues).get("fr", 0) == further.left_out.get("fr"))
    n_owed = further.left_out["fr"]
    one.window.close()
    session = read_session(next((tmp_path / "sessions").glob("*/session.jsonl")))
    assert n_lacking(session.cues) == {"fr": n_owed}
    monkeypatch.setattr(Targets, "make_up", make_up)
    second = Program(qtbot, tmp_path, TinyEngine(), model=tiny).open()
    second.application.captions.resume(session)
    second.wait_until_ready()
    second.wait(lambda: not n_lacking(second.application.history.writer.cues))
    second.wait(lambda: not second.application.further.left_out)
    assert all("\n" in caption for _, caption in cells(second.window.transcript))
    second.window.close()
    found = read_session(next((tmp_path / "sessions").glob("*/session.jsonl"))).cues
    assert [replace(cue, further=()) for cue in found] == [
        replace(cue, further=()) for cue in session.cues
    ]
    assert all(cue.further[0].text for cue in found)


def test_what_an_earlier_session_lacks_is_made_up_for_in_a_language_that_is_chosen_later(one):
    lacking = [{"language": "fr", "text": ""}, {"language": "es", "text": "Sí."}]
    more = {"source": "ab cd ef gh.", "source_language": "en", "language": "de"}
    earlier_session(one, further=lacking, doubtful=True, confidence=0.25, **more)
    ((before,),) = [one.cues]
    in_french(one)
    one.wait(lambda: not n_lacking(one.cues))
    (cue,) = one.cues
    texts = {further.language: further.text for further in cue.further}
    assert texts["es"] == "Sí."
    assert replace(cue, further=()) == replace(before, further=())
    assert cells(one.window.transcript) == [("ab cd ef gh.", f"Ja.\n{texts['fr']}")]


def test_without_a_second_language_it_is_not_computed_any_more(one):
    in_french(one)
    one.window.choices.second.pick("")
    one.wait(lambda: one.application.further.ready == ())
    assert one.stored()["captions"]["second"] == ""
    one.say("ab cd ef gh.")
    one.wait(lambda: bool(one.cues))
    assert not one.cues[0].further


def test_a_language_that_fails_is_not_chosen_any_more_and_the_captions_go_on(one, monkeypatch):
    monkeypatch.setattr(one.application.further, "_own", ("de", "pl"))  # as if it knew it
    one.window.choices.second.aboutToShow.emit()
    one.window.choices.second.pick("pl")
    one.wait(lambda: one.window.choices.second.value == "")
    assert "There are no captions in Polish." in one.window.banner.sentence.text()
    one.say("ab cd.")
    one.wait(lambda: bool(one.cues))
