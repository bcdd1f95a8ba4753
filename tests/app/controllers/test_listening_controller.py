"""The window listens: buttons, banner, transcript and status, over ears that a test speaks into."""

import random
import re
import threading
import time
from dataclasses import replace

import pytest

from app.config.preferences import PreferencesFile
from app.config.settings_in_force import ModelChoice
from engine.audio.devices import AudioNotice, DeviceKind, NoticeKind
from engine.errors import HubError
from engine.messages import Code
from engine.speech.events import Behind, CaughtUp, LeftOut, Noticed, TailChanged
from tests.support.app.fake_speech_engine import DEVICES, Talk
from tests.support.app.whole_program import SAID


@pytest.fixture
def program(listening_program):
    return listening_program


@pytest.fixture
def one(program):
    return program().open()


def test_nobody_is_told_to_speak_before_sound_comes(program, monkeypatch):
    may_come = threading.Event()
    read = Talk.read

    def silent(talk, timeout_s):
        return read(talk, timeout_s) if may_come.wait(timeout_s) else None

    monkeypatch.setattr(Talk, "read", silent)
    one = program().open()
    status = one.window.status.state
    one.bar.microphone.button.click()
    one.wait(lambda: status.text() == "Waiting for the first sound…")
    one.qtbot.wait(50)
    assert status.text() == "Waiting for the first sound…"
    may_come.set()
    one.wait(lambda: status.text().startswith("Listening to the microphone"))
    one.wait_for_sentence()
    one.bar.microphone.button.click()
    one.wait(lambda: not one.application.listening.service.is_listening)
    may_come.clear()
    one.bar.microphone.button.click()
    one.wait(lambda: status.text() == "Waiting for the first sound…")
    may_come.set()  # else the end waits for it


def test_another_spoken_language_is_heard_by_a_model_that_understands_it(program, tmp_path):
    one = program(here=("base.en", "base")).open()
    settings = one.application.settings
    settings.launch = replace(settings.launch, model=None)
    one.bar.microphone.button.click()
    one.wait(lambda: one.speech.asked)
    settings.choose_model(ModelChoice(model=tmp_path / "m", language="de", source="pl"))
    one.wait(lambda: len(one.speech.asked) == 2)
    settings.choose_model(ModelChoice(model=tmp_path / "m", language="de", source="fr"))
    one.wait(lambda: len(one.speech.asked) == 3)
    assert [name for _, name in one.speech.asked] == ["base.en", "base", "base"]
    assert one.speech.languages == ["en", "pl", "fr"]


def test_both_lanes_are_told_apart_in_transcript_journal_and_export(program, tmp_path):
    theirs = "good evening to all of you."
    one = program({DeviceKind.MICROPHONE: [SAID], DeviceKind.SYSTEM: [theirs]}).open()
    one.bar.microphone.button.click()
    one.bar.system.button.click()
    one.wait(lambda: one.texts("them") == (theirs, theirs.upper()))
    assert [source.kind for source in one.bar.on] == [DeviceKind.MICROPHONE, DeviceKind.SYSTEM]
    one.wait(lambda: {cue.speaker for cue in one.cues} >= {"them"})
    table = one.window.transcript
    names = {table.rows.index(row, 2).data() for row in range(table.rows.rowCount())}
    assert "Them" in names
    one.application.settings.change("captions", name_them="Grace")
    names = {table.rows.index(row, 2).data() for row in range(table.rows.rowCount())}
    assert "Grace" in names
    assert "Them" not in names
    dialog = one.application.history.export_dialog
    one.window.menu_actions.export.trigger()
    dialog.export_to(tmp_path / "talk.srt")
    assert "Grace: " in (tmp_path / "talk.srt").read_text()


def test_each_finished_caption_is_said_once_to_screen_readers_and_can_be_silenced(program, said):
    theirs = "good evening to all of you."
    one = program({DeviceKind.MICROPHONE: [SAID], DeviceKind.SYSTEM: [theirs]}).open().hear()
    captions = [caption for _, _, caption in one.rows()]
    assert [text for text in said if text in captions] == captions
    one.bar.system.button.click()
    one.wait(lambda: f"Them: {theirs.upper()}" in said)
    one.application.settings.change("captions", announced=False)
    n_said = len(said)
    one.say_whole("that is all.")
    assert "THAT IS ALL." not in "".join(said[n_said:])


