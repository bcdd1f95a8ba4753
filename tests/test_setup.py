"""What ``scripts/setup`` installs, by a .venv whose Python only writes down what it is asked."""

import itertools
import os
import re
import shutil
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.programs.run import ROOT, ran

TOOLS = ("bash", "cat", "cksum", "dirname", "env", "grep", "head", "readlink", "timeout", "uname")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{shutil.which('bash')}\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def place(tmp_path):
    """A copy of what setup reads, and a path without the system's packages."""
    for tool in TOOLS:
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/setup", "scripts/debian-packages", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "locks", tmp_path / "locks")
    program(
        tmp_path / ".venv" / "bin" / "python", f'[[ $1 != -m ]] || echo "$@" >>{tmp_path}/asked'
    )
    return tmp_path


def has_gpu(place, root=""):
    command = [ROOT / "scripts" / "has-nvidia-gpu", *filter(None, [root])]
    done = ran(*command, text=False, env={"PATH": str(place / "bin")})
    assert (done.stdout, done.stderr) == (b"", b"")
    return done.returncode == 0


def installed(place, *arguments, gpu):
    """Run setup; give the extras that pip is asked for, or nothing where it is not asked."""
    program(place / "scripts" / "has-nvidia-gpu", "exit 0" if gpu else "exit 1")
    (place / "asked").write_text("")
    command = [place / "scripts" / "setup", *arguments]
    ran(*command, text=False, env={"PATH": str(place / "bin")}, check=True)
    asked = (place / "asked").read_text().splitlines()
    return [line.rpartition("-e .")[2] for line in asked if "-e ." in line]


def test_a_gpu_that_is_built_in_later_is_found_and_one_that_is_gone_costs_nothing(place):
    assert installed(place, gpu=False) == ["[speech,translation,torch]"]
    assert installed(place, gpu=True) == ["[speech,translation,quantise]"]
    assert installed(place, gpu=False) == []


@pytest.mark.parametrize("gpu", [True, False])
def test_an_installation_for_tests_holds_everything(place, gpu):
    everything = "[speech,translation,evaluate,finetune,dev]"
    # then come word aligner and SimulEval, of which there is nothing here
    (place / "scripts" / "simuleval-environment").symlink_to(shutil.which("true"))
    assert installed(place, "--tests", gpu=gpu) == [everything]
    assert installed(place, gpu=gpu) == []
    assert installed(place, "--tests", gpu=gpu) == []


@pytest.mark.parametrize("gpu", [True, False])
def test_other_requirements_are_installed_anew(place, gpu):
    assert len(installed(place, gpu=gpu)) == 1
    with (place / "constraints.txt").open("a") as file:
        file.write("# changed\n")
    assert len(installed(place, gpu=gpu)) == 1
    assert installed(place, gpu=gpu) == []


@pytest.mark.parametrize("sign", ["dev/nvidia0", "dev/nvidia3", "proc/driver/nvidia/gpus/0000:01"])
def test_a_gpu_is_known_by_what_its_driver_shows(place, sign):
    (place / sign).parent.mkdir(parents=True)
    (place / sign).touch()
    assert has_gpu(place, str(place))


def test_a_driver_without_a_gpu_is_none(place):
    (place / "dev").mkdir()
    (place / "dev" / "nvidiactl").touch()
    (place / "proc" / "driver" / "nvidia" / "gpus").mkdir(parents=True)
    assert not has_gpu(place, str(place))


@pytest.mark.parametrize(
    ("says", "found"),
    [
        ("echo 'GPU 0: NVIDIA H100 (UUID: GPU-1)'", True),
        ("echo 'No devices were found'; exit 6", False),
        ("echo 'NVIDIA-SMI has failed because it could not communicate with the driver'", False),
    ],
)
def test_a_gpu_is_known_by_what_nvidia_smi_says(place, says, found):
    program(place / "bin" / "nvidia-smi", says)
    assert has_gpu(place, str(place)) is found


