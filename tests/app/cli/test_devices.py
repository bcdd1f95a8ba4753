import argparse
import sys
from pathlib import Path

from app.__main__ import _parser
from app.cli.devices import tables
from engine.audio.devices import AudioDevice, DeviceKind
from tests.support.programs.run import ran
from tests.support.sound_server import TestServer, needs_sound_server


def device(name, description, kind, **more):
    return AudioDevice(name=name, description=description, kind=kind, rate_hz=48_000, **more)


def test_there_is_a_table_for_each_kind_with_the_default_marked():
    microphone, system = DeviceKind.MICROPHONE, DeviceKind.SYSTEM
    devices = [
        device("usb", "Büro-Mikrofon", microphone),
        device("pci.monitor", "Speakers", system, is_default=True),
        device("pci", "Built-in", microphone, is_default=True, is_muted=True),
    ]
    assert tables(devices) == (
        "Microphones\n"
        "  Büro-Mikrofon  usb\n"
        "* Built-in       pci  (muted)\n"
        "\n"
        "What you hear\n"
        "* Speakers       pci.monitor\n"
    )


def test_where_there_is_nothing_the_tables_say_so():
    assert tables([]) == "Microphones\n  none\n\nWhat you hear\n  none\n"


def test_a_name_cannot_steer_the_terminal():
    assert "\x1b" not in tables([device("a\x1b[2J", "b\x1b]0;x\x07", DeviceKind.SYSTEM)])


@needs_sound_server()
def test_the_devices_of_the_sound_server_are_listed(tmp_path, monkeypatch):
    server = TestServer(tmp_path, monkeypatch)
    try:
        done = ran(sys.executable, "-m", "app", "devices", check=True)
    finally:
        server.stop()
    assert done.stdout == (
        "Microphones\n* Microphone  microphone\n\nWhat you hear\n* Speakers    speakers.monitor\n"
    )
    assert done.stderr == ""


def options_of(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for help_of, below in zip(
                action._choices_actions, action.choices.values(), strict=True
            ):
                assert help_of.help
                assert below.description or parser.prog == "surtitle adapters"
                yield from options_of(below)
        else:
            yield parser.prog, action


def told(of, option):
    """Return a line with what an option takes; places on this computer are left out."""
    kind = getattr(option.type, "__name__", option.type)
    usual = "a place" if isinstance(option.default, Path) else option.default
    values = {"type": kind, "default": usual, "const": option.const, "choices": option.choices}
    values |= {"takes": option.nargs, "as": option.metavar, "required": option.required or None}
    named = (f"{name}={value}" for name, value in values.items() if value is not None)
    return " ".join([of, *(option.option_strings or [option.dest]), *named])


def test_every_option_of_every_command_is_explained_with_what_it_takes(keeps_parts):
    options = list(options_of(_parser()))
    keeps_parts([told(of, one) for of, one in options])
    assert [(of, one.dest) for of, one in options if not one.help] == []
    bare = [one.dest for _, one in options if one.nargs != 0 and not (one.metavar or one.choices)]
    assert bare == ["policy", "name", "port"]  # named as what they take
