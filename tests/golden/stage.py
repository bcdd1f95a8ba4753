"""The stage of the golden record: its models, its clock, and the sessions that play on it.

What is imported of the product stands here alone, so that moving code changes this file and no
other. Nothing depends on how fast a computer is: the clock stands still but for its steps, and a
command returns from being sent when the session has done all that follows from it.
"""

import contextlib
import copy
import dataclasses
import enum
import io
import json
import re
import shutil
import sys
import threading
from pathlib import Path
from unittest import mock

import torch
from PySide6.QtCore import QLocale, qInstallMessageHandler
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.__main__ import main as surtitle
from app.captions.export import FORMS
from app.config.preferences import (
    CaptionPreferences,
    InterfacePreferences,
    ListeningPreferences,
    OverlayPreferences,
    Preferences,
    PreferencesFile,
)
from app.config.translations import speak
from engine.audio.devices import DeviceKind
from engine.events import (
    CaptionChanged,
    Clear,
    Configure,
    EndPassage,
    Failed,
    LoadAdapter,
    LoadProgress,
    Ready,
    Skip,
    UnloadAdapter,
    UseAdapter,
)
from engine.files import ASSETS
from engine.messages import Code, Message
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import Calibration, Language, read_card
from engine.runtime.ctranslate2.conversion import ready_folder
from engine.session import session
from engine.session.session import Session
from engine.settings import LayoutSettings, ModelSettings, TranslationSettings, UtteranceLimits
from tests.engine.runtime.ctranslate2 import learnt_m2m100
from tests.golden.clock import CLOCK, real_s
from tests.support.adapter_folders import CONFIG, factors, tiny_card, write_adapter
from tests.support.app.fake_speech_engine import FakeSpeechEngine
from tests.support.app.whole_program import Program, cells
from tests.support.audience.page_client import Reader
from tests.support.commands import fed, typed
from tests.support.fakes import Receiver, leave_to_torch, save_tiny_model, tiny_weights
from tests.support.listening_fakes import Loudness, Script, script, sound_of
from tests.support.sounds import write_sound
from training.trainer.tokenizer import END, END_OF_WRITE, save_tokenizer

__all__ = [
    "CaptionChanged", "Clear", "Configure", "DeviceKind",
    "EndPassage", "Engine", "LayoutSettings", "LoadAdapter", "Models", "Played",
    "Skip", "TranslationSettings", "UnloadAdapter", "UseAdapter",
    "UtteranceLimits", "heard_window", "listen", "translate", "typed", "window",
]  # fmt: skip

WAIT_S = 120.0  # real seconds, for what never comes
_ENGINE = "surtitle-engine"


# --- one command after the other ------------------------------------------------------------------


def _engine_runs():
    return any(thread.name == _ENGINE for thread in threading.enumerate())


def _on_engine():
    return threading.current_thread().name == _ENGINE


