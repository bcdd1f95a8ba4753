"""The window translates straight from the sound, without a recogniser in between."""

import numpy as np
import pytest
import torch

from app.captions.journal import past_sessions
from app.config.preferences import (
    CAPTIONS_ONLY,
    LANES,
    ListeningPreferences,
    Preferences,
    PreferencesFile,
    TranslationPreferences,
)
from app.session.recognition import SpeechEngine
from engine.events import CaptionChanged, FedWord, SourceChanged, UtteranceEnded, UtteranceOpened
from engine.hub.catalogue import STANDARD_WHISPER
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.fake_speech_engine import DEVICES, Device
from tests.support.app.whole_program import Program
from tests.support.direct.encoders import save_speech_encoder, tiny_encoder
from tests.support.fakes import save_tiny_model
from tests.support.listening_fakes import Loudness


@pytest.fixture(scope="module")
def direct(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("models") / "heard")
    save_speech_encoder(folder, tiny_encoder(torch.float32))
    return folder


class Noise(Device):
    """A device at which somebody speaks twice."""

    def __init__(self, wanted):
        rng = np.random.default_rng(sum(map(ord, wanted.name or "default")))
        silence = np.zeros(22_000)
        parts = [silence, rng.uniform(0.3, 0.9, 20_000)] * 2
        super().__init__(np.concatenate([*parts, silence]), wanted.name)


class Ears:
    """What hears: devices at which somebody speaks; what was opened is kept."""

    def __init__(self):
        self.opened = []

    def make(self, library, device):
        speech = SpeechEngine(library, device)
        speech._sources = self
        return speech

    def devices(self):
        return DEVICES

    def live(self, wanted, _report):
        self.opened.append(wanted)
        return Noise(wanted)


@pytest.fixture
def window(qtbot, tmp_path, monkeypatch, direct):
    monkeypatch.setattr("engine.speech.vad.SileroDetector", Loudness)
    opened = []
    preferences = Preferences(
        listening=ListeningPreferences(recognizer=str(direct)),
        translation=TranslationPreferences(policy="read:2"),
    )

    def make(engine=None, ears=None):
        PreferencesFile(tmp_path / "settings.toml").write(preferences)
        where = {"model": None, "device": "cpu", "data_folder": tmp_path / "data"}
        opened.append(Program(qtbot, tmp_path, engine, ears or Ears(), **where))
        return opened[-1].open().wait_until_ready()

    yield make
    for one in opened:
        one.window.close()
        one.application.bridge.stop()


def captions(one, lane):
    views = one.window.transcript.rows.views
    return [view.caption for view in views if view.lane == lane and view.caption]


def test_two_speakers_are_captioned_with_no_english_and_the_journal_keeps_it(window):
    one = window()
    assert not one.window.typed_line.isEnabled()
    for source in (one.window.controls.microphone, one.window.controls.system):
        source.button.click()
    one.wait(lambda: min(len(captions(one, lane)) for lane in LANES.values()) >= 2)
    one.wait(lambda: len(one.cues) >= 4)
    assert {view.source for view in one.window.transcript.rows.views} == {""}
    assert one.application.overlay.accessibleDescription()
    one.window.close()
    (session,) = past_sessions(one.application.history.writer.sessions_folder)
    assert len(session.cues) >= 4


def test_speech_without_a_caption_leaves_no_empty_row_and_is_not_kept(window):
    one = window(FakeEngine())
    take, heard = one.application.bridge.take, FedWord(number=1, text="", committed_at_s=0.0)
    rows, cues = one.window.transcript.rows, one.application.history.writer
    for number, caption in ((0, ""), (1, "ein Satz"), (2, "")):
        take(UtteranceOpened(utterance=number, lane="me", languages=("en", "de")))
        take(SourceChanged(utterance=number, words=(heard, heard)))
        assert rows.rowCount() == number // 2
        if caption:
            take(CaptionChanged(utterance=number, kept=0, text=caption, n_read=2))
            assert rows.rowCount() == 1
        take(UtteranceEnded(utterance=number))
    assert [view.caption for view in rows.views] == ["ein Satz"]
    assert [cue.text for cue in cues.cues] == ["ein Satz"]


def test_the_choice_of_a_speech_model_chooses_who_translates(window, direct, monkeypatch, tmp_path):
    monkeypatch.setattr("engine.hub.catalogue.bundled_models", lambda: [tmp_path])
    engine = FakeEngine()
    one = window(engine)
    assert (engine.models[-1].directory, engine.models[-1].hears) == (direct, True)
    one.application.settings.change("listening", recognizer=STANDARD_WHISPER)
    one.wait(lambda: len(engine.models) == 2 and one.window.status.is_ready)
    assert (engine.models[-1].directory, engine.models[-1].hears) == (tmp_path, False)
    assert one.window.typed_line.isEnabled()
    one.application.settings.change("listening", recognizer=str(direct))
    one.wait(lambda: len(engine.models) == 3 and one.window.status.is_ready)
    assert engine.models[-1].hears
    one.application.settings.choose_mode(CAPTIONS_ONLY)
    one.wait(lambda: one.window.status.is_ready)
    assert len(engine.models) == 3
    assert one.window.typed_line.isEnabled()


def test_a_folder_that_cannot_be_loaded_gives_way_to_a_recogniser(window, monkeypatch, tmp_path):
    monkeypatch.setattr("engine.hub.catalogue.bundled_models", lambda: [tmp_path])
    engine = FakeEngine()
    one = window(engine)
    engine._failures = ["the encoder is damaged"]
    one.application.model.start_over()
    one.wait(one.window.banner.isVisible)
    one.window.banner.back.click()
    one.wait(lambda: len(engine.models) == 3 and one.window.status.is_ready)
    assert (engine.models[-1].hears, one.application.settings.direct) == (False, None)
