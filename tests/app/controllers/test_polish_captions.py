"""From a fresh start to Polish captions: all is real but the hub, which is on this computer.

The model has the form of M2M-100 and random weights, so its Polish is none: what is tested is the
way of the words.
"""

from itertools import pairwise

import pytest

from app.config.launch_settings import LaunchSettings
from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from engine.hub.bundled import bundled_models
from tests.support import hub_server
from tests.support.app.setup_services import MACHINE, parts, says

pytest.importorskip("ctranslate2")
pytest.importorskip("sentencepiece")

from tests.engine.runtime.ctranslate2.tiny_models import make_encoder_decoder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # a busy machine may convert for minutes
    pytest.mark.skipif(not bundled_models(), reason="the first start loads the bundled model"),
]
NAME = "facebook/m2m100_418M"
FAST = {"kind": "computing", "gflops": 1000.0}
SAID = "we go to see the old green house in Rome"
WAIT_MS = 300_000


@pytest.fixture
def hub(monkeypatch, tmp_path, hub_cache):  # noqa: ARG001  it is needed, not looked at
    folder = make_encoder_decoder(tmp_path / "published", "m2m100", licence="mit", seed=1)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    with hub_server.running(files, name=NAME) as hub:
        settings = hub_server.settings(hub)
        monkeypatch.setattr("engine.hub.download.HubSettings", lambda: settings)
        yield hub


class Newcomer:
    """A person at the program; keeps every caption as it was shown, in its order."""

    def __init__(self, qtbot, folder):
        self.qtbot = qtbot
        self.n_clicks = 0
        self.shown = {}
        settings = LaunchSettings(
            preferences_file=folder / "settings.toml",
            places_file=folder / "places.toml",
            data_folder=folder / "data",
            log_folder=folder,
            device="cpu",
            first_run=not (folder / "settings.toml").exists(),
        )
        self.application = Application(settings, EngineBridge())
        self.window = self.application.window
        self.guide = self.application.side_windows.guide
        self.guide.parts = parts(says(MACHINE, FAST), bundled=("de",))
        qtbot.addWidget(self.window)
        qtbot.addWidget(self.application.overlay)
        self.application.captions.captions_changed.connect(self._keep)
        self.application.show()

    def _keep(self, views):
        for view in views:
            captions = self.shown.setdefault(view.key, [""])
            if view.caption != captions[-1]:
                captions.append(view.caption)

    def wait(self, condition):
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=WAIT_MS)

    def wait_until_ready(self):
        self.wait(lambda: self.window.status.is_ready)

    def choose(self, box, code):
        """Two clicks: open the list, choose."""
        assert box.isVisible()
        box.setCurrentIndex(box.findData(code))
        self.n_clicks += 2

    def click(self, *buttons):
        for button in buttons:
            assert button.isVisible()
            assert button.isEnabled()
            button.click()
            self.n_clicks += 1

    def say(self, text):
        """Type a line, and return its caption when it has settled."""
        row = len(self.application.keeper.cues)
        self.qtbot.keyClicks(self.window.typed_line, text)
        self.window.typed_line.returnPressed.emit()
        self.wait(lambda: len(self.application.keeper.cues) > row)
        return self.application.keeper.cues[row]


def test_seven_clicks_lead_from_a_fresh_start_to_polish_captions(qtbot, tmp_path, hub):
    one = Newcomer(qtbot, tmp_path)
    wizard = one.guide.dialog
    one.choose(wizard.welcome.target, "pl")
    one.click(*[wizard.next] * 4)
    page = one.guide.models.page
    one.wait(lambda: page.offer is not None and page.offer.name == NAME)
    one.wait(one.guide.models.apply.isEnabled)
    one.wait_until_ready()
    stages = []
    one.application.bridge.next_came.connect(lambda event: stages.append(str(event)))
    one.click(one.guide.models.apply)
    assert one.n_clicks == 7
    one.wait(lambda: one.application.settings.preferences.translation.language == "pl")
    one.wait_until_ready()
    assert any("CONVERTING" in stage for stage in stages)
    assert one.window.choices.language.value == "pl"
    cue = one.say(SAID)
    assert (cue.source, cue.language) == (SAID, "pl")
    assert cue.text
    captions = next(iter(one.shown.values()))
    assert captions[-1] == cue.text
    assert all(after.startswith(before) for before, after in pairwise(captions))
    one.window.close()

    n_asked = len(hub.asked)
    again = Newcomer(qtbot, tmp_path)
    assert again.guide.dialog is None
    again.wait_until_ready()
    assert again.say(SAID).text == cue.text
    assert len(hub.asked) == n_asked
    again.window.close()
