"""Files that the version before wrote (commit e0dcd3a, with its own code) still open unchanged."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from app.config.preferences import Preferences
from app.config.preferences_file import PreferencesFile
from app.config.window_geometry import GeometryFile, SavedGeometry
from app.history.cues import Cue
from app.history.journal import past_sessions
from app.library.glossaries import GlossaryFolder
from engine.adapters.adapter import Status, usable_adapter
from engine.adapters.library import AdapterLibrary
from engine.loading.loader import load_weights
from engine.models.fingerprint import read_fingerprint
from engine.settings import ModelSettings
from tests.support.app.preferences import CHOSEN


@pytest.fixture
def home(tmp_path):
    return Path(shutil.copytree(Path(__file__).parent / "assets/before", tmp_path / "home"))


def test_settings(home):
    own = Preferences()  # for what did not exist then
    names = ("font", "text_colour", "background_colour", "opacity", "name_me", "name_them", "doubt")
    chosen = replace(
        CHOSEN,
        accepted=own.accepted,
        translation=replace(CHOSEN.translation, source=own.translation.source),
        captions=replace(CHOSEN.captions, **{name: getattr(own.captions, name) for name in names}),
        overlay=replace(CHOSEN.overlay, hide_after_s=own.overlay.hide_after_s),
        interface=replace(own.interface, language=CHOSEN.interface.language),
    )
    assert PreferencesFile(home / "settings.toml").read() == (chosen, None)


def test_positions_of_windows(home):
    geometry = SavedGeometry(screen="HDMI-1 äöü", x=0.25, y=1.0, width=700, height=400)
    assert GeometryFile(home / "places.toml").find("window") == geometry


def test_journals(home):
    (session,) = past_sessions(home / "sessions")
    assert session.ended_well
    assert session.cues == (
        Cue(start_s=0.0, end_s=1.5, text="Guten Morgen.", source="Good morning.", language="de"),
        Cue(
            start_s=2.0,
            end_s=3.5,
            text="Wir sahen\ndas alte Haus. 🙂",
            source="We saw the old house.",
            speaker="me",
            language="de",
            marked=True,
        ),
    )


def test_glossaries(home):
    terms = (("house", "Gebäude"), ("old", "alt"))
    assert GlossaryFolder(home / "glossary").read("de") == (terms, None)


def test_a_model_folder_with_an_adapter_of_the_library(home):
    model = home / "models" / "tiny"
    (adapter,) = AdapterLibrary(home / "adapters").adapters()
    assert usable_adapter(adapter.folder, read_fingerprint(model)).status is Status.OK
    plain = load_weights(ModelSettings(directory=model, device="cpu"))
    adapted = load_weights(ModelSettings(directory=model, device="cpu", adapter=adapter.folder))
    assert (plain.card.name, adapted.card.languages.keys()) == ("tiny", {"de"})
