"""The sessions of the golden record are what they were; see ``record.py`` for how it is renewed."""

import sys

import pytest

from tests.golden.record import RECORDS, difference, names_in
from tests.support.programs.run import ROOT, ran

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # half a minute on a quiet core


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """All sessions, played once in a process of their own, whose clock stands still."""
    folder = tmp_path_factory.mktemp("played")
    command = [sys.executable, "-m", "tests.golden.record", "--to", folder]
    done = ran(*command, surroundings={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    return folder


def test_every_session_of_the_record_is_played_and_no_other(played):
    assert names_in(played) == names_in(RECORDS)


@pytest.mark.parametrize("name", sorted(names_in(RECORDS)))
def test_a_session_does_what_it_did(played, name):
    lines = difference(name, played)
    assert not lines, "\n".join(lines[:40])
