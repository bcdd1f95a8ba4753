"""Files that earlier versions wrote, each with its own code, still open unchanged.

They are named by their days: commits b40cedc, e0dcd3a and 298cac7.
"""

import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from app.captions.cues import Cue
from app.captions.glossaries import GlossaryFolder
from app.captions.journal import past_sessions, unfinished_sessions
from app.config.preferences import OverlayPreferences, Preferences, TranslationPreferences
from app.config.preferences_file import PreferencesFile
from app.config.window_geometry import GeometryFile, SavedGeometry
from engine.models.adapters.adapter import Status, usable_adapter
from engine.models.adapters.library import AdapterLibrary
from engine.models.fingerprint import read_fingerprint
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings
from tests.support.app.preferences import CHOSEN

BEFORE = Path(__file__).parent / "assets/before"


@pytest.fixture
def home(tmp_path):
    return lambda day: Path(shutil.copytree(BEFORE / day, tmp_path / day))


def test_settings_of_the_first_version(home):
    chosen = Preferences(
        model=Path("/models/ö"),
        translation=TranslationPreferences(language="fr", policy="wait:5"),
        overlay=OverlayPreferences(visible=False),
    )
    assert PreferencesFile(home("2026-11-21") / "settings.toml").read() == (chosen, None)


def test_settings_from_before_captions_had_looks_of_their_own(home):
    own = Preferences()  # for what did not exist then
    names = ("second", "font", "text_colour", "background_colour", "opacity", "name_me")
    names += ("name_them", "doubt", "lines", "announced")
    chosen = replace(
        CHOSEN,
        accepted=own.accepted,
        translation=replace(CHOSEN.translation, source=own.translation.source),
        captions=replace(CHOSEN.captions, **{name: getattr(own.captions, name) for name in names}),
        overlay=replace(CHOSEN.overlay, hide_after_s=own.overlay.hide_after_s),
        projector=own.projector,
        server=own.server,
        interface=replace(own.interface, language=CHOSEN.interface.language),
    )
    assert PreferencesFile(home("2026-11-22") / "settings.toml").read() == (chosen, None)


def test_settings_of_the_last_version_say_today_what_they_said(home):
    path = home("2026-11-23") / "settings.toml"
    was, file = tomllib.loads(path.read_text()), PreferencesFile(path)
    preferences, notice = file.read()
    assert (notice, file.write(preferences)) == (None, None)
    now = tomllib.loads(path.read_text())
    again = {
        name: {key: now[name][key] for key in page} if isinstance(page, dict) else now[name]
        for name, page in was.items()
    }
    assert again == was


@pytest.mark.parametrize("day", ["2026-11-22", "2026-11-23"])
def test_positions_of_windows(home, day):
    geometry = SavedGeometry(screen="HDMI-1 äöü", x=0.25, y=1.0, width=700, height=400)
    assert GeometryFile(home(day) / "places.toml").find("window") == geometry


def test_a_journal_that_was_closed(home):
    (session,) = past_sessions(home("2026-11-22") / "sessions")
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


def test_a_journal_that_was_not_closed(home):
    (session,) = unfinished_sessions(home("2026-11-23") / "sessions")
    assert session.damaged_lines == 0
    assert session.cues == (
        Cue(
            start_s=1.25,
            end_s=2.5,
            text="Guten Morgen.",
            source="Good morning.",
            speaker="me",
            language="de",
            source_language="en",
            marked=True,
            confidence=0.25,
            doubtful=True,
            pieces=((5, 1, 1.75),),
        ),
    )


@pytest.mark.parametrize("day", ["2026-11-22", "2026-11-23"])
def test_glossaries(home, day):
    terms = (("house", "Gebäude"), ("old", "alt"))
    assert GlossaryFolder(home(day) / "glossary").read("de") == (terms, None)


@pytest.mark.parametrize("day", ["2026-11-22", "2026-11-23"])
def test_a_model_folder_with_an_adapter_of_the_library(home, day):
    place, model = home(day), BEFORE / "2026-11-22/models/tiny"
    (adapter,) = AdapterLibrary(place / "adapters").adapters()
    assert usable_adapter(adapter.folder, read_fingerprint(model)).status is Status.OK
    plain = load_weights(ModelSettings(directory=model, device="cpu"))
    adapted = load_weights(ModelSettings(directory=model, device="cpu", adapter=adapter.folder))
    assert (plain.card.name, adapted.card.languages.keys()) == ("tiny", {"de"})
