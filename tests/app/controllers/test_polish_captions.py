"""From a fresh start to French and to Polish captions: all is real but the hub, which is here.

The model for Polish has the form of M2M-100 and random weights, so its Polish is none; that for
French is the one for German. What is tested is the way of the words.
"""

import errno
import os
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from engine.hub.bundled import bundled_languages, bundled_models
from engine.hub.transfer import HubSettings
from tests.support import hub_server
from tests.support.app.bundle import bundle
from tests.support.app.home import settings_in
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
        settings = settings_in(
            folder,
            data_folder=folder / "data",
            device="cpu",
            first_run=not (folder / "settings.toml").exists(),
        )
        self.application = Application(settings, EngineBridge())
        self.window = self.application.window
        self.guide = self.application.setup
        self.guide.parts = parts(says(MACHINE, FAST), bundled=tuple(bundled_languages()))
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

    @property
    def stored_language(self):
        return self.application.settings.preferences.translation.language

    def wait_until_ready(self):
        self.wait(lambda: self.window.status.is_ready)

    def choose(self, box, code):
        """Two clicks: open the list, choose."""
        assert box.isVisible()
        box.setCurrentIndex(box.findData(code))
        self.n_clicks += 2

    def pick(self, code):
        """Two clicks: the language button, and a language in its menu."""
        assert self.window.status.choices.isVisible()
        menu = self.window.choices.language
        menu.aboutToShow.emit()
        assert code in [value for _, value in menu.entries]
        menu.pick(code)
        self.n_clicks += 2

    def click(self, *buttons):
        for button in buttons:
            assert button.isVisible()
            assert button.isEnabled()
            button.click()
            self.n_clicks += 1

    def say(self, text):
        """Type a line, and return its caption when it has settled."""
        row = len(self.application.history.writer.cues)
        self.qtbot.keyClicks(self.window.typed_line, text)
        self.window.typed_line.returnPressed.emit()
        self.wait(lambda: len(self.application.history.writer.cues) > row)
        return self.application.history.writer.cues[row]


@pytest.mark.parametrize("language", ["de"], indirect=True)
def test_two_clicks_lead_from_a_fresh_start_to_french_captions_and_two_to_the_next_language(
    qtbot, tmp_path, monkeypatch, language
):
    bundle(tmp_path, monkeypatch, with_weights=True)
    one = Newcomer(qtbot, tmp_path)
    welcome = one.guide.dialog.welcome
    built_in = [welcome.target.itemData(row) for row in range(4)]
    assert built_in == [*sorted(["de", "es", "fr"], key=lambda code: names(language)[code]), None]
    one.wait(one.window.banner.isVisible)  # the window was painted, and the first model is loading
    one.choose(welcome.target, "fr")
    one.wait(lambda: one.stored_language == "fr")
    one.wait_until_ready()
    assert one.n_clicks == 2
    said = one.say(SAID)
    assert (said.language, bool(said.text)) == ("fr", True)
    one.guide.dialog.close()
    one.n_clicks = 0
    for code in ("es", "de"):
        one.pick(code)
        assert one.window.status.is_ready, "the one before goes on until it takes over"
        one.wait(lambda code=code: one.stored_language == code)
        one.wait_until_ready()
        assert one.say(SAID).language == code
    assert one.n_clicks == 4
    one.pick("fr")
    one.wait(lambda: one.stored_language == "fr")
    one.window.close()
    again = Newcomer(qtbot, tmp_path)
    again.wait_until_ready()
    assert again.say(SAID).language == "fr", "as it was left"
    again.window.close()


def names(language):
    """Names of the bundled languages in that of the windows."""
    german = {"de": "Deutsch", "es": "Spanisch", "fr": "Französisch"}
    return german if language == "de" else {"de": "German", "es": "Spanish", "fr": "French"}


def test_four_clicks_lead_from_a_fresh_start_to_polish_captions(qtbot, tmp_path, hub):
    one = Newcomer(qtbot, tmp_path)
    wizard = one.guide.dialog
    one.choose(wizard.welcome.target, "pl")
    one.click(wizard.skip)
    page = one.guide.models
    one.wait(lambda: page.offer is not None and page.offer.name == NAME)
    one.wait(one.guide.models.apply.isEnabled)
    one.wait_until_ready()
    stages = []
    one.application.bridge.next_came.connect(lambda event: stages.append(str(event)))
    one.click(one.guide.models.apply)
    assert one.n_clicks == 4
    one.wait(lambda: one.stored_language == "pl")
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


class Trouble:
    """What goes wrong on the way to the model, one after the other."""

    def __init__(self, hub, monkeypatch):
        self._hub, self._set = hub, monkeypatch.setattr
        self._whole, self._open = dict(hub.files), Path.open
        self._usage = shutil.disk_usage
        self._largest = max(hub.files, key=lambda name: len(hub.files[name]))
        self.none()

    def none(self):
        self._reach(self._hub.endpoint)
        self._hub.files = self._whole
        self._hub.fault = lambda _name, _start: None
        self._set(Path, "open", self._open)
        self._set(shutil, "disk_usage", self._usage)

    def no_network(self):
        self._reach("http://127.0.0.1:9")

    def too_little_room(self):
        usage = self._usage("/")._replace(free=1000)
        self._set(shutil, "disk_usage", lambda _path: usage)

    def a_disk_that_fills(self):
        def opened(path, mode="r", *arguments, **others):
            if path.name.endswith(".part") and "a" in mode:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return self._open(path, mode, *arguments, **others)

        self._set(Path, "open", opened)

    def a_download_that_breaks_off(self):
        self._fail("reset")

    def a_damaged_file(self):
        self._fail("garbled")

    def _fail(self, fault):
        self._hub.fault = lambda name, _start: fault if name == self._largest else None

    def _reach(self, endpoint):
        settings = HubSettings(endpoint=endpoint, timeout_s=10.0, tries=2)
        self._set("engine.hub.download.HubSettings", lambda: settings)


@pytest.mark.parametrize("language", ["de"], indirect=True)
@pytest.mark.usefixtures("language")
def test_whatever_fails_on_the_way_to_polish_german_goes_on_until_it_works(
    qtbot, tmp_path, hub, monkeypatch
):
    one, trouble = Newcomer(qtbot, tmp_path), Trouble(hub, monkeypatch)
    one.choose(one.guide.dialog.welcome.target, "pl")
    one.click(one.guide.dialog.skip)
    page, banner = one.guide.models, one.window.banner
    one.wait(lambda: page.offer is not None and page.offer.name == NAME)
    one.wait_until_ready()
    button = one.guide.models.apply
    for goes_wrong in (
        *(trouble.no_network, trouble.too_little_room, trouble.a_disk_that_fills),
        *(trouble.a_download_that_breaks_off, trouble.a_damaged_file),
    ):
        goes_wrong()
        one.click(button)
        one.wait(banner.retry.isVisible)
        trouble.none()
        button = banner.retry
        assert "auf Deutsch weiter" in banner.sentence.text()
        assert banner.back.text() == "&Bei Deutsch bleiben"
        assert one.say(SAID).language == "de"
        assert (one.stored_language, one.application.settings.model) == ("de", None)
    assert not list(tmp_path.glob("data/models/*/ctranslate2-*")), "nothing half made is left"
    one.click(button)
    one.wait(lambda: one.stored_language == "pl")
    assert one.say(SAID).language == "pl"
    one.window.close()
