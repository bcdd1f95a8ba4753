from PySide6.QtCore import Qt


def said(one, text):
    """Type a sentence and wait until it is kept."""
    n_cues = len(one.application.keeper.cues)
    one.type(text)
    one.press(Qt.Key.Key_Return)
    one.wait(lambda: len(one.application.keeper.cues) == n_cues + 1)


def test_the_open_export_dialog_follows_the_captions(program, tmp_path):
    one = program().open().wait_until_ready()
    dialog = one.application.archive.export_dialog
    one.window.menu_actions.export.trigger()
    assert (dialog.message.text(), dialog.save.isEnabled()) == ("0 captions", False)
    said(one, "Good morning.")
    assert (dialog.message.text(), dialog.save.isEnabled()) == ("1 caption", True)
    dialog.form.setCurrentIndex(dialog.form.findData("txt"))
    dialog.export_to(tmp_path / "mine.txt")
    said(one, "Good night.")
    assert "1 caption was written" in dialog.message.text()
    dialog.export_to(tmp_path / "mine.txt")
    assert len((tmp_path / "mine.txt").read_text().splitlines()) == 2
    one.window.menu_actions.new_session.trigger()
    assert not dialog.save.isEnabled()
    one.window.banner.offer.click()
    assert dialog.save.isEnabled()


def test_the_export_of_an_earlier_session_does_not_follow_the_running_one(program):
    one = program().open().wait_until_ready()
    archive = one.application.archive
    said(one, "Good morning.")
    one.window.menu_actions.new_session.trigger()
    one.wait(lambda: bool(archive.sessions_dialog.read() or archive.sessions_dialog.list.count()))
    archive.sessions_dialog.export.click()
    said(one, "Good night.")
    said(one, "Sleep well.")
    assert archive.export_dialog.message.text() == "1 caption"
