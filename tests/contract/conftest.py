"""Contracts hold for what research adds, too."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def _papers(papers):
    """Let each test have the layouts, methods and systems of the papers."""
