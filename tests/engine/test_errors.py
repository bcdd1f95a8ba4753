"""What is told of an error, ours or another's."""

import errno
import socket

import pytest

from engine.errors import ModelError, is_failure, message_of
from engine.messages import Code

OURS = Code.NAME_NOT_FOUND()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ModelError(OURS), OURS),
        (ValueError(OURS, 3), OURS),
        (socket.gaierror(errno.ENOSPC, "its own number"), Code.NAME_NOT_FOUND()),
        (OSError(errno.ENOSPC, "full"), Code.NO_SPACE()),
        (OSError(9999, "strange"), Code.AS_SAID(sentence="strange")),
        (OSError("text alone"), Code.AS_SAID(sentence="text alone")),
        (RuntimeError("\nfirst\nsecond"), Code.AS_SAID(sentence="first")),
        (KeyError(), Code.AS_SAID(sentence="KeyError")),
    ],
)
def test_an_error_is_told_in_our_words_where_there_are_some(error, message):
    assert message_of(error) == message


def test_a_panic_of_a_library_is_a_failure_and_a_wish_to_end_is_none():
    panic = type("PanicException", (BaseException,), {})
    assert [is_failure(one) for one in (panic(), KeyError(), KeyboardInterrupt())] == [
        *(True, True, False)
    ]