def test_a_tail_says_nothing_in_the_banner_and_comes_to_an_end(one):
    def tails():
        return [view.tail for view in one.window.transcript.rows.views if view.tail]

    one.hear()
    number = one.application.bridge.utterances.newest("me")
    for words, shown in ((("well",), ["well"]), ((), [])):
        one.application.captions.take_heard(TailChanged(lane="me", words=words, after=number))
        assert tails() == shown
    assert one.window.banner.isHidden()


def test_four_stages_of_lag_are_shown_to_the_paint_of_the_word(one):
    one.hear()
    stages = {f"lag, {stage}" for stage in ("recognised", "translated", "shown", "whole")}
    one.wait(lambda: stages <= set(one.application.lag.facts))
    one.application.lag.measure()
    assert re.search(r" · captions \d+ s behind$", one.window.status.state.text())
    assert one.application.lag.facts["sound lost"] == "0.00 s"
    one.window.choices.timing.pick("offline")
    assert one.application.lag.lags.heard() == [], "they were of another timing"


def test_what_was_left_out_is_a_row_of_transcript_overlay_journal_and_phones(program):
    one = program().open().hear()
    captions, shown = one.application.captions, []
    captions.captions_changed.connect(lambda views: shown.extend(views[-1:]))
    number = one.application.bridge.utterances.newest("me")
    gap = LeftOut(lane="me", seconds=40.4, start_s=0, since_s=time.monotonic(), after=number)
    one.application.listening.service.reported.emit(gap)
    note = "… 40 s not captioned"
    assert one.rows()[-1] == ("me", note, note)
    assert shown[-1].left_out_s == 40.4
    one.wait(lambda: one.application.overlay.view.lines[-1].text == note)
    assert one.cues[-1].text == note
    one.application.captions._transcript.delete_wanted.emit((shown[-1].key,))
    assert note not in [cue.text for cue in one.cues]


def test_sound_that_waits_for_long_is_told_in_status_bar_and_overlay(program, monkeypatch):
    one = program().open().hear()
    waiting_s = time.monotonic() - 42.0
    monkeypatch.setattr(one.application.lag, "_waiting_since_s", lambda: waiting_s)
    one.application.lag.measure()
    assert re.search(r" · captions 4[2-9] s behind$", one.window.status.state.text())
    assert one.application.overlay.view.lines[-1].text == "Catching up…"
    assert not one.application.overlay_controller.visibility._silence.isActive()


def test_a_missing_recogniser_is_one_sentence_its_fetch_shows_bytes_and_then_listening_begins(
    program,
):
    one = program(here=()).open()
    one.speech.may_fetch.clear()
    one.be_asked()
    told = "To caption speech, Surtitle needs a speech model (148 MB, once)."
    assert one.banner.sentence.text() == told
    assert not one.bar.microphone.button.isChecked()
    one.banner.offer.click()
    fetching = one.window.fetch_bar
    one.wait(lambda: "0 of 60 MB" in fetching.sentence.text())
    assert one.bar.microphone.button.isChecked(), "it is seen what will come"
    told = "Listening begins when the speech model is here"
    assert one.window.status.state.text() == told
    assert one.speech.asked == []
    one.speech.may_fetch.set()
    one.wait_for_sentence()
    assert one.window.status.state.text() != told
    assert not fetching.isVisible()


def test_a_download_from_the_empty_page_promises_no_listening_and_leaves_keys_to_the_line(program):
    one = program(here=()).open()
    one.speech.may_fetch.clear()
    page = one.window.empty_page
    one.wait(page.download.isVisible)
    page.download.setFocus()
    page.download.click()
    one.wait(one.window.fetch_bar.isVisible)
    assert one.window.focusWidget() is one.window.typed_line
    assert not page.download.isEnabled()
    assert "Listening" not in one.window.status.state.text()
    one.window.fetch_bar.cancel.setFocus()
    one.window.fetch_bar.cancel.click()
    one.wait(page.download.isEnabled)
    assert one.window.focusWidget() is one.window.typed_line


