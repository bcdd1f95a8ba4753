"""``surtitle listen`` with a recogniser and a session that are made up."""

import io
import json
import os
import re
import signal
import sys
import threading

import pytest
import webvtt

from app import __main__ as app_main
from app.__main__ import main
from app.captions.export import SubtitleWriter
from app.cli.listen_options import listen_settings
from app.cli.listen_output import EventQueue
from engine.errors import NoSoundError
from engine.events import Failed, text_of
from engine.hub.catalogue import standard_speech_model
from engine.hub.download import HubSettings
from engine.messages import Code
from engine.speech.events import TailChanged
from tests.engine.runtime.ctranslate2.tiny_models import make_encoder_decoder
from tests.support.listening_fakes import EchoSession, Loudness, Script, script, sound_of
from tests.support.sound_server import wait_until
from tests.support.sounds import write_sound
from tests.support.spoken import TINY_STREAMING, needs_sherpa, needs_voice
from tests.support.spoken import talk as talk_of_voices

TEXT = "we went to the old house. then it rained all day."


def make_whisper(place):
    folder = place / "whisper"
    folder.mkdir()
    for name in ("config.json", "model.bin", "tokenizer.json"):
        (folder / name).touch()
    return folder


@pytest.fixture
def whisper(tmp_path):
    return make_whisper(tmp_path)


@pytest.fixture
def talk(tmp_path):
    return write_sound(tmp_path / "talk.wav", sound_of(script(TEXT), 6.0))


class Ran:
    def __init__(self, out, err, exit_code):
        self.out, self.err, self.exit_code = out, err, exit_code


@pytest.fixture
def listen(tiny, whisper, monkeypatch, capsysbinary):
    """Run the command in this process with a script for a recogniser."""
    monkeypatch.setattr("engine.session.session.Session", EchoSession)
    monkeypatch.setattr("engine.speech.vad.SileroDetector", Loudness)
    monkeypatch.setattr("engine.speech.whisper.Whisper", lambda *_: Script(script(TEXT)))

    def run(*options):
        exit_code = main(
            ["listen", "--model", str(tiny), "--asr", str(whisper), *map(str, options)]
        )
        out, err = capsysbinary.readouterr()
        return Ran(out.decode(), err.decode(), exit_code)

    return run


def sentences(ran, exit_code):
    assert ran.exit_code == exit_code
    assert "Traceback" not in ran.err
    return ran.err


def test_what_is_said_in_a_file_comes_out_line_by_line(listen, talk):
    ran = listen("--source", talk)
    assert ran.exit_code == 0
    assert ran.out == "WE WENT TO THE OLD HOUSE.\nTHEN IT RAINED ALL DAY.\n"
    assert re.search(
        r"words: 11; median seconds .* whole \d+\.\d\d .*; 0\.00 s of sound lost", ran.err
    )


@pytest.mark.parametrize("real_time", [False, True])
def test_a_file_is_heard_once_and_its_sentences_read_whole_unless_it_has_its_own_pace(
    listen, talk, monkeypatch, real_time
):
    model, policies = Script(script(TEXT)), []
    monkeypatch.setattr("engine.speech.whisper.Whisper", lambda *_: model)

    class Noting(EchoSession):
        def __init__(self, model, translation, *others, **more):
            policies.append(translation.policy)
            super().__init__(model, translation, *others, **more)

    monkeypatch.setattr("engine.session.session.Session", Noting)
    listen("--source", talk, *(["--real-time"] if real_time else []))
    assert policies == ["" if real_time else "offline"]
    assert model.n_whole == (0 if real_time else 1)
    listen("--source", talk, "--policy", "read:2")
    assert policies[1:] == ["read:2"], "what is asked for counts"


def test_subtitles_of_all_forms_say_the_same_at_the_same_times(listen, talk, tmp_path):
    files = {form: tmp_path / f"out.{form}" for form in ("srt", "vtt", "jsonl")}
    options = [part for form, path in files.items() for part in (f"--{form}", path)]
    assert listen("--source", talk, *options).exit_code == 0
    *cues, summary = map(json.loads, files["jsonl"].read_text().splitlines())
    assert [cue["source"] for cue in cues] == [
        "we went to the old house.",
        "then it rained all day.",
    ]
    assert [cue["text"] for cue in cues] == [cue["source"].upper() for cue in cues]
    stages = {lag["stage"]: lag for lag in summary["lags"]}
    assert set(stages) == {"recognised", "translated", "shown", "whole"}
    assert all(lag["n_words"] == 11 for lag in stages.values())
    assert summary["lost_s"] == 0
    for read in (webvtt.from_srt(files["srt"]), webvtt.read(files["vtt"])):
        assert [one.text for one in read] == [cue["text"] for cue in cues]
        assert [one.start_in_seconds for one in read] == [int(cue["start_s"]) for cue in cues]


