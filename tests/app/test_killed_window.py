import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.home import settings_in
from tests.support.app.whole_program import cells

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL"),
]


def kill_a_window(home, n_captions):
    """Let a window caption until it has told of so many; kill it; count what it had told of."""
    with subprocess.Popen(
        [sys.executable, Path(__file__).parents[1] / "support/programs/killed_program.py", home],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        for _ in range(n_captions):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        return n_captions + len(process.stdout.read().split())


@pytest.mark.parametrize("seed", range(2))
def test_a_window_that_is_killed_loses_one_caption_at_most_and_offers_the_rest(
    qtbot, tmp_path, seed
):
    told = kill_a_window(tmp_path, random.Random(seed).randrange(1, 60))
    settings = settings_in(tmp_path, model=tmp_path)
    application = Application(settings, EngineBridge(FakeEngine().make))
    window = application.window
    qtbot.addWidget(window)
    qtbot.addWidget(application.overlay)
    application.show()
    if told > 1:
        qtbot.waitUntil(window.banner.offer.isVisible)
        window.banner.offer.click()
    rows = cells(application.history.session_window.transcript)
    assert rows == [(f"Sentence {n}.", f"SENTENCE {n}.") for n in range(len(rows))]
    assert len(rows) >= told - 1
    window.close()
