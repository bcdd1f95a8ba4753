import errno
import tomllib
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime

import pytest

from app.config import toml_file
from app.config.preferences import (
    CAPTIONS_ONLY,
    ME,
    MODES,
    CaptionPreferences,
    Preferences,
    PreferencesFile,
    TranslationPreferences,
)
from app.config.toml_file import TomlFile
from tests.support.app.preferences import CHOSEN


def test_a_file_of_as_many_dots_as_are_allowed_is_read_and_one_more_is_refused(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("# " + "." * toml_file._MOST_DOTS)
    assert toml_file.parse(path) == {}
    path.write_text("# " + "." * (toml_file._MOST_DOTS + 1))
    with pytest.raises(ValueError, match="dots"):
        toml_file.parse(path)


OTHERS = Preferences(translation=TranslationPreferences(language="es"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "settings.toml"


def test_the_choices_of_these_tests_differ_from_the_defaults_everywhere():
    for page in fields(CHOSEN):
        chosen, own = getattr(CHOSEN, page.name), getattr(Preferences(), page.name)
        if page.name in {"model", "accepted", "shortcuts"}:
            assert chosen != own
        else:
            assert all(getattr(chosen, it.name) != getattr(own, it.name) for it in fields(own))


def test_what_was_written_is_read_again(path):
    assert PreferencesFile(path).write(CHOSEN) is None
    assert PreferencesFile(path).read() == (CHOSEN, None)
    assert [file.name for file in path.parent.iterdir()] == ["settings.toml"]


def test_unknown_keys_are_kept(path):
    path.parent.mkdir()
    path.write_text(
        'schema_version = 7\nfuture = [1, {a = "b"}]\n[overlay]\ntilt = 3\n[new]\nx = 1\n'
    )
    file = PreferencesFile(path)
    file.read()
    file.write(CHOSEN)
    content = tomllib.loads(path.read_text())
    assert content["future"] == [1, {"a": "b"}]
    assert content["schema_version"] == 7
    assert content["overlay"] == {"tilt": 3, **asdict(CHOSEN.overlay)}
    assert content["new"] == {"x": 1}


def test_a_damaged_file_gives_way_to_its_backup(path):
    file = PreferencesFile(path)
    file.write(CHOSEN)
    file.write(OTHERS)
    path.write_text("language = [")
    preferences, notice = PreferencesFile(path).read()
    assert preferences == CHOSEN
    assert "cannot be read" in str(notice)
    assert "settings.toml.bak" in str(notice)


def test_a_number_of_too_many_digits_is_told_in_our_words(path):
    path.parent.mkdir()
    path.write_text("x = " + "9" * 5000)
    assert "(a whole number in it is too large);" in str(PreferencesFile(path).read()[1])


@pytest.mark.parametrize("damage", [b"\xff\xfe", b"language = ["])
def test_two_damaged_files_give_way_to_the_defaults(path, damage):
    path.parent.mkdir()
    path.write_bytes(damage)
    path.with_name("settings.toml.bak").write_bytes(damage)
    preferences, notice = PreferencesFile(path).read()
    assert preferences == Preferences()
    assert str(notice).endswith("Surtitle starts with its own choices")


def test_a_damaged_file_never_becomes_the_backup(path):
    file = PreferencesFile(path)
    file.write(CHOSEN)
    file.write(CHOSEN)
    path.write_text("[[[")
    file = PreferencesFile(path)
    file.read()
    file.write(OTHERS)
    assert tomllib.loads(path.with_name("settings.toml.bak").read_text())["model"]


WRONG = r"""
model = 3
[translation]
language = "fr"
policy = "guess"
[captions]
lines = 9
characters = true
point_size = 30.5
preset = "pink"
outline = 1
font = "a\u0000b"
[privacy]
page_port = "\u0000"
[shortcuts]
pause = "\u0000"
[interface]
language = "LONG"
"""


def test_one_wrong_value_leaves_the_others(path):
    path.parent.mkdir()
    path.write_text(WRONG.replace("LONG", "x" * 9_000))
    preferences, notice = PreferencesFile(path).read()
    assert preferences == Preferences(translation=TranslationPreferences(language="fr"))
    for name in ("model = 3", "translation.policy = 'guess'", "captions.lines = 9"):
        assert name in str(notice)
    for name in (
        "characters = True",
        "point_size = 30.5",
        "preset = 'pink'",
        "outline = 1",
        "font",
        "privacy.page_port",
    ):
        assert name in str(notice)
    assert str(notice).endswith("could not be used")
    assert len(str(notice)) < 1_000


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(path):
    path.parent.write_text("a file where the folder should be")
    assert "could not be stored" in str(PreferencesFile(path).write(CHOSEN))


def test_a_full_disk_leaves_the_file_as_it_was(path, monkeypatch):
    file = PreferencesFile(path)
    file.write(CHOSEN)

    def full(_file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("engine.files.os.fsync", full)
    failure = file.write(OTHERS)
    assert "No space left on device; they hold until" in str(failure)
    assert PreferencesFile(path).read() == (CHOSEN, None)
    assert list(path.parent.glob("*.new")) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [("lines", 0), ("lines", 5), ("characters", 19), ("point_size", 97), ("mode", "nothing"),
     ("text_colour", "red"), ("background_colour", "#12345"), ("opacity", 0.1),
     ("opacity", float("nan")), ("doubt", "red"), ("font", "x" * 65), ("name_me", "x" * 65),
     ("name_them", "x" * 65), ("second", "../x")],
)  # fmt: skip
def test_a_choice_out_of_bounds_is_refused(name, value):
    with pytest.raises(ValueError, match=f"^'{name}' should be "):
        replace(CaptionPreferences(), **{name: value})


def test_an_opacity_is_read_as_a_number_of_any_kind(path):
    path.parent.mkdir()
    for written, read in (("1", 1.0), ("0.5", 0.5), ("1" * 400, None), ("true", None)):
        path.write_text(f"schema_version = 2\n[captions]\nopacity = {written}\n")
        preferences, notice = PreferencesFile(path).read()
        assert preferences.captions.opacity == read
        assert (notice is None) == (read is not None)


def test_a_second_language_is_shown_where_something_is_translated():
    shown = [CaptionPreferences(second="pl", mode=mode).second_shown for mode in MODES]
    assert shown == ["" if mode == CAPTIONS_ONLY else "pl" for mode in MODES]


def test_speakers_have_the_names_that_were_given():
    assert CaptionPreferences().speaker_names == {}
    assert CaptionPreferences(name_me=" Ada ", name_them=" ").speaker_names == {ME: "Ada"}


def test_toml_is_read_back_as_it_was(tmp_path):
    content = {
        "bare-key_1": 1,
        "needs quoting": 'a "quoted" \\ \x7f \x01 ü\n🙂',
        "yes": True,
        "half": 0.5,
        "when": datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC),
        "list": [1, "two", [3.5], {"deep": {"deeper": False}}],
        "table": {"ü": "x", "inner": {"a": []}},
    }
    assert TomlFile(tmp_path / "file.toml").write(content) is None
    file = TomlFile(tmp_path / "file.toml")
    assert file.read() is None
    assert file.content == content
