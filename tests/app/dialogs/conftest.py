from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QWidget

from app.look.widgets import desktop


@pytest.fixture
def pick(qapp, monkeypatch):
    """Answer each file dialog with a path, or with none; gives what was asked: title, kinds."""
    asked, answer = [], [""]

    def ask(parent, title, _place, kinds=None):
        assert isinstance(parent, QWidget)
        asked.append((title, kinds))
        return answer[0] if kinds is None else (answer[0], kinds)

    def pick(path):
        answer[0] = str(path or "")
        return asked

    for name in ("getSaveFileName", "getOpenFileName", "getExistingDirectory"):
        monkeypatch.setattr(QFileDialog, name, ask)
    monkeypatch.setattr(desktop, "last_folder", lambda *_, **__: Path())
    yield pick
    qapp.setProperty(desktop._LAST, None)
