import sys

from app.config.system.progress_line import progress_line


def test_a_line_is_written_over_when_it_changes_and_ended_if_there_was_one(capsys, monkeypatch):
    with progress_line() as show:
        for text in ("1 %", "1 %", "2 %"):
            show(text)
    assert capsys.readouterr().err == "\rsurtitle: 1 %\rsurtitle: 2 %\n"
    with progress_line():
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", None)
    with progress_line() as show:
        show("nobody sees it")
