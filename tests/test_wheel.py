"""What others install: built, looked into, installed outside the checkout, and run."""

import configparser
import os
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.support.programs.run import ROOT, ran

PACKAGES = ("app", "engine", "training", "assets")
SHARED = {
    "share/applications/surtitle.desktop": "assets/desktop/surtitle.desktop",
    "share/metainfo/surtitle.metainfo.xml": "assets/desktop/surtitle.metainfo.xml",
    "share/icons/hicolor/scalable/apps/surtitle.svg": "assets/icons/surtitle.svg",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # building and installing are done in the first test that wants them
    pytest.mark.skipif(
        not (ROOT / ".venv/bin/python").exists(), reason="scripts/package works with .venv"
    ),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder that scripts/package built into."""
    folder = tmp_path_factory.mktemp("dist")
    done = ran(ROOT / "scripts/package", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (found,) = built.glob("*.whl")
    return found


def files_of_the_program():
    """Every file under the packages, but what Python makes of them and what a training keeps."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            place = path.relative_to(ROOT)
            if path.is_file() and not {"__pycache__", "kept"} & set(place.parts):
                yield place.as_posix()


def test_the_wheel_holds_every_file_of_the_program_and_no_other(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.startswith("surtitle-")}
        installed = {name for name in files_of_the_program() if "/research/" not in name}
        assert names == installed
        for name in names:
            assert archive.read(name) == (ROOT / name).read_bytes(), name


def test_the_wheel_brings_model_languages_icon_and_menu_entry(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        data = next(name for name in names if ".data/data/share" in name).partition("/")[0]
        for place, source in SHARED.items():
            assert archive.read(f"{data}/data/{place}") == (ROOT / source).read_bytes()
    assert {"assets/models/surtitle-en-de/model.safetensors"} <= names
    for card in ROOT.glob("assets/models/*/surtitle.json"):  # each with its licence and its data
        assert f"assets/models/{card.parent.name}/README.md" in names
    assert wheel.stat().st_size < 100_000_000
    assert {"assets/languages/surtitle_de.qm", "assets/icons/surtitle.svg"} <= names


def test_the_wheel_starts_its_programs_and_names_its_licence(wheel):
    with zipfile.ZipFile(wheel) as archive:
        about = next(name for name in archive.namelist() if name.endswith("/METADATA"))
        folder = about.partition("/")[0]
        entries = configparser.ConfigParser()
        entries.read_string(archive.read(f"{folder}/entry_points.txt").decode())
        assert dict(entries["console_scripts"]) == {
            "surtitle": "app.start:main",
            "surtitle-train": "training.__main__:main",
        }
        assert archive.read(f"{folder}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
        assert "License-Expression: Apache-2.0" in archive.read(about).decode()


def test_the_archive_of_the_sources_holds_all_that_checking_and_building_need(built):
    (found,) = built.glob("*.tar.gz")
    with tarfile.open(found) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
        "README.md",
        "LICENSE",
        "locks/run.txt",
    }
    wanted |= {"scripts/setup", "scripts/check", "tests/conftest.py", *files_of_the_program()}
    assert wanted <= names
    assert not {name for name in names if name.startswith(("data/", "runs/", "dist/", ".venv"))}


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """An environment outside the checkout that has the wheel; libraries are those of this one."""
    place = tmp_path_factory.mktemp("elsewhere") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", place)
    libraries = sysconfig.get_path("purelib")
    packages = Path(
        run(place / "bin/python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    )
    pip = [sys.executable, "-m", "pip", "--python", place / "bin/python"]
    options = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    run(*pip, "install", *options, wheel)
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    return place


def run(*command, cwd=None, stdin="", home=None):
    """Run a command that knows nothing of the checkout; give what it said."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "COV_", "PYTEST_"))
    }
    if home is not None:
        environment |= {"SURTITLE_HOME": str(home), "HF_HUB_OFFLINE": "1"}
    done = ran(*list(map(str, command)), cwd=cwd, input=stdin, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_installed_elsewhere_it_knows_its_version_and_imports_nothing_of_the_checkout(
    installed, tmp_path
):
    python = installed / "bin/python"
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    said = run(installed / "bin/surtitle", "--version", cwd=tmp_path)
    assert said == f"surtitle {version}"
    code = "import app, engine, training, engine.hub.catalogue as b; print(*b.bundled_models())"
    code += "; print(app.__file__, engine.__file__, training.__file__)"
    for place in run(python, "-c", code, cwd=tmp_path).split():
        assert Path(place).is_relative_to(installed)


def test_installed_elsewhere_it_translates_in_the_terminal(installed, tmp_path):
    command = [installed / "bin/surtitle", "translate", "--to", "de", "--device", "cpu"]
    said = run(*command, cwd=tmp_path, stdin="Good morning.\n", home=tmp_path / "home")
    assert said == "Guten Morgen."


WINDOW = """
import os, sys
os.environ["QT_QPA_PLATFORM"] = "offscreen"
from PySide6.QtCore import QTimer
from app import __main__ as entry
from app.controllers import startup
show = startup.Application.show
def show_and_type(application):
    show(application)
    window = application.window
    window.typed_line.insert("Good morning. ")
    window.typed_line.returnPressed.emit()
    look = QTimer(window, interval=20)
    def close_when_translated():
        rows = window.transcript.model()
        caption = rows.data(rows.index(0, 1)) if rows.rowCount() else ""
        if caption.endswith("."):
            icon = startup.QApplication.windowIcon()
            print(caption, "|", window.menuBar().actions()[0].text(), "|",
                  icon.pixmap(16, 16).isNull())
            look.stop()
            window.close()
    look.timeout.connect(close_when_translated)
    look.start()
startup.Application.show = show_and_type
sys.exit(entry.main([]))
"""


def test_installed_elsewhere_the_window_opens_in_german_and_captions_come(installed, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text('[interface]\nlanguage = "de"\n')
    said = run(installed / "bin/python", "-c", WINDOW, cwd=tmp_path, home=home)
    assert said == "Guten Morgen. | &Datei | False"
