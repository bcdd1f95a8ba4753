"""What is wrong with a stranger's file: a sentence that says what to do, and a short detail."""

import errno
import re

import pytest

from engine.messages import Code
from engine.untrusted.faults import Fault, FaultError, about, detail_of, fault_of, refuse

ACT = re.compile(r"; (get it|choose|update|save|name|put|see to)\b")


@pytest.mark.parametrize("fault", Fault, ids=lambda fault: fault.name)
def test_every_fault_says_what_to_do(fault):
    assert ACT.search(fault.value)


def test_a_detail_alone_is_of_a_damaged_file_and_names_it():
    with pytest.raises(FaultError) as caught, about("config.json"):
        refuse("lacks 'layers'")
    assert fault_of(caught.value) == Fault.DAMAGED(detail="config.json lacks 'layers'")


def test_another_fault_stays_what_it_is():
    with pytest.raises(FaultError) as caught, about("config.json"):
        refuse(Fault.OVERSIZED(detail="is longer than 3 bytes"))
    assert fault_of(caught.value) == Fault.OVERSIZED(detail="config.json is longer than 3 bytes")


def test_a_file_that_is_missing_or_may_not_be_read_is_no_damaged_one():
    assert fault_of(FileNotFoundError(2, "No such file"), "a.json") == Fault.HAS_NO(name="a.json")
    told = fault_of(OSError(errno.EACCES, "Permission denied"), "a.json")
    assert told == Fault.UNREADABLE(name="a.json", reason=Code.NO_PERMISSION())


def test_a_detail_is_short_and_cannot_steer_a_terminal():
    detail = detail_of(ValueError("\x1b[2J" + "x" * 9000 + "\nmore"))
    assert detail.isprintable()
    assert len(detail) < 310