def test_two_sources_are_told_apart(listen, talk, tmp_path):
    other = write_sound(tmp_path / "other.wav", sound_of(script(TEXT), 6.0))
    jsonl = tmp_path / "out.jsonl"
    ran = listen("--source", talk, "--source", other, "--jsonl", jsonl)
    assert ran.exit_code == 0
    assert sorted(ran.out.splitlines()) == sorted(
        f"[{lane}] {text}"
        for lane in ("talk", "other")
        for text in ("WE WENT TO THE OLD HOUSE.", "THEN IT RAINED ALL DAY.")
    )
    *cues, _ = map(json.loads, jsonl.read_text().splitlines())
    assert {cue["speaker"] for cue in cues} == {"talk", "other"}


class NoServer:
    """A sound system that never answers."""

    def devices(self):
        raise NoSoundError(Code.NO_SERVER_RUNS())

    def changed(self):
        return True

    def close(self):
        pass


@pytest.mark.parametrize("beside", [False, True])
def test_a_sound_server_that_never_answers_ends_it_with_one_sentence(
    listen, talk, monkeypatch, beside
):
    monkeypatch.setattr("engine.audio.sources.AudioSources._system", lambda _: NoServer())
    monkeypatch.setattr("app.cli.listen_options._PATIENCE_S", 0.0)
    ran = listen("--source", "mic", *(["--source", talk] if beside else []))
    assert sentences(ran, 1).count("no sound server answers") == 1
    assert ran.out.count("WE WENT TO THE OLD HOUSE.") == beside, "the file is captioned to its end"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--source", "no.wav"], "no.wav: no such file (use mic, system or an audio file)"),
        (["--source", "mic", "--source", "mic"], "one --source or two different ones"),
        (
            ["--source", "mic", "--sound-device", "a", "--sound-device", "b"],
            "a --sound-device for each",
        ),
        (["--source", "TALK", "--sound-device", "a"], "is a file: leave --sound-device out"),
        (["--source", "mic", "--device", "headphones"], "microphone or output: --sound-device"),
        (["--source", "TALK", "--policy", "never"], "read:N"),
        (["--source", "TALK", "--to", "xx"], "xx"),
    ],
)
def test_wrong_usage_is_one_sentence(listen, talk, options, sentence):
    said = sentences(listen(*(talk if one == "TALK" else one for one in options)), 2)
    assert sentence in said
    assert said.count("\n") == 1
    assert said.startswith("surtitle listen: ")


@pytest.mark.parametrize(
    ("asked", "missing"),
    [
        ("base.en", "base.en (148 MB)"),
        ("zipformer.en", "zipformer.en (72.7 MB)"),
        ("somebody/whisper", "somebody/whisper"),
    ],
)
def test_without_a_network_it_says_which_speech_model_is_missing_and_how_large_it_is(
    listen, talk, tmp_path, monkeypatch, asked, missing
):
    monkeypatch.setenv("SURTITLE_HOME", str(tmp_path))
    offline = HubSettings(endpoint="http://127.0.0.1:1", timeout_s=1, tries=1)
    monkeypatch.setattr("engine.hub.download.HubSettings", lambda: offline)
    said = sentences(listen("--source", talk, "--asr", asked), 1)
    assert f"the speech model {missing} is not on this computer yet" in said
    assert "127.0.0.1" in said
    assert said.strip().count("\n") == 0


def test_subtitles_are_never_written_over(listen, talk, tmp_path):
    path = tmp_path / "mine.srt"
    path.write_text("precious")
    assert "would overwrite" in sentences(listen("--source", talk, "--srt", path), 1)
    assert path.read_text() == "precious"


@needs_sherpa
@needs_voice
def test_a_streaming_model_is_taken_from_its_folder_and_its_kind_told(
    listen, tmp_path, monkeypatch
):
    spoken = talk_of_voices(3, 1)
    monkeypatch.setattr("engine.speech.vad.SileroDetector", Loudness)
    path = write_sound(tmp_path / "said.wav", spoken.samples)
    ran = listen("--source", path, "--asr", TINY_STREAMING)
    assert ran.exit_code == 0, ran.err
    assert ran.out.rstrip(".\n") == spoken.text.upper().rstrip(".")
    assert "words appear at once" in ran.err


def test_a_session_that_fails_ends_with_a_failure(listen, talk, monkeypatch):
    class Failing(EchoSession):
        def start(self):
            self.report(
                Failed(message=Code.AS_SAID(sentence="no memory is left: choose a smaller model"))
            )

    monkeypatch.setattr("engine.session.session.Session", Failing)
    assert "no memory is left" in sentences(listen("--source", talk), 1)


def test_a_reader_that_goes_away_ends_it_without_a_word(listen, talk, monkeypatch):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w", encoding="utf-8") as gone:  # noqa: PTH123  a descriptor
        monkeypatch.setattr(sys, "stdout", gone)
        ran = listen("--source", talk)
    assert ran.exit_code == 141


class Terminal(io.BytesIO):
    """Standard output that looks at a file each time that it is flushed: a crash may come then."""

    def __init__(self, path):
        super().__init__()
        self.path, self.found, self.buffer = path, [], self

    def flush(self):
        kept = [json.loads(line)["text"] for line in self.path.read_text().splitlines()]
        self.found.append((self.getvalue().decode().splitlines(), kept))