class OneByOne(session.CommandQueue):
    """A queue whose ``put`` returns once the session rests again, or has ended."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._rests = threading.Event()
        self._both = threading.Lock()

    def put(self, command):
        if command is None or _on_engine():
            return super().put(command)
        self.wait()
        with self._both:
            self._rests.clear()
            taken = super().put(command)
            if not taken:  # which the session tells with what comes next
                self._rests.set()
        self.wait()
        return taken

    def take(self):
        with self._both:
            if self.is_empty:
                self._rests.set()
        return super().take()

    def wait(self):
        end_s = real_s() + WAIT_S
        while not self._rests.wait(0.02) and _engine_runs():
            assert real_s() < end_s, "a session does not come to rest"


session.CommandQueue = OneByOne
for _name in ("engine.untrusted.limited_process",):
    if _name in sys.modules:  # ours: as in other tests, no process of its own looks at them
        sys.modules[_name]._OURS = type("All", (), {"__contains__": lambda *_: True})()
torch.set_num_threads(1)


# --- models ---------------------------------------------------------------------------------------


class Models:
    """Folders of tiny models with random weights; each is made when it is first needed."""

    def __init__(self, home):
        self._home = home
        self._made = {}

    def __getitem__(self, name):
        if name not in self._made:
            self._made[name] = getattr(self, f"_make_{name.replace('-', '_')}")(self._home / name)
        return self._made[name]

    def settings(self, name="short", **changes):
        adapter = changes.pop("adapter", None)
        folder = self[name]
        return ModelSettings(
            directory=folder, device="cpu", adapter=adapter and self[adapter], **changes
        )

    def _make_graph(self, folder):
        """A model that writes letters, and of every other token ends by a wide margin.

        ONNX Runtime computes it.
        """
        weights = tiny_weights()
        network, tokenizer = copy.deepcopy(weights.network).float(), weights.tokenizer
        pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        with torch.no_grad():  # the first number of the residual stream tells whether a token ends
            for layer in network.model.layers:
                layer.self_attn.o_proj.weight[0] = layer.mlp.down_proj.weight[0] = 0
            network.lm_head.weight[:, 0] = 0
            for id_, piece in enumerate(pieces):
                text = tokenizer.decode([id_]).strip()
                if not (text.isascii() and text.isalnum()):
                    network.lm_head.weight[id_] = 0
                ends = not piece.startswith("<|") and id_ % 2
                network.model.embed_tokens.weight[id_, 0] = 1 if ends else -1
            for marker in (END_OF_WRITE, END):
                network.lm_head.weight[pieces.index(marker), 0] = 1000
        network.save_pretrained(folder)
        save_tokenizer(tokenizer, weights.card, folder)
        return folder

    def _make_short(self, folder):
        """The same, computed by torch."""
        leave_to_torch(self._make_graph(folder))
        return folder

    def _make_plain(self, folder):
        return save_tiny_model(folder)

    def _copy(self, folder, **changes):
        shutil.copytree(self["short"], folder)
        dataclasses.replace(read_card(folder), **changes).save(folder)
        return folder

    def _make_prompt(self, folder):
        """A model that finds glossary and context in its prompt."""
        return self._copy(folder, policies=())

    def _make_calibrated(self, folder):
        calibration = Calibration(slope=0.5, offset=1.0, threshold=0.5)
        return self._copy(folder, calibration=calibration)

    def _adapter(self, folder, scale, **changes):
        base = read_fingerprint(self["short"])
        tensors = {key: value * scale for key, value in factors(base, CONFIG).items()}
        card = tiny_card(base, name=folder.name, **changes)
        return write_adapter(folder, base, tensors=tensors, card=card)

    def _make_damaged(self, folder):
        self._copy(folder)
        (folder / "model.safetensors").write_bytes(b"{}")
        return folder

    def _make_one(self, folder):
        return self._adapter(folder, 0.3)

    def _make_two(self, folder):
        french = {"fr": Language(name="French", system="<|fr|>")}
        return self._adapter(folder, -0.3, slot_length=5, languages=french)

    def _make_stranger(self, folder):
        """An adapter over another tokenizer."""
        return write_adapter(folder)

    def _make_m2m100(self, folder):
        shutil.copytree(learnt_m2m100.FOLDER, folder)
        ready_folder(folder, "float16")
        return folder


# --- what is kept ---------------------------------------------------------------------------------


class Record:
    """The record of one session: named parts of lines."""

    def __init__(self, home):
        self._home = home
        self._lines = []

    def add(self, part, lines):
        self._lines += [f"== {part}", *lines, ""]

    def text(self):
        whole = "\n".join(self._lines)
        for folder in (str(self._home.resolve()), str(self._home)):
            whole = whole.replace(folder, "HOME")
        return whole

    def add_log(self, path):
        """The rows fed and recomputed, and what decided about them: the engine's log."""
        rows = map(json.loads, path.read_text("utf-8").splitlines())
        left_out = {"at_s", "peak_memory_bytes", "flops"}
        self.add(
            "log",
            [
                " ".join(
                    [row["event"]]
                    + [
                        f"{name}={_shown(value)}"
                        for name, value in row.items()
                        if name != "event" and name not in left_out
                    ]
                )
                for row in rows
            ],
        )


