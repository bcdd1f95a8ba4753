from app.captions.journal import past_sessions, read_session
from app.config.preferences import BOTH, TRANSLATE
from app.main_window.transcript_model import CAPTION, LANGUAGE_ROLE
from tests.support.app.journals import STARTED, cue, kept, written
from tests.support.app.whole_program import cells


def test_the_open_export_dialog_follows_the_captions(one, tmp_path):
    dialog = one.application.history.export_dialog
    one.window.menu_actions.export.trigger()
    assert (dialog.message.text(), dialog.save.isEnabled()) == ("0 captions", False)
    one.say_whole("Good morning.")
    assert (dialog.message.text(), dialog.save.isEnabled()) == ("1 caption", True)
    dialog.form.setCurrentIndex(dialog.form.findData("txt"))
    dialog.export_to(tmp_path / "mine.txt")
    one.say_whole("Good night.")
    assert "1 caption was written" in dialog.message.text()
    dialog.export_to(tmp_path / "mine.txt")
    assert len((tmp_path / "mine.txt").read_text().splitlines()) == 2
    one.window.menu_actions.new_session.trigger()
    assert not dialog.save.isEnabled()
    one.window.banner.offer.click()
    assert dialog.save.isEnabled()


def test_what_is_exported_follows_the_mode_of_the_captions(program):
    one = program().open()
    content = one.application.history.export_dialog.content
    for mode, exported in ((BOTH, "both"), (TRANSLATE, "captions")):
        one.window.choices.mode.pick(mode)
        assert content.currentData() == exported


def test_the_export_of_an_earlier_session_does_not_follow_the_running_one(one):
    history = one.application.history
    one.say_whole("Good morning.")
    one.window.menu_actions.new_session.trigger()
    one.wait(lambda: bool(history.sessions_dialog.read() or history.sessions_dialog.list.count()))
    history.sessions_dialog.export.click()
    one.say_whole("Good night.")
    one.say_whole("Sleep well.")
    assert history.export_dialog.message.text() == "1 caption"


def crashed(tmp_path, *entries):
    """Leave a session as a crash does, with the half of a line."""
    path = written(tmp_path / "sessions", entries, close=False)
    path.write_bytes(path.read_bytes() + b'{"event": "cue", "key": 9, "st')
    return path


def resumed(program):
    """Start, take the offer to see the session that crashed, and continue it."""
    one = program().open().wait_until_ready()
    one.window.banner.offer.click()
    shown = one.application.history.session_window
    assert shown.isVisible()
    shown.resume.click()
    assert not shown.isVisible()
    return one


def test_a_session_that_crashed_is_continued(program, tmp_path):
    path = crashed(tmp_path, kept(0), kept(1, marked=True))
    one = resumed(program)
    assert [source for source, _ in cells(one.window.transcript)] == ["Good 0", "Good 1"]
    assert one.window.transcript.rows.marked_rows == [1]
    one.wait(lambda: not path.exists())
    assert read_session(one.application.history.writer.running_journal).cues[0] == cue(0)
    one.say_whole("Good morning.")
    times_s = [view.begun_s for view in one.window.transcript.rows.views]
    assert times_s == sorted(times_s)
    assert one.application.history.writer.started == STARTED
    one.window.close()
    (session,) = past_sessions(tmp_path / "sessions")
    assert [cue.source for cue in session.cues] == ["Good 0", "Good 1", "Good morning."]
    assert [cue.marked for cue in session.cues] == [False, True, False]
    assert session.cues[:1] == (cue(0),)
    assert (session.started, session.ended_well, session.damaged_lines) == (STARTED, True, 0)


def test_once_a_session_is_continued_the_list_of_earlier_ones_is_gone_and_its_language_is_marked(
    program, tmp_path
):
    crashed(tmp_path, kept(0, language="fr"), kept(1, language="fr"))
    one = program().open().wait_until_ready()
    history = one.application.history
    history.sessions_dialog.open_list()
    history.sessions_dialog.show_again.click()
    history.session_window.resume.click()
    assert not history.sessions_dialog.isVisible(), "it would list what runs now"
    assert [view.language for view in one.window.transcript.rows.views] == ["fr", "fr"]
    one.say_whole("Good morning.")
    rows = one.window.transcript.rows
    marks = [rows.index(row, CAPTION).data(LANGUAGE_ROLE) for row in range(3)]
    assert marks == ["FR", "FR", "DE"]


def test_what_is_deleted_of_a_continued_session_is_deleted_for_good(program, tmp_path):
    crashed(tmp_path, kept(0), kept(1))
    one = resumed(program)
    one.window.transcript.delete_wanted.emit((one.window.transcript.rows.views[0].key,))
    one.window.close()
    (session,) = past_sessions(tmp_path / "sessions")
    assert session.cues == (cue(1),)


def test_the_running_session_is_kept_where_an_earlier_one_is_continued(program, tmp_path):
    crashed(tmp_path, kept(0))
    one = program().open().wait_until_ready()
    one.say_whole("Good morning.")
    one.window.banner.offer.click()
    one.application.history.session_window.resume.click()
    assert [source for source, _ in cells(one.window.transcript)] == ["Good 0"]
    one.say_whole("Good night.")
    one.window.close()
    kept_now = {tuple(it.source for it in one.cues) for one in past_sessions(tmp_path / "sessions")}
    assert kept_now == {("Good morning.",), ("Good 0", "Good night.")}


def test_a_running_session_that_is_not_kept_is_not_given_up_for_an_earlier_one(program, tmp_path):
    crashed(tmp_path, kept(0))
    (tmp_path / "settings.toml").write_text("schema_version = 2\n[privacy]\njournal = false\n")
    one = program().open().wait_until_ready()
    one.say_whole("Good morning.")
    one.window.banner.offer.click()
    one.application.history.session_window.resume.click()
    assert [source for source, _ in cells(one.window.transcript)] == ["Good morning."]
    assert "are not saved" in one.window.banner.sentence.text()
    one.window.menu_actions.new_session.trigger()
    one.application.history.session_window.resume.click()
    assert [source for source, _ in cells(one.window.transcript)] == ["Good 0"]