def test_a_crash_loses_no_caption_that_was_shown_and_two_subtitles_at_most(
    listen, tmp_path, monkeypatch
):
    words = script(" ".join(f"w{n}." if n % 8 == 7 else f"w{n}" for n in range(100)))
    monkeypatch.setattr("engine.speech.whisper.Whisper", lambda *_: Script(words))
    talk = write_sound(tmp_path / "talk.wav", sound_of(words, 40.0))
    files = {form: tmp_path / f"out.{form}" for form in ("srt", "vtt", "jsonl")}
    options = [part for form, path in files.items() for part in (f"--{form}", path)]
    terminal, written = Terminal(files["jsonl"]), []
    monkeypatch.setattr(sys, "stdout", terminal)
    write_all = SubtitleWriter.write_all

    def write(writer, cues):
        write_all(writer, cues)
        srt, vtt = (files[form].read_text().count(" --> ") for form in ("srt", "vtt"))
        written.append((len(files["jsonl"].read_text().splitlines()), srt, vtt))

    monkeypatch.setattr(SubtitleWriter, "write_all", write)
    ran = listen("--source", talk, *options)
    assert ran.exit_code == 0, ran.err
    assert len(terminal.found) == len(words) // 8 + 1
    assert all(shown == kept[: len(shown)] for shown, kept in terminal.found)
    behind = [n_kept - min(srt, vtt) for n_kept, srt, vtt in written]
    assert max(behind) <= 2, "what follows decides until when they stay"


# --- Ctrl+C ---------------------------------------------------------------------------------------


def press():
    os.kill(os.getpid(), signal.SIGINT)


def press_first():
    """Press once and wait until that was seen: two at once may be taken for one."""
    before = signal.getsignal(signal.SIGINT)
    press()
    wait_until(lambda: signal.getsignal(signal.SIGINT) is not before)


def test_ctrl_c_still_translates_what_was_said(listen, tmp_path, monkeypatch):
    class PressedAmidASentence(EchoSession):
        def feed_words(self, words, lane):
            super().feed_words(words, lane)
            if "then" in text_of(words):
                press()

    monkeypatch.setattr("engine.session.session.Session", PressedAmidASentence)
    words = script("we went. then it rained all day.")
    monkeypatch.setattr("engine.speech.whisper.Whisper", lambda *_: Script(words))
    long = write_sound(tmp_path / "long.wav", sound_of(words, 60.0))
    ran = listen("--source", long, "--real-time")
    assert ran.exit_code == 0
    assert ran.out.startswith("WE WENT.\nTHEN")
    assert len(ran.out.splitlines()) == 2, "the open utterance is ended too"
    assert "still translated" in ran.err


def test_a_second_ctrl_c_leaves_at_once(listen, tmp_path, monkeypatch):
    class Stuck(EchoSession):
        presses = iter((press_first, press))

        def feed_words(self, words, lane):
            super().feed_words(words, lane)
            self.end_passage(lane)

        def end_passage(self, lane):  # noqa: ARG002  it never ends
            next(self.presses, lambda: None)()

    monkeypatch.setattr("engine.session.session.Session", Stuck)
    words = script("we went")
    monkeypatch.setattr("engine.speech.whisper.Whisper", lambda *_: Script(words))
    long = write_sound(tmp_path / "long.wav", sound_of(words, 60.0))
    assert listen("--source", long, "--real-time").exit_code == 130


def test_who_reports_too_much_waits_until_it_is_taken():
    mailbox = EventQueue()
    event = TailChanged(lane="", words=(), after=0)
    n_put = []

    def report():
        for number in range(6_000):
            mailbox.put(event)
            n_put.append(number)

    reporting = threading.Thread(target=report)
    with mailbox:
        reporting.start()
        reporting.join(0.5)
        assert reporting.is_alive()
        assert len(n_put) < 5_100
    reporting.join(20)
    assert len(n_put) == 6_000


def test_the_recogniser_follows_the_language_that_is_spoken(listen, talk, tmp_path, monkeypatch):
    folder = make_encoder_decoder(tmp_path / "m2m100", "m2m100")
    asked = []

    def whisper(_folder, _device, language, _words):
        asked.append(language)
        return Script(script(TEXT))

    monkeypatch.setattr("engine.speech.whisper.Whisper", whisper)
    assert listen("--source", talk, "--model", folder, "--from", "pl").exit_code == 0
    assert listen("--source", talk).exit_code == 0
    assert asked == ["pl", "en"]
    parser = app_main._parser()
    command = ["listen", "--source", str(talk), "--model", str(folder)]
    named = [
        listen_settings(parser.parse_args([*command, *more])).recognizer
        for more in ([], ["--from", "pl"], ["--from", "pl", "--asr", "small.en"])
    ]
    assert named == [standard_speech_model(), "base", "small"]