def _shown(value):  # noqa: C901, PLR0911  a line for each kind
    """A value as text: no digits in which computers differ, and words without their times."""
    match value:
        case bool() | None:
            return str(value)
        case Message():
            return json.dumps(str(value), ensure_ascii=False)
        case enum.Enum():
            return value.name
        case float():
            return f"{value:.2f}"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case Path():
            return value.name
        case dict():
            return "{" + ", ".join(f"{key}: {_shown(one)}" for key, one in value.items()) + "}"
        case tuple() | list() if value and all(isinstance(one, int) for one in value):
            return "[" + " ".join(map(str, value)) + "]"
        case tuple() | list():
            return "[" + ", ".join(map(_shown, value)) + "]"
        case _ if hasattr(value, "text") and hasattr(value, "committed_at_s"):
            return _shown(value.text)
        case _ if dataclasses.is_dataclass(value):
            return f"({_fields(value)})"
        case _:
            return str(value)


_TIMES = {"load_s", "ms_per_word"}


def _fields(value):
    return " ".join(
        f"{field.name}={_shown(getattr(value, field.name))}"
        for field in dataclasses.fields(value)
        if field.name not in _TIMES
        and (field.name != "language" or value.language)  # the first of a session has no name
    )


# --- the engine -----------------------------------------------------------------------------------


class Played:
    """A session of the engine: commands in, events out."""

    def __init__(self, record, models, *, translation, home, model="short", **changes):
        self.record = record
        self._events = []
        self.receiver = Receiver()
        self._log = home / "log.jsonl"
        self._ready = threading.Event()
        self._meanwhile = None
        self._session = Session(
            models.settings(model, **changes), translation, self._take, log=self._log
        )

    def _take(self, event):
        if isinstance(event, LoadProgress):
            return
        self._events.append(f"{type(event).__name__} {_fields(event)}")
        self.receiver(event)
        if isinstance(event, Ready | Failed):
            self._ready.set()
        if self._meanwhile and self._meanwhile[0](event):
            commands, self._meanwhile = self._meanwhile[1], None
            for command in commands:
                self._send(command)

    def __enter__(self):
        self._session.start()
        assert self._ready.wait(WAIT_S)
        return self

    def __exit__(self, kind, *_error):
        self._session.stop()
        if kind is None:
            self.record.add("events", self._events)
            captions = [
                f"{number}: {' '.join(self.receiver.words[number])} -> "
                f"{self.receiver.captions[number]}"
                for number in self.receiver.order
            ]
            self.record.add("captions", captions)
            self.record.add_log(self._log)

    def _send(self, command):
        self._events.append(f"> {type(command).__name__} {_told(command)}".rstrip())
        self._session.send(command)

    def send(self, *commands):
        for command in commands:
            CLOCK.step()
            self._send(command)

    def heard(self, text, lane="", *, at_once=False):
        """Feed words one by one, or all together."""
        if at_once:
            self.send(fed(text.split(), lane))
            return
        for word in text.split():
            self.send(fed([word], lane))

    def typed(self, *texts):
        for text in texts:
            self.send(typed(text.split()))

    def meanwhile(self, condition, *commands):
        """Send commands from the first event for which a condition holds: while it translates."""
        self._meanwhile = condition, commands


def _told(command):
    shown = _fields(command)
    return shown if len(shown) < 2000 else f"{shown[:80]} ... {len(shown)} characters"


# --- the terminal ---------------------------------------------------------------------------------


class _Kept(io.BytesIO):
    """Bytes that can be read also when whoever wrote them has closed their stream."""

    def close(self):
        pass


