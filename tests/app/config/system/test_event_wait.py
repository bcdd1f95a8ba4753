import time

import pytest
from PySide6.QtCore import QTimer

from app.config.system.event_wait import wait_until


@pytest.mark.parametrize("comes", [True, False])
def test_waiting_serves_the_event_loop_and_ends(qapp, comes):  # noqa: ARG001  it has the loop
    came = []
    if comes:
        QTimer.singleShot(1, lambda: came.append(True))
    began_s = time.monotonic()
    assert wait_until(lambda: bool(came), 60.0 if comes else 0.0) == comes
    assert time.monotonic() - began_s < 60.0
