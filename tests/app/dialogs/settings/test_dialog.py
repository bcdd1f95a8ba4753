from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication, QWheelEvent
from PySide6.QtWidgets import QApplication, QSpinBox

from app.config.preferences import (
    Preferences,
    TranslationPreferences,
)
from app.dialogs.settings.captions_page import CaptionsPage
from app.dialogs.settings.dialog import SettingsDialog
from app.look.widgets.names import policy_names
from app.main_window.actions import Actions
from tests.support.app.bundle import bundle
from tests.support.app.fake_speech_engine import DEVICES
from tests.support.app.preferences import CHOSEN


@pytest.fixture
def dialog(qtbot, tmp_path):
    widget = SettingsDialog(policy_names(), Actions(), tmp_path)
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def edits(dialog):
    told = []
    dialog.edited.connect(told.append)
    return told


@pytest.mark.parametrize("preferences", [Preferences(), CHOSEN])
def test_showing_preferences_changes_none_of_them(dialog, edits, preferences):
    dialog.show_preferences(preferences)
    assert edits == []
    for page in dialog.pages:
        assert page.read(preferences) == preferences


def test_a_change_is_told_at_once_and_keeps_the_rest(dialog, edits):
    dialog.show_preferences(CHOSEN)
    dialog.captions.letters.setValue(50)
    assert edits[-1] == replace(CHOSEN, captions=replace(CHOSEN.captions, point_size=50))
    dialog.captions.lines.setValue(1)
    assert edits[-1].captions == replace(CHOSEN.captions, point_size=50, lines=1)
    dialog.advanced.page.setChecked(False)
    assert not edits[-1].privacy.page
    assert edits[-1].captions.lines == 1


def test_a_page_is_reset_and_the_others_stay(dialog, edits):
    dialog.show_preferences(CHOSEN)
    dialog.reset.click()
    sessions = replace(CHOSEN.privacy, journal=True, journal_days=30)
    assert edits == [replace(CHOSEN, interface=Preferences().interface, privacy=sessions)]
    for number in range(1, len(dialog.pages)):
        dialog.tabs.setCurrentIndex(number)
        dialog.reset.click()
    everything = replace(
        Preferences(),
        model=CHOSEN.model,
        accepted=CHOSEN.accepted,
        server=CHOSEN.server,  # in the menu of the languages
        translation=replace(CHOSEN.translation, policy=""),
        listening=replace(Preferences().listening, recognizer=CHOSEN.listening.recognizer),
        captions=replace(Preferences().captions, second=CHOSEN.captions.second),  # in its menu
        overlay=replace(Preferences().overlay, visible=CHOSEN.overlay.visible),
        projector=CHOSEN.projector,  # it is chosen in its own view
    )
    assert edits[-1] == everything


def test_the_timings_of_the_model_are_offered_and_the_chosen_one_stays(dialog, edits):
    odd = replace(CHOSEN, translation=replace(CHOSEN.translation, policy="read:7"))
    dialog.show_preferences(odd)
    page = dialog.translation
    assert page.policy.currentText() == "read:7"
    page.show_timings(policy_names(makes_drafts=True))
    assert page.policy.currentText() == "read:7"
    assert edits == []
    page.policy.setCurrentIndex(page.policy.findData("offline"))
    assert edits[-1].translation.policy == "offline"
    assert "when it is complete" in page.explanation.text()


def test_what_depends_on_a_box_is_used_only_while_it_is_ticked(dialog):
    dialog.show_preferences(Preferences())
    files, general = dialog.advanced, dialog.general
    for box, fields in (
        (files.page, (files.port, files.address)),
        (general.journal, (general.days,)),
    ):
        for ticked in (False, True, False):
            box.setChecked(ticked)
            assert [field.isEnabled() for field in fields] == [ticked] * len(fields)


@pytest.mark.parametrize("can_hide", [False, True])
def test_where_no_share_can_hide_the_overlay_that_is_said(qtbot, monkeypatch, can_hide):
    monkeypatch.setattr("app.dialogs.settings.captions_page.can_hide", lambda: can_hide)
    page = CaptionsPage()
    qtbot.addWidget(page)
    assert page.hide_from_share.isEnabled() == can_hide
    assert page.form.isRowVisible(page.cannot_hide) == (not can_hide)


def test_a_number_can_be_all_that_the_preferences_permit_and_nothing_else(dialog):
    bindings = [one for page in dialog.pages for one in page._bindings]
    numbers = [one for one in bindings if isinstance(getattr(one.read, "__self__", None), QSpinBox)]
    assert len(numbers) == 7
    for one in numbers:
        spin, table = one.read.__self__, getattr(Preferences(), one.table)
        for bound, beyond in ((spin.minimum(), -1), (spin.maximum(), 1)):
            replace(table, **{one.name: bound})
            with pytest.raises(ValueError, match=one.name):
                replace(table, **{one.name: bound + beyond})


def test_the_overlay_hides_after_silence_or_never(dialog, edits):
    dialog.show_preferences(Preferences())
    wait = dialog.captions.hide_after
    assert wait.value() > 0
    for seconds, shown in ((30, "30 s"), (0, "Never")):
        wait.setValue(seconds)
        assert edits[-1].overlay.hide_after_s == seconds
        assert wait.text() == shown


def test_a_preset_begins_with_its_own_colours(dialog, edits):
    dialog.show_preferences(CHOSEN)
    captions = dialog.captions
    assert captions.text_colour.currentData() == CHOSEN.captions.text_colour
    assert all(not captions.text_colour.itemIcon(row).isNull() for row in range(8))
    captions.preset.setCurrentIndex(2)
    captions.preset.activated.emit(2)
    now = edits[-1].captions
    assert (now.preset, now.text_colour, now.background_colour) == ("black on white", "", "")
    assert now.opacity is None