class _Stdin:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def _ran(record, arguments, stdin=b""):
    """Run a command in this process; keep what it wrote and its exit code."""
    out, err = _Kept(), io.StringIO()
    with (
        mock.patch.object(sys, "stdin", _Stdin(stdin)),
        mock.patch.object(sys, "stdout", io.TextIOWrapper(out, "utf-8", write_through=True)),
        mock.patch.object(sys, "stderr", err),
    ):
        code = surtitle([str(part) for part in arguments])
    name = " ".join(map(str, arguments))
    record.add(f"surtitle {name}: {code}", out.getvalue().decode().split("\n"))
    if err.getvalue():
        record.add("said", err.getvalue().splitlines())


def translate(record, models, text, *options, home, model="short"):
    log = home / "log.jsonl"
    log.unlink(missing_ok=True)
    given = ["translate", "--model", models[model], "--log", log, *options]
    _ran(record, given, text.encode())
    if log.exists():
        record.add_log(log)


def listen(record, models, texts, *options, home):
    """``surtitle listen`` to files in which texts are said, with a recogniser that knows them."""
    whisper = home / "whisper"
    whisper.mkdir()
    for name in ("config.json", "model.bin", "tokenizer.json"):
        (whisper / name).touch()
    sources = []
    for number, text in enumerate(texts):
        samples = sound_of(script(text), script(text)[-1].end_s + 2.0)
        sources += ["--source", write_sound(home / f"talk{number}.wav", samples)]
    written = {form: home / f"talk.{form}" for form in ("srt", "vtt", "jsonl")}
    for form, path in written.items():
        sources += [f"--{form}", path]
    log = home / "log.jsonl"
    with (
        mock.patch("engine.speech.vad.SileroDetector", Loudness),
        mock.patch("engine.speech.whisper.Whisper", return_value=Script(script(texts[0]))),
    ):
        common = ["listen", "--model", models["short"], "--asr", whisper, "--log", log]
        _ran(record, [*common, *sources, *options])
    for form, path in written.items():
        record.add(form, path.read_text("utf-8").splitlines())
    record.add_log(log)


# --- the windows ----------------------------------------------------------------------------------


def _note(_kind, _context, message):
    """Write what Qt says, but for what windows cannot do without a screen."""
    if not message.startswith("This plugin does not support"):
        sys.stderr.write(f"{message}\n")


qInstallMessageHandler(_note)


class _Hands:
    """What helpers of the tests ask of pytest-qt, without pytest."""

    keyClicks = staticmethod(QTest.keyClicks)  # noqa: N815  Qt's names
    keyClick = staticmethod(QTest.keyClick)  # noqa: N815

    def addWidget(self, _widget):  # noqa: N802
        pass

    def waitUntil(self, condition, timeout=None):  # noqa: ARG002, N802
        end_s = real_s() + WAIT_S
        while not condition():
            assert real_s() < end_s, "what a window waits for did not come"
            QTest.qWait(2)


def _settled():
    """Let the windows take all that was reported."""
    for _ in range(20):
        QApplication.processEvents()


class _Fragile:
    """A session that fails when it is told to."""

    def __init__(self, session, report):
        self._session = session
        self._report = report

    def __getattr__(self, name):
        return getattr(self._session, name)

    def fail(self, sentence):
        self._session.stop()
        self._report(Failed(message=Code.AS_SAID(sentence=sentence)))


class Engine:
    """Makes the sessions of a window: real ones, of the tiny model."""

    def __init__(self, models, model="short"):
        self._settings = models.settings(model)
        self.sessions = []

    def make(self, model, translation, report):
        real = model if model is None else self._settings
        self.sessions.append(_Fragile(Session(real, translation, report), report))
        return self.sessions[-1]