def test_an_environment_that_is_only_linked_to_is_never_emptied(place, tmp_path_factory):
    """``python -m venv --clear`` follows the link, and deletes what another checkout needs."""
    assert len(installed(place, gpu=False)) == 1
    other = tmp_path_factory.mktemp("other")
    shutil.copytree(place / "scripts", other / "scripts")
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(place / name, other / name)
    (other / ".venv").symlink_to(place / ".venv")
    before = sorted((place / ".venv").rglob("*"))
    surroundings = {"PATH": str(place / "bin"), "PYTHON": sys.executable}
    done = ran(other / "scripts" / "setup", env=surroundings)
    assert done.returncode == 1
    assert f".venv is a link to {place / '.venv'}" in done.stderr
    assert sorted((place / ".venv").rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "gpu", "lock"),
    [([], False, "run"), ([], True, "run-gpu"), (["--tests"], True, "tests")],
)
def test_every_package_is_installed_by_its_hash_but_torch(place, arguments, gpu, lock):
    (place / "scripts" / "simuleval-environment").symlink_to(shutil.which("true"))
    installed(place, *arguments, gpu=gpu)
    first, torch, program, *_ = (place / "asked").read_text().splitlines()
    assert first.endswith(f"--require-hashes --no-deps -r locks/{lock}.txt")
    assert torch.endswith("-c constraints.txt torch")
    assert "--no-deps --no-build-isolation -e ." in program


LINE = re.compile(
    r"^([\w.-]+)==(\S+)(?: ; [^\\]+)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n?)+)", re.M
)


def pinned(path):
    """The versions of a lock, by normalised name."""
    text = path.read_text()
    found = {canonicalize_name(name): version for name, version, _ in LINE.findall(text)}
    assert len(found) == sum(not line.startswith(" ") for line in text.splitlines())
    return found


@pytest.mark.parametrize("name", ["run", "run-gpu", "tests", "bundle", "comet", "simuleval"])
def test_locks_hold_the_tested_versions_with_their_hashes(name):
    source = ROOT / f"constraints-{name}.txt"
    lines = (source if source.exists() else ROOT / "constraints.txt").read_text().splitlines()
    tested = {
        canonicalize_name(one.partition("==")[0]): one.partition("==")[2]
        for one in lines
        if "==" in one
    }
    lock = pinned(ROOT / "locks" / f"{name}.txt")
    text = (ROOT / "locks" / f"{name}.txt").read_text()
    for package, version in lock.items():
        if package in tested:
            assert tested[package] == version
        else:
            assert re.search(rf"^{package}==\S+ ; ", text, re.M), "of another system or Python"
    if source.exists():
        assert lock.keys() == tested.keys()


@pytest.mark.parametrize(
    ("name", "extras"),
    [
        ("run", "speech translation torch"),
        ("run-gpu", "speech translation quantise"),
        ("tests", "speech translation evaluate finetune dev"),
    ],
)
def test_locks_hold_all_that_the_ranges_ask_for(name, extras):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], "hatchling", "editables"]
    for extra in (*extras.split(), "torch"):
        asked += project["optional-dependencies"][extra]
    wanted = [Requirement(text) for text in asked]
    lock = pinned(ROOT / "locks" / f"{name}.txt")
    for one in wanted:
        if one.name not in ("torch", "surtitle"):
            assert one.specifier.contains(lock[canonicalize_name(one.name)]), one


HOLES = {
    "av": "18.0.0",
    "h11": "0.15.0",
    "jinja2": "3.1.5",
    "sentencepiece": "0.2.0",
    "starlette": "1.2.9",
    "torch": "2.5.1",
    "tqdm": "4.66.2",
    "transformers": "5.4.0",
}
"""The last versions with a hole that was known on 2026-11-27."""


def test_no_version_with_a_known_hole_is_admitted():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *itertools.chain(*project["optional-dependencies"].values())]
    wanted = {(one := Requirement(text)).name.lower(): one.specifier for text in texts}
    assert [name for name, last in HOLES.items() if wanted[name].contains(last)] == []
