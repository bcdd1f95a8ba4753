"""The sessions of the golden record are what they were; see ``record.py`` for how it is renewed."""

import os
import subprocess
import sys

import pytest

from tests.golden.record import RECORDS, difference, names_in

ROOT = RECORDS.parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # half a minute on a quiet core


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """All sessions, played once in a process of their own, whose clock stands still."""
    folder = tmp_path_factory.mktemp("played")
    ran = subprocess.run(
        [sys.executable, "-m", "tests.golden.record", "--to", folder],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return folder


def test_every_session_of_the_record_is_played_and_no_other(played):
    assert names_in(played) == names_in(RECORDS)


@pytest.mark.parametrize("name", sorted(names_in(RECORDS)))
def test_a_session_does_what_it_did(played, name):
    lines = difference(name, played)
    assert not lines, "\n".join(lines[:40])
