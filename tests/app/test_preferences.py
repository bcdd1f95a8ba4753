import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.preferences import Preferences, PreferencesFile
from app.toml_text import toml_text
from engine.errors import PolicyError

CHOSEN = Preferences(
    model=Path('/models/ö "x"'), language="fr", policy="wait:5", overlay_visible=False
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "settings.toml"


def test_without_a_file_the_program_has_its_own_choices(path):
    assert PreferencesFile(path).read() == (Preferences(), None)


def test_what_was_written_is_read_again(path):
    assert PreferencesFile(path).write(CHOSEN) is None
    assert PreferencesFile(path).read() == (CHOSEN, None)
    assert [file.name for file in path.parent.iterdir()] == ["settings.toml"]


def test_unknown_keys_are_kept(path):
    path.parent.mkdir()
    path.write_text('schema_version = 7\nfuture = [1, {a = "b"}]\n[overlay]\nlines = 3\n')
    file = PreferencesFile(path)
    file.read()
    file.write(CHOSEN)
    content = tomllib.loads(path.read_text())
    assert content["future"] == [1, {"a": "b"}]
    assert content["schema_version"] == 7
    assert content["overlay"] == {"lines": 3, "visible": False}


def test_a_damaged_file_gives_way_to_its_backup(path):
    file = PreferencesFile(path)
    file.write(CHOSEN)
    file.write(Preferences(language="es"))
    path.write_text("language = [")
    preferences, notice = PreferencesFile(path).read()
    assert preferences == CHOSEN
    assert "cannot be read" in notice
    assert "settings.toml.bak" in notice


@pytest.mark.parametrize("damage", [b"\xff\xfe", b"language = ["])
def test_two_damaged_files_give_way_to_the_defaults(path, damage):
    path.parent.mkdir()
    path.write_bytes(damage)
    path.with_name("settings.toml.bak").write_bytes(damage)
    preferences, notice = PreferencesFile(path).read()
    assert preferences == Preferences()
    assert notice.endswith("Surtitle starts with its own choices.")


def test_a_damaged_file_never_becomes_the_backup(path):
    file = PreferencesFile(path)
    file.write(CHOSEN)
    file.write(CHOSEN)
    path.write_text("[[[")
    file = PreferencesFile(path)
    file.read()
    file.write(Preferences(language="es"))
    assert tomllib.loads(path.with_name("settings.toml.bak").read_text())["model"]


def test_one_wrong_value_leaves_the_others(path):
    path.parent.mkdir()
    path.write_text('model = 3\n[translation]\nlanguage = "fr"\npolicy = "guess"\n')
    preferences, notice = PreferencesFile(path).read()
    assert preferences == Preferences(language="fr")
    assert "model = 3, policy = 'guess' could not be used" in notice


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(path):
    path.parent.write_text("a file where the folder should be")
    assert "could not be stored" in PreferencesFile(path).write(CHOSEN)


def test_a_wrong_policy_is_refused():
    with pytest.raises(PolicyError):
        Preferences(policy="guess")


def test_toml_is_read_back_as_it_was():
    content = {
        "bare-key_1": 1,
        "needs quoting": 'a "quoted" \\ \x7f \x01 ü\n🙂',
        "yes": True,
        "half": 0.5,
        "when": datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC),
        "list": [1, "two", [3.5], {"deep": {"deeper": False}}],
        "table": {"ü": "x", "inner": {"a": []}},
    }
    assert tomllib.loads(toml_text(content)) == content


def test_what_toml_cannot_say_is_refused():
    with pytest.raises(ValueError, match="TOML has no way"):
        toml_text({"a": None})