def test_a_fetch_that_fails_is_told_in_one_sentence(program):
    one = program(here=()).open()
    one.speech.fetch_failure = HubError("there is no network: try again later")
    one.be_asked()
    one.banner.offer.click()
    one.wait(lambda: "no network" in one.banner.sentence.text())
    assert not one.window.fetch_bar.isVisible()
    assert not one.bar.microphone.button.isChecked()
    one.speech.fetch_failure = None
    assert one.banner.offer.text() == "Try a&gain"
    one.banner.offer.setFocus()
    one.banner.offer.click()
    assert one.window.focusWidget() is one.window.typed_line, "the next key presses no other button"
    one.wait_for_sentence()


def choose_recognizer(one, name):
    one.application.settings.change("listening", recognizer=name)


def stored_recognizer(one):
    settings = one.application.settings
    stored = PreferencesFile(settings.launch.preferences_file).read()[0]
    return stored.listening.recognizer


@pytest.mark.parametrize("listens", [True, False])
def test_a_model_that_nobody_knows_leaves_the_one_before_in_use(program, listens):
    one = program({DeviceKind.MICROPHONE: [SAID, SAID]}).open()
    one.wait(lambda: one.application.listening._choice._here)
    if listens:
        one.hear()
    choose_recognizer(one, "nonsense")
    one.wait(one.banner.isVisible)
    told = one.banner.sentence.text()
    assert "nonsense" in told
    assert told.endswith("Balanced (base.en) goes on.")
    assert stored_recognizer(one) == "base.en"
    assert one.bar.microphone.button.isChecked() == listens
    assert len(one.speech.runs) == listens
    if not listens:
        one.hear()


def test_a_model_that_is_not_here_is_offered_and_used_once_it_is(program):
    one = program({DeviceKind.MICROPHONE: [SAID, "and so on.", "the end."]}).open().hear()
    choose_recognizer(one, "small.en")
    one.wait(one.banner.isVisible)
    told = "The speech model Accurate (small.en) is not on this computer. Balanced (base.en) goes"
    assert one.banner.sentence.text() == f"{told} on."
    assert stored_recognizer(one) == "base.en", "a start after this one listens, too"
    assert one.bar.microphone.button.isChecked()
    assert one.window.status.state.toolTip() == "Desk mic"
    assert not one.run.sources["me"].stopped
    one.bar.microphone.button.click()
    one.bar.microphone.button.click()
    one.wait(lambda: len(one.speech.runs) == 2)
    assert one.bar.microphone.button.isChecked(), "the one before can be switched on again"
    one.banner.offer.click()
    one.wait(lambda: one.speech.asked[-1][1] == "small.en")
    assert stored_recognizer(one) == "small.en"
    assert [name for _, name in one.speech.asked].count("small.en") == 1, "it is loaded once"


def test_a_source_that_is_switched_on_before_its_model_was_found_is_listened_to_once(
    program, monkeypatch, tmp_path
):
    one = program().open()
    may_be_found = threading.Event()
    monkeypatch.setattr(
        "engine.speech.speech_models.found_speech_model",
        lambda *_: tmp_path if may_be_found.wait() else None,
    )
    choose_recognizer(one, "tiny.en")
    one.bar.microphone.button.click()
    one.wait_for_sentence()
    with one.qtbot.waitSignal(one.application.listening.service.recognizer_looked_for):
        may_be_found.set()
    one.bar.microphone.button.click()
    one.wait(lambda: not one.application.listening.service.is_listening)
    assert [name for _, name in one.speech.asked] == ["tiny.en"]


def test_a_source_that_is_added_after_its_model_was_deleted_leaves_the_other_on(program):
    one = program({DeviceKind.MICROPHONE: [SAID], DeviceKind.SYSTEM: [SAID]}).open().hear()
    one.speech.here.clear()
    one.bar.system.button.click()
    one.wait(one.banner.isVisible)
    told = "The speech model Balanced (base.en) is not on this computer; the one before goes on."
    assert one.banner.sentence.text() == told
    assert one.bar.microphone.button.isChecked()
    assert not one.bar.system.button.isChecked()
    assert one.window.status.state.text().startswith("Listening to the microphone")