class _Window:
    """A person at the whole program, without a screen."""

    def __init__(self, record, program, home):
        self.record = record
        self.program = program
        self.application, self.window = program.application, program.window
        self._home = home

    def type(self, text):
        for letter in text:
            CLOCK.step(0.125)
            QTest.keyClicks(self.window.typed_line, letter)
            _settled()

    def press(self, key):
        CLOCK.step(0.125)
        QTest.keyClick(self.window.typed_line, key)
        _settled()

    def paste(self, text):
        CLOCK.step()
        QApplication.clipboard().setText(text)
        self.window.typed_line.paste()
        _settled()

    def wait(self, condition):
        self.program.qtbot.waitUntil(condition)
        _settled()

    def settle(self):
        CLOCK.step()
        _settled()

    def trigger(self, name):
        CLOCK.step()
        getattr(self.window.menu_actions, name).trigger()
        _settled()

    def keep_view(self, part, *more):
        """What the windows show now: rows, overlay, status, and more texts."""
        texts = [f"{source} -> {caption}" for source, caption in cells(self.window.transcript)]
        overlay = self.application.overlay_controller
        overlay._make_typesetter()  # what was read meanwhile depends on turns of Qt
        overlay._show_lines_of_now()
        shown = [f"overlay: {self.application.overlay.accessibleDescription()!r}"]
        shown.append(f"status: {self.window.status.choices.text()!r}")
        self.record.add(part, [*texts, *shown, *more])

    def keep_page(self):
        """What the page for a browser source gets."""
        source = self.application.page.source
        assert source.open_at(0) is None
        address = source.address.replace("/?", "/captions?")
        with Reader(address) as reader:
            content = reader.message()
        source.close()
        lines = [json.dumps(line, ensure_ascii=False) for line in content["lines"]]
        self.record.add("caption page", lines)

    def keep_exports(self):
        dialog = self.application.history.export_dialog
        self.window.menu_actions.export.trigger()
        for form in FORMS:
            dialog.form.setCurrentIndex(dialog.form.findData(form))
            path = self._home / f"mine.{form}"
            dialog.export_to(path)
            lines = path.read_text("utf-8").splitlines()
            self.record.add(f"exported {form}", map(_alike, lines))
        dialog.close()

    def keep_journals(self):
        journals = sorted(self._home.glob("sessions/*/session.jsonl"))
        for number, path in enumerate(journals):
            lines = path.read_text("utf-8").splitlines()
            self.record.add(f"journal {number}", map(_alike, lines))

    def close(self):
        self.window.close()
        self.wait(lambda: not self.window.isVisible() and not self.application.bridge.is_running)


def _alike(line):
    """A line as every computer writes it: without the date, and confidence to two digits."""
    line = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([+-]\d\d:\d\d)?", "DATE", line)
    return re.sub(r'(?<="confidence": )[\d.]+', lambda found: f"{float(found[0]):.2f}", line)


@contextlib.contextmanager
def _spoken(language):
    """Let the windows speak a language."""
    qt = QApplication.instance() or QApplication(["surtitle", "-platform", "offscreen"])
    translators = speak(qt, language, ASSETS / "languages")
    QLocale.setDefault(QLocale(language))
    yield
    for translator in translators:
        qt.removeTranslator(translator)


def _prefer(home, language, **captions):
    preferences = Preferences(
        captions=CaptionPreferences(**captions),
        interface=InterfacePreferences(language=language),
        overlay=OverlayPreferences(hide_after_s=0),
        listening=ListeningPreferences(recognizer="base.en"),
    )
    assert PreferencesFile(home / "settings.toml").write(preferences) is None


@contextlib.contextmanager
def window(record, models, *, home, language="en", model="short", **captions):
    """The whole program at its start; without a model name, on a computer without any."""
    _prefer(home, language, **captions)
    with _spoken(language):
        folder = {} if model else {"model": None}
        program = Program(_Hands(), home, Engine(models, model or "short"), **folder)
        yield _opened(record, program, home)


@contextlib.contextmanager
def heard_window(record, models, texts, *, home, language="en", **captions):
    """The whole program with ears that hear texts, by the kind of a source."""
    _prefer(home, language, **captions)
    speech = FakeSpeechEngine(texts)

    def found(name, _library):
        return home if speech.has(name) else None

    with _spoken(language), mock.patch("engine.speech.speech_models.found_speech_model", found):
        program = Program(_Hands(), home, Engine(models), speech)
        yield _opened(record, program, home)


def _opened(record, program, home):
    one = _Window(record, program, home)
    program.application.show()
    one.wait(lambda: one.window.status.is_ready)
    return one
