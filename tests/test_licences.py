"""The licences that the Debian package carries, of the packages that are installed here."""

import importlib.util
from pathlib import Path

import pytest

PLACE = Path(__file__).parents[1] / "scripts" / "licences.py"


@pytest.fixture(scope="module")
def licences():
    spec = importlib.util.spec_from_file_location("licences", PLACE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def told(licences, tmp_path_factory):
    bundle, folder = tmp_path_factory.mktemp("bundle"), tmp_path_factory.mktemp("doc") / "licences"
    return licences.collected(bundle, folder), folder


@pytest.mark.parametrize(
    "line",
    [
        "Qt, in PySide6_Essentials: LGPL-3.0-only",
        "FFmpeg, in av: LGPL-3.0-or-later",
        "x264, in av: GPL-2.0-or-later",
        "x265, in av: GPL-2.0-or-later",
        "ONNX Runtime, in onnxruntime: MIT",
        "OpenBLAS, in numpy: BSD-3-Clause",
    ],
)
def test_libraries_in_wheels_are_named_with_their_licence(told, line):
    assert f"\n{line}\n" in told[0]


def test_every_package_of_the_light_program_is_named_and_its_texts_are_there(licences, told):
    text, folder = told
    parts = licences.needed()
    assert {"av", "PySide6_Essentials", "onnxruntime", "starlette", "h11", "ctranslate2"} <= set(
        parts
    )
    assert "torch" not in parts
    for name, package in parts.items():
        assert f"\n{name} {package.version}: " in text
    assert "\nPython 3" in text
    kept = [line.strip() for line in text.splitlines() if line.startswith("    licences/")]
    assert len(kept) > 30
    assert all((folder.parent / name).stat().st_size for name in kept)
    assert len({*kept}) == len(kept) == sum(path.is_file() for path in folder.rglob("*"))


def test_a_library_whose_licence_is_not_known_is_refused(licences):
    with pytest.raises(licences.LicenceError, match=r"libnew-1\.so is not known"):
        licences._library("libnew-1.so")