def test_a_model_that_cannot_be_loaded_gives_way_to_the_one_before(program):
    one = program({DeviceKind.MICROPHONE: [SAID, "and so on."]}).open().hear()
    one.speech.failure = "the file is cut off: fetch it again"
    choose_recognizer(one, "tiny.en")
    one.wait(lambda: one.texts("me")[0] == f"{SAID} and so on.")
    assert one.banner.sentence.text() == (
        "The file is cut off: fetch it again. Balanced (base.en) goes on."
    )
    assert one.bar.microphone.button.isChecked()
    assert stored_recognizer(one) == "base.en"
    assert [name for _, name in one.speech.asked] == ["base.en", "tiny.en"]


@pytest.mark.parametrize(
    "failure", ["the file is cut off: fetch it again", Code.NO_GPU_FOR_SPEECH()]
)
def test_a_first_model_that_cannot_be_loaded_offers_to_choose_another(one, failure):
    one.speech.failure = failure
    one.be_asked()
    assert one.banner.offer.text() == "Choose a&nother speech model…"
    assert one.speech.fetched == [], "what is not damaged is not fetched again"
    one.banner.offer.click()
    guide = one.application.setup.dialog
    assert guide.stack.currentWidget() is guide.speech
    one.wait(lambda: not one.application.listening.service.is_listening)


def test_during_a_fetch_a_click_still_ends_what_listens(program):
    one = program().open().hear()
    one.speech.may_fetch.clear()
    choose_recognizer(one, "small.en")
    one.wait(one.banner.isVisible)
    one.banner.offer.click()
    one.wait(one.window.fetch_bar.isVisible)
    assert not one.run.sources["me"].stopped
    one.bar.microphone.button.click()
    one.wait(lambda: one.run.sources["me"].stopped)
    one.speech.may_fetch.set()
    one.wait(lambda: not one.window.fetch_bar.isVisible())
    assert len(one.speech.runs) == 1, "nobody wants it any more"


def test_falling_behind_offers_the_quicker_recogniser_and_a_click_takes_it(program):
    one = program({DeviceKind.MICROPHONE: [SAID, "and so on."]}).open().hear()
    message = Code.CAPTIONS_SLOW(smaller="tiny.en")
    desk = one.application.listening.service
    desk.reported.emit(Behind(lane="me", seconds=6.0, message=message, smaller_model="tiny.en"))
    assert one.banner.offer.text() == "&Use Fast (tiny.en)"
    one.banner.offer.click()
    one.wait(lambda: one.speech.asked[-1][1] == "tiny.en")
    one.wait(lambda: one.texts("me")[0] == f"{SAID} and so on.")
    assert one.application.settings.preferences.listening.recognizer == "tiny.en"
    assert desk.pace.fell_behind("base.en"), "the set-up says so from now on"
    assert not desk.pace.fell_behind("tiny.en")


SPEECH, TRANSLATORS = "Choose a&nother speech model…", "Translation &models…"


@pytest.mark.parametrize(
    ("message", "offers"),
    [
        (Code.TRANSLATION_SLOW(), [TRANSLATORS]),
        (Code.CAPTIONS_SLOW_SMALLEST(), [SPEECH, TRANSLATORS]),
    ],
)
def test_falling_behind_leads_to_the_models_of_what_is_slow(one, message, offers):
    desk, guide = one.application.listening.service, one.application.setup
    buttons = one.banner.offer, one.banner.other
    for text in offers:
        desk.reported.emit(Behind(lane="me", seconds=6.0, message=message))
        assert [button.text() for button in buttons if button.isVisible()] == offers
        next(button for button in buttons if button.text() == text).click()
        opened = guide.dialog if text == SPEECH else guide.models
        assert opened.isVisible()
        opened.close()


def test_what_fell_behind_is_told_until_it_has_caught_up_or_nothing_listens(program):
    one = program().open().hear()
    desk = one.application.listening.service
    slow = Behind(lane="me", seconds=6.0, message=Code.CAPTIONS_SLOW_SMALLEST())
    desk.reported.emit(slow)
    assert "fall behind" in one.banner.sentence.text()
    desk.reported.emit(CaughtUp(lane="me"))
    assert not one.banner.isVisible()
    desk.reported.emit(slow)
    one.bar.microphone.button.click()
    one.wait(lambda: not one.banner.isVisible())


