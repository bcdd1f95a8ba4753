"""What hears for the window, with a hub on this computer and without sound."""

import socket

import pytest

from app.config.preferences import LANES
from app.session import recognition
from app.session.listening_service import ListeningService
from app.session.recognition import SpeechEngine
from engine.audio.devices import AudioDevice, DeviceKind, WantedDevice
from engine.audio.sources import AudioSources
from engine.errors import AudioError, ModelError
from engine.hub.download import model_folder
from engine.messages import Code
from engine.speech import vad
from engine.speech.events import ListeningFailed, RecognizerKept
from engine.speech.listener import WantedFile
from tests.support import hub_server
from tests.support.hub_server import WHISPER_FILES
from tests.support.listening_fakes import Chunks, Echo, Loudness, Script, script, sound_of
from tests.support.sounds import write_sound

NAME = "some/model"

pytestmark = pytest.mark.usefixtures("hub_cache")


@pytest.fixture
def hub():
    with hub_server.running(WHISPER_FILES) as hub:
        yield hub


@pytest.fixture
def desk(qtbot, tmp_path, hub):
    made = ListeningService(
        lambda library, device: SpeechEngine(library, device, hub_server.settings(hub)),
        tmp_path,
        "auto",
        print,
    )
    made.qtbot = qtbot
    yield made
    made.close()


def test_a_recogniser_is_fetched_with_real_bytes_told(desk, tmp_path):
    told = []
    desk.progressed.connect(lambda *said: told.append(said))
    with desk.qtbot.waitSignal(desk.fetched) as fetched:
        desk.fetch(NAME)
    assert fetched.args == [NAME]
    total = sum(map(len, WHISPER_FILES.values()))
    assert told[-1] == (NAME, total, total)
    assert SpeechEngine(tmp_path, "auto").has(NAME)


def test_speed_is_measured_some_times_and_a_measure_of_a_busy_computer_takes_back_nothing(
    desk, monkeypatch
):
    measures, told = iter([60.0, 20.0, 30.0, 70.0]), []
    monkeypatch.setattr("engine.speech.speed.computer_gflops", lambda _pause: next(measures))
    desk.speed_measured.connect(lambda *said: told.append(said))
    desk._measuring.setInterval(0)
    desk.measure_speed()
    desk.qtbot.waitUntil(lambda: len(told) == 2)
    assert told == [(60.0, True), (60.0, False)]
    desk.measure_speed()
    desk.qtbot.waitUntil(lambda: len(told) == 4)
    assert told[2:] == [(60.0, True), (70.0, False)]


def test_only_what_is_damaged_of_a_recogniser_is_fetched_again(desk, tmp_path, hub):
    with desk.qtbot.waitSignal(desk.fetched):
        desk.fetch(NAME)
    weights = model_folder(NAME, tmp_path) / "model.bin"
    weights.write_bytes(b"damaged")
    hub.asked.clear()
    with desk.qtbot.waitSignal(desk.fetched):
        desk.fetch(NAME)
    assert not hub.asked  # by itself nothing is looked up
    with desk.qtbot.waitSignal(desk.fetched):
        desk.fetch(NAME, again=True)
    assert weights.read_bytes() == WHISPER_FILES["model.bin"]
    assert [path.rpartition("/")[2] for path, _ in hub.asked[1:]] == ["model.bin"]


def test_which_models_are_here_which_can_be_fetched_and_which_cannot_be_used_is_told(
    desk, tmp_path
):
    broken = tmp_path / "pictures"
    broken.mkdir()
    with desk.qtbot.waitSignal(desk.fetched):
        desk.fetch(NAME)
    with desk.qtbot.waitSignal(desk.looked_up) as looked:
        desk.look_up([NAME, "other/model", str(broken)])
    (found,) = looked.args
    assert found.keys() == {NAME, "other/model", str(broken)}
    assert (found[NAME], found["other/model"]) == (None, "")
    assert "\n" not in found[str(broken)]
    assert "pictures" in found[str(broken)]
    for name, told in found.items():
        with desk.qtbot.waitSignal(desk.recognizer_looked_for) as looked:
            desk.look_for(name)
        assert looked.args == [name, told]


