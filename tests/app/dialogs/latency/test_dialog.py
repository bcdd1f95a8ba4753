import json
import sys

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QGuiApplication

from app.config.system.child_process import ChildCommand
from app.dialogs.latency.collector import LatencyCollector
from app.dialogs.latency.dialog import LatencyDialog
from app.dialogs.latency.evaluation_page import EvaluationPage
from app.session.engine_bridge import EngineBridge
from engine.commands import EndPassage, SetWords
from engine.events import CaptionChanged, SourceChanged, Statistics, UtteranceEnded, UtteranceOpened
from engine.words import FedWord
from tests.support.app.fake_engine import FakeEngine

FIGURES = {"tokens_fed": 1234, "forwards": 9, "tokens_recomputed": 7, "probes": 2}
SCORE = {"kind": "score", "bleu": 21.5, "chrf": 44.0, "laal": 3.25}
MORE = {"n_lines": 2, "n_empty": 1, "ms_per_word": 80.4, "signature": "nrefs:1"}


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def panel(qtbot):
    panels = []

    def make(code=""):
        clock = Clock()
        desk = LatencyCollector(clock=clock)
        child = ChildCommand(desk, program=(sys.executable, "-c", code))
        page = EvaluationPage(child, lambda: ["--to", "de"])
        dialog = LatencyDialog(desk, page)
        dialog.clock, dialog.desk, dialog.child = clock, desk, child
        dialog.bridge = EngineBridge(FakeEngine().make, clock=clock)
        dialog.bridge.event_came.connect(desk.take_event)
        dialog.bridge.utterance_changed.connect(desk.take_utterance)
        qtbot.addWidget(dialog)
        dialog.show()
        panels.append(dialog)
        return dialog

    yield make
    for one in panels:
        one.child.cancel()
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


def test_before_anything_was_said_every_stage_says_that_nothing_is_known(panel):
    one = panel()
    words = one.waterfall.accessibleDescription()
    assert "Capture: not measured separately" in words
    assert "Model: no data" in words
    assert "No captions yet: type or say something." in one.summary.text()


def test_where_the_time_of_a_word_went_is_said_and_painted(panel):
    one = panel()
    empty = one.waterfall.grab().toImage()
    speak(one)
    assert "Model: 1.50 s (95 %: 1.50 s); Paint: 0.25 s" in one.waterfall.accessibleDescription()
    assert one.summary.text() == "Captions appear 1.8 s after a word; 95 % within 1.8 s."
    assert one.waterfall.grab().toImage() != empty


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
    assert "Recognition: 1.20 s (95 %: 2.00 s)" in one.waterfall.accessibleDescription()


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
    one.desk.take_event(Statistics(**FIGURES, cached_rows=88, ms_per_word=5, context_rows=12))
    for one.clock.now_s in (1, 2):
        one.desk.measure_memory()
    one.tabs.setCurrentIndex(1)
    one._refresh()
    assert one.cost.text().startswith("Tokens fed: 1,234; passes: 9; recomputed: 7;")
    assert one.tokens.accessibleDescription() == "1,234 fed, 7 recomputed; over 0 s"
    assert one.memory.accessibleDescription() == "345 MB now; over 1 s"
    assert not one.memory.grab().isNull()


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


def test_measurements_are_recorded_as_json_lines_without_a_word_of_what_was_said(panel, tmp_path):
    one = panel()
    path = tmp_path / "out.jsonl"
    one.record_to(path)
    speak(one)
    one.desk.take_event(Statistics(**FIGURES, cached_rows=88, ms_per_word=5))
    one.record.click()
    assert one.message.text() == "Recording has ended."
    one.desk.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0] == {"event": "began", "at_s": 0.0, "schema": 1}
    stages = [(line["stage"], line["seconds"]) for line in lines if line["event"] == "stage"]
    assert ("model", 1.5) in stages
    assert ("whole", 1.75) in stages
    assert next(line for line in lines if line["event"] == "statistics")["tokens_fed"] == 1234
    assert any(line["event"] == "memory" and line["bytes"] > 1e6 for line in lines)
    assert "Good" not in path.read_text()
    assert "Gut" not in path.read_text()


def test_a_file_that_cannot_be_written_ends_the_recording_with_one_sentence(panel, qtbot, tmp_path):
    one = panel()
    with qtbot.waitSignal(one.desk.failed):
        one.record_to(tmp_path / "no" / "folder" / "out.jsonl")
    assert "choose another file" in one.message.text()
    assert one.record.text() == "&Record…"
    assert not one.desk.is_recording


def evaluated(qtbot, one):
    page = one.evaluation
    one.tabs.setCurrentIndex(2)
    page.source.setText("a.en")
    page.reference.setText("a.de")
    page.start.click()
    qtbot.waitUntil(page.start.isVisible, timeout=30_000)
    return page.result.text()


def test_a_file_is_scored_in_a_process_of_its_own(panel, qtbot):
    lines = [
        {"kind": "line", "n": 1, "of": 2},
        SCORE | MORE,
        {"kind": "wer", "wer": 0.125, "real_time_factor": 0.3},
    ]
    text = "\n".join(map(json.dumps, lines))
    code = f"import sys; assert sys.argv[1:3] == ['--to', 'de']; print({text!r})"
    assert evaluated(qtbot, panel(code)) == (
        "BLEU 21.5, chrF 44.0; captions are 3.2 words behind (LAAL).\n"
        "2 lines, 1 without a caption; 80 ms for a word; nrefs:1\n"
        "12.5 % of the words were recognised wrongly (WER)."
    )


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ('print(\'{"kind": "failed", "message": "a.en cannot be read: name another"}\')', "a.en"),
        ("import os; os.abort()", "crashed"),
    ],
)
def test_an_evaluation_that_fails_is_one_sentence(panel, qtbot, code, words):
    assert words in evaluated(qtbot, panel(code))


def test_an_evaluation_can_be_stopped(panel):
    one = panel("import time; time.sleep(99)")
    page = one.evaluation
    one.tabs.setCurrentIndex(2)
    assert not page.start.isEnabled()
    page.choose("a", "b")
    page.start.click()
    assert page.cancel.isVisible()
    page.cancel.click()
    assert page.result.text() == "Stopped."


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


def test_what_translates_now_is_said_as_a_command_line(program, tmp_path):
    one = program(policy="wait:3").open().wait_until_ready()
    assert one.application.model.as_arguments() == [
        *("--model", str(tmp_path), "--adapter", "none"),
        *("--to", "de", "--from", "en", "--policy", "wait:3", "--device", "auto"),
    ]