DAMAGED = Code.WHISPER_NOT_LOADED(model="base.en", detail="File model.bin is incomplete")


def test_a_damaged_speech_model_is_fetched_again_and_then_heard_with(program):
    one = program({DeviceKind.MICROPHONE: [SAID, SAID]}).open()
    one.speech.failure = DAMAGED
    one.bar.microphone.button.click()
    one.wait(one.banner.offer.isVisible)
    assert "base.en could not be loaded" in one.banner.sentence.text()
    assert one.banner.offer.text() == "Try a&gain"
    assert one.banner.other.text() == "Choose a&nother speech model…"
    one.speech.fetch_failure = HubError("no network")
    one.banner.offer.click()
    one.wait(lambda: "o network" in one.banner.sentence.text())
    one.speech.failure = one.speech.fetch_failure = None
    one.banner.offer.click()
    one.wait_for_sentence()
    assert one.speech.fetched == [("base.en", True)] * 2
    assert one.window.menu_actions.microphone.isChecked()


def test_a_device_that_is_lost_and_comes_back_is_told_in_one_sentence_each(program):
    one = program().open().hear()
    source = one.run.sources["me"]
    source.notice(
        NoticeKind.LOST, "Desk mic is gone: listening to Headset until it is back", "Headset"
    )
    one.wait(one.banner.isVisible)
    assert one.banner.sentence.text().startswith("Desk mic is gone: listening to Headset")
    assert one.window.status.state.toolTip() == "Headset"
    source.notice(NoticeKind.MUTED, "Headset is muted: please switch it on", "Headset")
    one.wait(lambda: "muted" in one.banner.sentence.text())
    source.notice(NoticeKind.RETURNED, "Desk mic is back: listening to it again")
    one.wait(lambda: one.banner.sentence.text() == "Desk mic is back: listening to it again.")
    one.banner.dismiss.click()
    assert not one.banner.isVisible(), "the newest sentence about a source takes the place"


def test_what_is_off_is_not_called_heard_and_takes_its_notice_with_it(program):
    one = program({DeviceKind.MICROPHONE: [SAID], DeviceKind.SYSTEM: ["and so on."]}).open()
    status = one.window.status.state
    one.bar.microphone.button.click()
    one.bar.system.button.click()
    one.wait(lambda: status.text().startswith("Listening to microphone and computer sound"))
    assert status.toolTip() == "Desk mic · Speakers"
    microphone = one.run.sources["me"]
    microphone.notice(NoticeKind.STALLED, "no sound from Desk mic: opening it again")
    one.wait(one.banner.isVisible)
    one.bar.microphone.button.click()
    assert not one.banner.isVisible()
    one.wait(lambda: status.text().startswith("Listening to computer sound"))
    assert status.toolTip() == "Speakers"
    desk = one.application.listening.service
    late = AudioNotice(
        kind=NoticeKind.STALLED, device="Desk mic", message=Code.STALLED(device="Desk mic")
    )
    desk.reported.emit(Noticed(lane="me", notice=late))
    assert not one.banner.isVisible()
    assert status.toolTip() == "Speakers"
    one.bar.system.button.click()
    one.wait(lambda: status.text() == "Ready")


def test_another_device_is_heard_at_once_and_remembered(program):
    one = program({DeviceKind.MICROPHONE: [SAID, "and so on."]}).open().hear()
    devices = one.bar.microphone.devices
    one.wait(lambda: len(devices.entries) == 3)
    assert [text for text, _ in devices.entries] == [
        "Default microphone",
        DEVICES[0].description,
        "Headset (muted)",
    ]
    devices.pick("mic2")
    one.wait(lambda: len(one.speech.asked) == 2)
    (wanted,), _ = one.speech.asked[-1]
    assert (wanted.kind, wanted.name) == (DeviceKind.MICROPHONE, "mic2")
    assert one.application.settings.preferences.listening.microphone == "mic2"
    one.wait(lambda: one.texts("me")[0] == f"{SAID} and so on.")
    before, now = (run.sources["me"] for run in one.speech.runs)
    assert now.before is before, "it records until the other one has sound"
    one.bar.microphone.button.click()
    one.wait(lambda: now.ended)


