"""From a fresh start to Polish captions: all is real but the hub, which is here.

The model for Polish has the form of M2M-100 and random weights, so its Polish is none. What is
tested is the way of the words.
"""

import pytest

from engine.hub.catalogue import bundled_languages, bundled_models
from tests.support import hub_server
from tests.support.app.setup_services import MACHINE, parts, says
from tests.support.app.whole_program import Program

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


@pytest.fixture
def hub(monkeypatch, tmp_path, hub_cache):  # noqa: ARG001  it is needed, not looked at
    folder = make_encoder_decoder(tmp_path / "published", "m2m100", licence="mit", seed=1)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    with hub_server.running(files, name=NAME) as hub:
        settings = hub_server.settings(hub)
        monkeypatch.setattr("engine.hub.download.HubSettings", lambda: settings)
        yield hub


@pytest.fixture
def newcomer(qtbot, tmp_path):
    """Start the program in a home that is empty at first."""
    made = []

    def start():
        is_first = not (tmp_path / "settings.toml").exists()
        where = {"data_folder": tmp_path / "data", "device": "cpu"}
        made.append(Program(qtbot, tmp_path, model=None, first_run=is_first, **where))
        setup = made[-1].application.setup
        setup.parts = parts(says(MACHINE, FAST), bundled=tuple(bundled_languages()))
        made[-1].application.show()
        return made[-1]

    yield start
    for one in made:
        one.window.close()


def test_four_clicks_lead_from_a_fresh_start_to_polish_captions(newcomer, hub):
    one = newcomer()
    wizard, stored = one.application.setup.dialog, one.application.settings
    target = wizard.welcome.target
    target.setCurrentIndex(target.findData("pl"))  # two clicks
    wizard.skip.click()
    page = one.application.setup.models
    one.wait(lambda: page.offer is not None and page.offer.name == NAME)
    one.wait(page.apply.isEnabled)
    one.wait_until_ready()
    stages = []
    one.application.bridge.next_came.connect(lambda event: stages.append(str(event)))
    page.apply.click()
    one.wait(lambda: stored.preferences.translation.language == "pl")
    one.wait_until_ready()
    assert any("CONVERTING" in stage for stage in stages)
    assert one.window.choices.language.value == "pl"
    cue = one.say_whole(SAID)
    assert (cue.source, cue.language, bool(cue.text)) == (SAID, "pl", True)
    one.window.close()
    n_asked = len(hub.asked)
    again = newcomer().wait_until_ready()
    assert again.application.setup.dialog is None
    assert again.say_whole(SAID).text == cue.text
    assert len(hub.asked) == n_asked
