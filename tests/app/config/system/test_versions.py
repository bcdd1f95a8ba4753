from email.message import Message
from importlib import metadata

import pytest

from app.config.system.versions import LIBRARIES, licence_of, version_of


def test_every_library_that_is_installed_names_its_licence():
    for name in LIBRARIES:
        assert bool(licence_of(name)) == bool(version_of(name)), name
    assert licence_of("no such package") == version_of("no such package") == ""


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License-Expression": "MIT", "License": "the whole text"}, "MIT"),
        ({"License": " BSD "}, "BSD"),
        ({"License": "x" * 80}, "x" * 80),
        ({"License": "x" * 81, "Classifier": "License :: OSI Approved :: MIT"}, "MIT"),
        ({"License": "a\nb", "Classifier": "Programming Language :: Python"}, ""),
        ({"License-Expression": "x" * 81}, "x" * 81),
    ],
)
def test_a_licence_is_the_shortest_thing_that_names_it(monkeypatch, fields, licence):
    found = Message()
    for name, value in fields.items():
        found[name] = value
    monkeypatch.setattr(metadata, "metadata", lambda _package: found)
    assert licence_of("some package") == licence
