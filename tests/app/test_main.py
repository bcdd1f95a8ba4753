import importlib.metadata
import os
import sys
from pathlib import Path

import pytest

import app.controllers.application  # noqa: F401  so that a test can take it away
from app.__main__ import main
from app.cli import translate
from app.config.preferences import LaunchSettings
from tests.support.programs.run import ran

HEAVY = ("torch", "transformers", "tokenizers")


@pytest.fixture
def launched(monkeypatch, tmp_path):
    """Keeps what the window would be opened with, instead of opening it."""
    settings = []
    monkeypatch.setattr("app.controllers.startup.run", lambda it: settings.append(it) or 0)
    monkeypatch.setenv("SURTITLE_HOME", str(tmp_path))
    return settings


def modules_after(code):
    """Which modules a fresh Python has after running code."""
    done = ran(sys.executable, "-c", code + "\nimport sys; print(*sys.modules)", check=True)
    return set(done.stdout.split())


def test_the_window_is_there_before_torch_is_imported():
    code = """
import os, pathlib
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtWidgets import QApplication
from app.controllers.application import Application
from app.config.preferences import LaunchSettings
from app.session.engine_bridge import EngineBridge
def make(*_):
    import sys
    early = [name for name in ("torch", "transformers", "tokenizers") if name in sys.modules]
    assert application.window.isVisible(), "loading began before the window was seen"
    assert not early, early
    raise RuntimeError("seen")
qt = QApplication([])
application = Application(LaunchSettings(preferences_file=pathlib.Path("/nowhere/x"),
                                         places_file=pathlib.Path("/nowhere/y"),
                                         data_folder=pathlib.Path("/nowhere"),
                                         log_folder=pathlib.Path("/nowhere"),
                                         model=pathlib.Path("/nowhere")), EngineBridge(make))
application.bridge.event_came.connect(application.window.close)
application.finished.connect(qt.quit)
application.show()
qt.exec()
assert application.window.banner.sentence.text().endswith("could not be loaded: seen.")
"""
    assert not modules_after(code) & set(HEAVY)


def test_without_a_screen_one_sentence_names_the_terminal_command(monkeypatch, capsys):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    assert main([]) == 1
    assert "type: surtitle translate --to de\n" in capsys.readouterr().err


def settings_with(folder, **chosen):
    return LaunchSettings(
        preferences_file=folder / "settings.toml",
        places_file=folder / "places.toml",
        data_folder=folder,
        log_folder=folder / "logs",
        **chosen,
    )


def test_the_arguments_become_settings(launched, tmp_path):
    arguments = ["--model", "m", "--device", "cpu", "--to", "fr", "--policy", "wait:3"]
    assert main([*arguments, "--adapter", "none", "--reset-places"]) == 0
    chosen = {"model": Path("m"), "device": "cpu", "language": "fr", "policy": "wait:3"}
    assert launched == [settings_with(tmp_path, **chosen, no_adapter=True, forget_places=True)]


def test_without_arguments_the_preferences_decide(launched, tmp_path):
    assert main([]) == 0
    assert launched == [settings_with(tmp_path)]


@pytest.mark.parametrize("command", ["toggle", "pause", "clear", "lock"])
def test_a_command_goes_to_the_running_window(launched, command, monkeypatch, tmp_path):
    told = []
    monkeypatch.setattr("app.controllers.startup.tell_running", lambda *it: told.append(it) or 3)
    monkeypatch.setattr("app.__main__._lacks_screen", lambda: True)
    assert main([f"--{command}"]) == 3
    assert told == [(settings_with(tmp_path), command)]
    assert launched == []


def test_through_xwayland_only_by_the_preference_where_there_is_one(launched, monkeypatch):
    monkeypatch.setenv("QT_QPA_PLATFORM", "")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    main([])
    assert os.environ["QT_QPA_PLATFORM"] == ""
    assert launched[0].can_use_xwayland
    launched[0].preferences_file.write_text("[overlay]\nthrough_xwayland = true\n")
    main([])
    assert os.environ["QT_QPA_PLATFORM"] == "xcb;wayland"


@pytest.mark.usefixtures("launched")
def test_what_libraries_cache_lies_in_the_folder_of_the_program(monkeypatch, tmp_path):
    for name in ("MPLCONFIGDIR", "TRITON_CACHE_DIR"):
        monkeypatch.setenv(name, "elsewhere")  # so that it is as before afterwards
        monkeypatch.delenv(name)
    main([])
    assert os.environ["MPLCONFIGDIR"] == str(tmp_path / "cache" / "matplotlib")
    assert os.environ["TRITON_CACHE_DIR"] == str(tmp_path / "cache" / "triton")


def test_without_another_home_choices_are_stored_where_the_system_wants_them(launched, monkeypatch):
    monkeypatch.delenv("SURTITLE_HOME")
    main([])
    assert launched[0].preferences_file.parts[-2:] == ("surtitle", "settings.toml")


@pytest.mark.parametrize(
    ("arguments", "usage", "error"),
    [
        (["--policy", "guess"], "", "argument --policy: "),
        (["--device", "tpu"], "", "invalid choice"),
        (["dance"], "", "invalid choice"),
        (["devices", "x"], "devices ", "unrecognized arguments"),
        (["check", "--banana"], "check ", "unrecognized arguments"),
        (["adapters", "list", "--x"], "adapters list ", "unrecognized arguments"),
        (["translate", "a", "b"], "translate ", "unrecognized arguments"),
        (["--device", "cpu", "listen", "--source", "x", "y"], "listen ", "unrecognized arguments"),
    ],
)
def test_a_wrong_option_gets_the_usage_of_its_command(arguments, usage, error, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"usage: surtitle {usage}")
    assert error in said


def show_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_the_version_is_that_of_the_installed_package(monkeypatch, capsys):
    monkeypatch.setattr(importlib.metadata, "version", {"surtitle": "1.2.3"}.__getitem__)
    assert show_version(capsys) == "surtitle 1.2.3\n"


def test_a_folder_that_is_not_installed_has_no_version(monkeypatch, capsys):
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert "not installed" in show_version(capsys)


def test_a_missing_library_is_a_sentence(monkeypatch, capsys):
    monkeypatch.delattr("app.controllers.startup", raising=False)
    monkeypatch.setitem(sys.modules, "app.controllers.startup", None)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert main([]) == 1
    assert "library that is missing" in capsys.readouterr().err


def test_help_and_refusal_list_the_same_policies(capsys, tmp_path):
    assert main(["translate", "--policy", "read:x", str(tmp_path)]) != 0
    refusal = capsys.readouterr().err
    assert f"is written {translate.POLICIES} (" in refusal


@pytest.mark.parametrize("command", [[], ["translate"], ["check"]])
def test_help_lists_the_codes_of_languages(capsys, command):
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    assert " ".join(translate.CODES.split()) in " ".join(capsys.readouterr().out.split())
