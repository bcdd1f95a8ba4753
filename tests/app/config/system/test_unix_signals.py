import os
import signal

import pytest

from app.config.system.unix_signals import Interrupt


@pytest.mark.skipif(os.name == "nt", reason="there a signal ends the process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_asks_the_program_to_end_until_it_is_nobodys_any_more(qtbot, number):
    before = signal.getsignal(number)
    interrupt = Interrupt()
    with qtbot.waitSignal(interrupt.came):
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) is not before
    interrupt.close()
    assert signal.getsignal(number) is before
    assert signal.set_wakeup_fd(-1) == -1
