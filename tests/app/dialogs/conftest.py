import pytest
from PySide6.QtWidgets import QAbstractButton, QWidget


@pytest.fixture
def parts_outside():
    """Give the names of what a window keeps and never shows, since it is in no layout of it."""

    def names(window):
        kept = {**vars(window)}
        for name, one in vars(window).items():
            if isinstance(one, dict):
                kept |= {f"{name}[{key}]": part for key, part in one.items()}
        parts = {name: one for name, one in kept.items() if isinstance(one, QWidget)}
        inside = {name for name, one in parts.items() if window.isAncestorOf(one)}
        assert any(isinstance(parts[name], QAbstractButton) for name in inside)
        return sorted(set(parts) - inside)

    return names