def test_devices_are_listed_and_where_that_fails_there_are_none(desk, monkeypatch):
    device = AudioDevice(
        name="mic", description="Microphone", kind=DeviceKind.MICROPHONE, rate_hz=48_000
    )
    monkeypatch.setattr(SpeechEngine, "devices", lambda _: (device,))
    with desk.qtbot.waitSignal(desk.devices_listed) as listed:
        desk.list_devices()
    assert listed.args == [[device]]

    def fail(_):
        raise AudioError(Code.AS_SAID(sentence="no sound here"))

    monkeypatch.setattr(SpeechEngine, "devices", fail)
    with desk.qtbot.waitSignal(desk.devices_listed) as listed:
        desk.list_devices()
    assert listed.args == [[]]


@pytest.mark.parametrize("fault", ["lost", "garbled"])
def test_a_fetch_that_fails_is_one_sentence_and_a_second_try_succeeds(desk, hub, fault):
    hub.fault = lambda name, _start: fault if name == "model.bin" else None
    with desk.qtbot.waitSignal(desk.fetch_failed) as failed:
        desk.fetch(NAME)
    assert NAME in failed.args[0]
    assert "\n" not in failed.args[0]
    hub.fault = lambda _name, _start: None
    with desk.qtbot.waitSignal(desk.fetched):
        desk.fetch(NAME)


def test_a_cancelled_fetch_tells_no_failure(desk, hub):
    hub.fault = lambda name, _start: "silent" if name == "model.bin" else None
    with desk.qtbot.waitSignal(desk.fetch_failed) as failed:
        desk.fetch(NAME)
        with desk.qtbot.waitSignal(desk.progressed):
            pass
        desk.cancel_fetch()
        hub.fault = lambda _name, _start: None
    assert failed.args == [""]


def test_no_network_is_asked_whether_a_recogniser_is_here(tmp_path, monkeypatch):
    def no_network(*_arguments, **_others):
        raise AssertionError

    monkeypatch.setattr(socket.socket, "connect", no_network)
    speech = SpeechEngine(tmp_path, "auto")
    assert not speech.has("base.en")
    for name in ("config.json", "model.bin", "tokenizer.json"):
        (tmp_path / name).touch()
    assert speech.has(str(tmp_path))
    with pytest.raises(ModelError, match="no speech model is called 'nonsense'"):
        speech.has("nonsense")


class Sources:
    """Makes sources in which nothing is said; keeps what was wanted."""

    def __init__(self):
        self.wanted = []

    def live(self, wanted, _report):
        self.wanted.append(wanted)
        return Chunks(sound_of(script("good morning."), 3.0))


@pytest.fixture
def ears(tmp_path, monkeypatch):
    """Ears whose recogniser is written down and whose sound is made up."""
    loaded = []

    def load(folder, _device, language, _words):
        loaded.append((str(folder), language))
        return Script(script("good morning."))

    monkeypatch.setattr(recognition, "load_speech_model", load)
    monkeypatch.setattr(vad, "SileroDetector", Loudness)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for file, content in WHISPER_FILES.items():
            (tmp_path / name / file).write_bytes(content)
    speech = SpeechEngine(tmp_path, "cpu")
    speech._sources = Sources()
    speech.loaded = loaded
    return speech


def listened(ears, folder, *wanted, after=None):
    echo = Echo()
    run = ears.prepare(wanted, str(folder), echo, lambda _event: None, after)
    echo.report = run.listener.take
    run.listener.start()
    assert run.listener.join(90)
    return echo