def test_each_switch_names_the_device_of_its_kind_that_sound_came_from_before(program):
    one = program({DeviceKind.MICROPHONE: [SAID]}).open()
    bar = one.bar

    def wanted():
        return [(it.kind, it.name, it.before) for it in one.speech.asked[-1][0]]

    bar.microphone.button.click()
    one.wait_for_sentence()
    one.wait(lambda: len(bar.microphone.devices.entries) == 3)
    for number, (name, sounding, before) in enumerate(
        [
            ("mic1", "mic1", None),  # before it the default was heard
            ("mic2", None, "mic1"),  # fails
            ("mic1", "mic2", "mic1"),
            ("mic2", "mic2", "mic2"),
        ],
        start=2,
    ):
        bar.microphone.devices.pick(name)
        one.wait_for_runs(number)
        assert wanted() == [(DeviceKind.MICROPHONE, name, before)]
        one.run.sources["me"].sounding = sounding
    bar.microphone.button.click()
    bar.system.button.click()
    one.wait_for_runs(6)
    assert wanted() == [(DeviceKind.SYSTEM, None, None)]
    bar.microphone.button.click()
    one.wait_for_runs(7)
    assert (DeviceKind.MICROPHONE, "mic2", "mic2") in wanted()


def test_a_pause_records_nothing_and_going_on_listens_again(program):
    one = program({DeviceKind.MICROPHONE: [SAID, "and so on."]}).open().hear()
    first = one.run.sources["me"]
    one.window.controls.pause.click()
    one.wait(lambda: first.stopped)
    assert one.bar.microphone.button.isChecked()
    assert one.bar.microphone.meter.filled == 0
    assert len(one.speech.runs) == 1
    one.wait(lambda: not one.application.listening.service.is_listening)
    assert one.window.status.state.text() == "Paused"
    one.window.controls.pause.click()
    one.wait(lambda: one.texts("me")[0] == f"{SAID} and so on.")


def test_closing_the_window_while_listening_leaves_no_thread(program):
    one = program({DeviceKind.MICROPHONE: [SAID], DeviceKind.SYSTEM: [SAID]}).open()
    one.bar.microphone.button.click()
    one.bar.system.button.click()
    one.window.close()
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("surtitle-")]
    assert left == []


def act_at_random(one, rng):
    """Do something a person may do, or let the session fail and begin another."""
    match rng.choice(["me", "me", "them", "pause", "device", "fail", "wait"]):
        case "me":
            one.bar.microphone.button.click()
        case "them":
            one.bar.system.button.click()
        case "pause":
            one.window.controls.pause.click()
        case "device":
            one.bar.microphone.show_device(rng.choice(["", "mic1", "mic2"]))
            one.bar.wanted_changed.emit()
        case "fail":
            one.engine.sessions[-1].fail("it broke")
            one.wait(one.banner.retry.isVisible)
            one.banner.retry.click()
            one.wait(lambda: len(one.engine.sessions[-1].report_threads) > 0)
    one.qtbot.wait(rng.randrange(0, 120))


@pytest.mark.slow
def test_whatever_is_clicked_in_whatever_order_every_word_comes_once(program):
    rng = random.Random(1)
    mine = [f"sentence{number} was said." for number in range(40)]
    one = program(
        {DeviceKind.MICROPHONE: mine, DeviceKind.SYSTEM: [f"their {text}" for text in mine]}
    ).open()
    for _ in range(25):
        act_at_random(one, rng)
    if one.window.controls.pause.isChecked():
        one.window.controls.pause.click()
    for source in one.bar.on:
        source.button.click()
    one.application.listening.service._background.close()  # whatever was wanted has begun
    for lane in ("me", "them"):
        sources = [run.sources[lane] for run in one.speech.runs if lane in run.sources]
        text = " ".join(word.text for source in sources for word in source.words)
        one.wait(lambda lane=lane, text=text: one.texts(lane) == (text, text.upper()))
    one.wait(lambda: not one.application.listening.service.is_listening)


def test_the_gui_thread_is_never_asked_to_work(program):
    one = program().open().hear()
    assert one.speech.thread_names == {"surtitle-background"}
