import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QGuiApplication

from app.dialogs.latency.collector import LatencyCollector
from app.dialogs.latency.dialog import LatencyDialog
from app.session.engine_bridge import EngineBridge
from engine.commands import EndPassage, SetWords
from engine.events import (
    CaptionChanged,
    Ready,
    SourceChanged,
    Statistics,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.words import FedWord
from tests.support.app.fake_engine import FakeEngine
from tests.support.hand_clock import HandClock

FIGURES = {"tokens_fed": 1234, "forwards": 9, "tokens_recomputed": 7, "probes": 2}


@pytest.fixture
def panel(qtbot):
    panels = []

    def make():
        clock = HandClock()
        desk = LatencyCollector(clock=clock)
        dialog = LatencyDialog(desk)
        dialog.clock, dialog.desk = clock, desk
        dialog.bridge = EngineBridge(FakeEngine().make, clock=clock)
        dialog.bridge.event_came.connect(desk.take_event)
        dialog.bridge.utterance_changed.connect(desk.take_utterance)
        qtbot.addWidget(dialog)
        dialog.show()
        panels.append(dialog)
        return dialog

    yield make
    for one in panels:
        one.desk.close()


def typed_words(panel):
    """The words of each typed passage, as a session gets them."""
    return [one.words for one in panel.bridge._waiting if isinstance(one, SetWords)]


def speak(panel, at_s=(0, 1.5, 1.75)):
    """A word that is typed, gets its caption and is painted."""
    typed, captioned, painted = at_s
    for now_s, act in (
        (typed, lambda: panel.bridge.type_words(["Good"])),
        (typed, lambda: panel.bridge.take(UtteranceOpened(utterance=1))),
        (typed, lambda: panel.bridge.take(SourceChanged(utterance=1, words=typed_words(panel)[0]))),
        (
            captioned,
            lambda: panel.bridge.take(CaptionChanged(utterance=1, kept=0, text="Gut", n_read=1)),
        ),
        (painted, lambda: panel.desk.take_painted(panel.bridge.utterances[1])),
    ):
        panel.clock.now_s = now_s
        act()
    panel._refresh()


def test_where_the_time_of_a_word_went_is_said_and_painted(panel):
    one = panel()
    assert one.summary.text() == "No captions yet: type or say something."
    assert not one.stages.isVisible()
    empty = one.committed.grab().toImage()
    speak(one)
    assert one.stages.text().splitlines()[-2:] == [
        "Model: 1.50 s (95 %: 1.50 s)",
        "Paint: 0.25 s (95 %: 0.25 s)",
    ]
    assert one.summary.text() == "Captions appear 1.8 s after a word; 95 % within 1.8 s."
    assert one.committed.grab().toImage() != empty


def test_the_seconds_below_the_bars_have_the_point_of_the_country(panel):
    QLocale.setDefault(QLocale("de_DE"))
    one = panel()
    speak(one)
    assert [name for name, _ in one.committed.bars][:2] == ["0,1", "0,2"]


def test_each_typed_word_counts_from_when_it_came_also_after_the_line_was_emptied(panel):
    one = panel()
    desk, bridge, clock = one.desk, one.bridge, one.clock
    for number, text in enumerate(("a", "a b", "a b c"), start=1):
        clock.now_s = number
        bridge.type_words(text.split())
    bridge.send(EndPassage())
    bridge.type_words(["d"])
    first, second = typed_words(one)
    for event in (
        UtteranceOpened(utterance=1),
        SourceChanged(utterance=1, words=first),
        UtteranceOpened(utterance=2),
        SourceChanged(utterance=2, words=second),
    ):
        bridge.take(event)
    clock.now_s = 5
    for utterance, n_read in ((1, 3), (2, 1)):
        change = CaptionChanged(utterance=utterance, kept=0, text="x", n_read=n_read)
        bridge.take(change)
    assert list(desk.record.lags.seconds("committed")) == [4, 3, 2, 2]


def test_what_the_recogniser_tells_stands_in_its_row(panel):
    one = panel()
    words = [FedWord("w", spoken_at_s=0.0, committed_at_s=1.2)] * 9
    slow = FedWord("w", spoken_at_s=0.0, committed_at_s=2.0)
    one.bridge.take(UtteranceOpened(utterance=1, lane="me"))
    one.bridge.take(SourceChanged(utterance=1, words=(*words, slow)))
    one.bridge.take(UtteranceEnded(utterance=1))
    one._refresh()
    assert "Recognition: 1.20 s (95 %: 2.00 s)" in one.stages.text()


def test_the_lag_of_what_was_said_is_old_after_some_seconds_of_silence(panel):
    one, told = panel(), []
    one.desk.lags_came.connect(told.append)
    one.desk._report_lags()
    for event in (
        UtteranceOpened(utterance=1, lane="me"),
        SourceChanged(utterance=1, words=(FedWord("Good", spoken_at_s=0.0, committed_at_s=1.0),)),
        CaptionChanged(utterance=1, kept=0, text="Gut", n_read=1),
    ):
        one.bridge.take(event)
    one.clock.now_s = 6.0
    for utterance in one.bridge.utterances.unshown:
        one.desk.take_painted(utterance)
    for one.clock.now_s in (13.0, 15.0):
        one.desk._report_lags()
    assert [[lag.median_s for lag in lags if lag.stage == "whole"] for lags in told] == [
        [],
        [6],
        [],
    ]


def test_the_counters_and_the_memory_are_shown(panel, monkeypatch):
    monkeypatch.setattr("app.dialogs.latency.collector.resident_bytes", lambda: 345_000_000)
    one = panel()
    one.desk.take_event(Ready(model="tiny", languages={}, load_s=0.25))
    one._refresh()
    assert one.cost.text() == "tiny, loaded in 0.2 s. No tokens yet."
    one.desk.take_event(Statistics(**FIGURES, cached_rows=88, ms_per_word=5, context_rows=12))
    one._refresh()
    assert "Tokens fed: 1,234; recomputed: 7. 5 ms for the newest word." in one.cost.text()
    one.desk.measure_memory()
    one._refresh()
    assert one.cost.text().endswith("Memory of this program: 345 MB.")


def test_beginning_anew_forgets_what_was_measured(panel):
    one = panel()
    speak(one)
    one.reset.click()
    assert "No captions yet: type or say something." in one.summary.text()


def test_nothing_is_painted_while_nobody_looks(panel, qtbot):
    one = panel()
    one.hide()
    qtbot.waitUntil(lambda: not one._timer.isActive())
    speak(one)
    assert "No captions" in one.summary.text()
    one.show()
    assert "Captions appear" in one.summary.text()


def test_the_window_measures_what_is_typed(program):
    one = program().open().wait_until_ready()
    one.press(Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    panel = one.application.side_windows.latency_dialog
    assert panel.isVisible()
    one.type("Good morning everyone ")
    one.wait_for_rows(("Good morning everyone", "GOOD MORNING EVERYONE"))
    desk = one.application.side_windows.latency
    one.wait(lambda: desk.record.lags.summed("whole").n_words == 3)
    assert desk.record.lags.summed("whole").p95_s < 5
    one.wait(lambda: panel.summary.text().startswith("Captions appear"))
    panel.diagnostics.click()
    assert "Surtitle, diagnostics" in QGuiApplication.clipboard().text()


def test_all_that_it_tells_and_asks_is_in_the_window(panel, keeps_parts):
    keeps_parts(panel())