@pytest.mark.parametrize(
    ("colours", "is_hard"),
    [
        ({}, False),
        ({"text_colour": "#202020"}, True),
        ({"opacity": 0.2}, False),  # the outline has the colour of the box
        ({"opacity": 0.2, "outline": False}, True),
    ],
)
def test_letters_that_are_hard_to_read_are_told(dialog, colours, is_hard):
    captions = replace(Preferences().captions, **colours)
    dialog.show_preferences(replace(Preferences(), captions=captions))
    assert ("Hard to read" in dialog.captions.legibility.text()) == is_hard


def test_the_address_of_the_page_is_copied_and_opened_but_its_secret_is_not_shown(
    dialog, monkeypatch
):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    files, address = dialog.advanced, "http://127.0.0.1:8765/?token=secret"
    files.page.setChecked(True)
    assert not files.copy.isEnabled()
    files.show_address(address)
    assert "secret" not in files.address.text()
    files.copy.click()
    assert QGuiApplication.clipboard().text() == address
    assert "copied" in dialog.notice.text()
    files.open.click()
    assert opened == [address]
    assert address in dialog.notice.text()  # openUrl said that there is no browser


def test_folders_are_opened(dialog, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(
        QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()) or True
    )
    dialog.advanced.open_sessions.click()
    (tmp_path / "sessions").mkdir()
    dialog.advanced.open_sessions.click()
    assert opened == [str(tmp_path), str(tmp_path / "sessions")]
    assert not dialog.notice.isVisible()
    dialog.speech.open_models.click()
    assert "There is no folder" in dialog.notice.text()


def test_another_model_is_asked_for(dialog, qtbot):
    with qtbot.waitSignal(dialog.translation.models_wanted):
        dialog.translation.choose_model.click()
    dialog.show_preferences(CHOSEN)
    assert dialog.translation.model.text() == CHOSEN.model.name
    for model in (Path("some/model"), Path("/models/some--model")):
        dialog.show_preferences(replace(CHOSEN, model=model))
        assert dialog.translation.model.text() == "some/model"
    with qtbot.waitSignal(dialog.speech.models_wanted):
        dialog.speech.choose_model.click()
    folder = "/home/somebody/models/faster-whisper-tiny.en"
    for recognizer, named in (("small.en", "Accurate (small.en)"), (folder, Path(folder).name)):
        listening = replace(CHOSEN.listening, recognizer=recognizer)
        dialog.show_preferences(replace(CHOSEN, listening=listening))
        assert dialog.speech.model.text() == named
    assert dialog.speech.model.toolTip() == folder


def test_the_devices_are_fields_that_ask_what_there_is_when_they_are_seen(dialog, edits, qtbot):
    listening = replace(Preferences().listening, microphone="mic1")
    dialog.show_preferences(replace(Preferences(), listening=listening))
    page = dialog.speech
    assert page.microphone.currentText() == "mic1"  # gone, or not listed yet
    dialog.open_page(page)
    with qtbot.waitSignal(page.devices_wanted):
        dialog.show()
    page.show_devices(DEVICES)
    texts = [page.microphone.itemText(row) for row in range(page.microphone.count())]
    assert texts == ["Default microphone", "Desk mic", "Headset (muted)"]
    shown = page.microphone.currentText(), page.system.currentText()
    assert shown == ("Desk mic", "Default output")
    assert edits == []
    page.microphone.setCurrentIndex(2)
    page.system.setCurrentIndex(1)
    told = [(one.listening.microphone, one.listening.system) for one in edits]
    assert told == [("mic2", ""), ("mic2", "out1")]
    page.show_devices(())
    assert page.microphone.currentText() == "Headset (muted)"


def turn_wheel(widget):
    middle = QPointF(widget.rect().center())
    QApplication.sendEvent(
        widget,
        QWheelEvent(
            middle,
            widget.mapToGlobal(middle),
            QPoint(),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        ),
    )


def test_the_bundled_model_that_is_named_is_that_of_the_language(dialog, monkeypatch, tmp_path):
    bundle(tmp_path, monkeypatch)
    for language, named in (("fr", "surtitle-en-fr"), ("pl", "surtitle-en-de")):
        stored = TranslationPreferences(language=language)
        dialog.show_preferences(Preferences(translation=stored))
        assert dialog.translation.model.text() == named


def test_the_wheel_scrolls_the_page_and_changes_only_the_field_with_the_focus(dialog, edits, qtbot):
    dialog.show_preferences(Preferences())
    dialog.open_page(dialog.captions)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    fields = (dialog.captions.letters, dialog.captions.preset)
    for field in fields:
        dialog.tabs.setFocus()
        turn_wheel(field)
        assert edits == []
    for number, field in enumerate(fields, start=1):
        field.setFocus()
        turn_wheel(field)
        assert len(edits) == number


def test_enter_in_a_field_resets_and_closes_nothing(dialog, edits, qtbot):
    dialog.show_preferences(CHOSEN)
    dialog.open_page(dialog.captions)
    dialog.show()
    qtbot.keyClick(dialog.captions.name_me, Qt.Key.Key_Return)
    assert edits == []
    assert dialog.isVisible()


def test_another_language_of_the_windows_is_told_to_hold_from_the_next_start(dialog):
    dialog.show_preferences(Preferences())
    general = dialog.pages[0]
    assert general.next_start.isHidden()
    general.language.setCurrentIndex(general.language.findData("de"))
    assert not general.next_start.isHidden()
    assert "started again" in general.next_start.text()
    general.language.setCurrentIndex(general.language.findData("system"))
    assert general.next_start.isHidden()