def test_a_recogniser_stays_loaded_from_one_run_to_the_next(ears, tmp_path):
    microphone = WantedDevice(kind=DeviceKind.MICROPHONE)
    runs = [("one", "en", ()), ("one", "en", ()), ("two", "en", ()), ("two", "pl", ())]
    for folder, language, words in [*runs, ("two", "pl", ("Nguyen",))]:
        ears.language, ears.words = language, words
        echo = listened(ears, tmp_path / folder, microphone)
        assert echo.fed == [("me", "good"), ("me", "morning.")]
    one, two = (str(tmp_path / name) for name in ("one", "two"))
    assert ears.loaded == [(one, "en"), (two, "en"), (two, "pl"), (two, "pl")]


def test_a_recogniser_that_cannot_be_loaded_gives_way_to_the_one_before(
    ears, tmp_path, monkeypatch
):
    load = recognition.load_speech_model
    one, two = str(tmp_path / "one"), str(tmp_path / "two")

    def load_one(folder, device, language, _words):
        if str(folder) == two:
            msg = "it is damaged"
            raise ModelError(msg)
        return load(folder, device, language, ())

    monkeypatch.setattr(recognition, "load_speech_model", load_one)
    microphone = WantedDevice(kind=DeviceKind.MICROPHONE)
    for instead in (one, ""):
        echo, events = Echo(), []
        run = ears.prepare([microphone], two, echo, events.append, instead=instead)
        echo.report = run.listener.take
        run.listener.start()
        assert run.listener.join(90)
        kept = [event.message for event in events if isinstance(event, RecognizerKept)]
        failed = [event.message for event in events if isinstance(event, ListeningFailed)]
        assert list(map(str, kept)) == (["it is damaged"] if instead else [])
        assert list(map(str, failed)) == ([] if instead else ["it is damaged"])
        assert bool(echo.fed) == bool(instead)


def test_a_run_recognises_nothing_before_the_one_before_has_ended(ears, tmp_path):
    wanted = (WantedDevice(kind=DeviceKind.MICROPHONE),)
    echoes = [Echo(), Echo()]
    echoes[0].hold()
    runs = []
    for echo in echoes:
        after = runs[-1].listener if runs else None
        runs.append(ears.prepare(wanted, str(tmp_path / "one"), echo, lambda _event: None, after))
        echo.report = runs[-1].listener.take
        runs[-1].listener.start()
    assert not runs[1].listener.join(0.3)
    assert echoes[1].fed == []
    assert runs[1].sources["me"].started, "what is said meanwhile is recorded"
    echoes[0].release()
    assert all(run.listener.join(90) for run in runs)
    assert echoes[1].fed == [("me", "good"), ("me", "morning.")]


def test_lanes_are_named_by_who_is_heard_and_devices_by_the_systems_names(ears, tmp_path):
    system = WantedDevice(kind=DeviceKind.SYSTEM, name="out1")
    listened(ears, tmp_path / "one", WantedDevice(kind=DeviceKind.MICROPHONE), system)
    assert [(one.kind, one.name) for one in ears._sources.wanted] == [
        ("microphone", None),
        ("system", "out1"),
    ]
    assert LANES[system.kind] == "them"


def test_a_file_is_a_run_of_its_own_whose_position_can_be_asked(ears, tmp_path):
    sound = sound_of(script("good morning."), 3.0)
    write_sound(tmp_path / "talk.wav", sound)
    ears._sources = AudioSources()
    echo, events = Echo(), []
    wanted = WantedFile(path=tmp_path / "talk.wav")
    run = ears.prepare([wanted], str(tmp_path / "one"), echo, events.append)
    echo.report = run.listener.take
    run.listener.start()
    assert run.file.duration_s == pytest.approx(3.0)
    assert run.listener.join(90)
    assert run.file.position_s == pytest.approx(3.0)
    assert echo.fed == [("file", "good"), ("file", "morning.")]
    assert [word.end_s for word in echo.words] == pytest.approx([0.4, 0.8])
