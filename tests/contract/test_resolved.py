"""Whoever translates by a model gets the same system, policy and slots for the same request."""

import argparse
import importlib
import io
import json
import sys
from dataclasses import replace
from types import ModuleType

import pytest

from app.__main__ import main
from app.config.preferences import LaunchSettings
from app.config.settings_in_force import SettingsInForce
from engine.metrics.event_log import EventLog
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import read_card
from engine.runtime.ctranslate2 import conversion
from engine.runtime.loader import load_weights
from engine.session.loaded_model import LoadedModel
from engine.settings import ModelSettings
from tests.engine.runtime.ctranslate2.tiny_models import make_encoder_decoder
from tests.support.adapter_folders import tiny_card, write_adapter
from tests.support.chat_templates import CHATML
from tests.support.fakes import save_tiny_model
from training.commands import evaluate
from training.commands.evaluate import run_settings
from training.evaluation.short_form import logged_system

LENGTH = 32  # of the slots of the base; other than the standard of the settings
OWN_LENGTH = 8  # of the adapter

CARDS = {
    ("slots", None): ("slots", "read:5:7", LENGTH),
    ("slots", "adapter"): ("slots", "read:5:7", OWN_LENGTH),
    ("slots", "stranger"): ("slots", "read:5:7", LENGTH),
    ("plain", None): ("retranslate", "stable:2", 1),
    ("plain", "adapter"): ("slots", "read:5:7", OWN_LENGTH),
    ("marian", None): ("encoder-decoder", "stable:2", 1),
}
"""What stands for no request, by model and adapter: system, policy and slot length."""

REQUESTS = [
    ({}, lambda found: found),
    ({"policy": "wait:1"}, lambda found: (found[0], "wait:1", found[2])),
    ({"system": "retranslate"}, lambda found: ("retranslate", "stable:2", found[2])),
    ({"slot": 4}, lambda found: (*found[:2], 4)),
]
"""What is asked for, and what it changes."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Models and adapters by name; an adapter by its model, too."""
    root = tmp_path_factory.mktemp("models")
    slots = save_tiny_model(root / "slots")
    replace(read_card(slots), slot_length=LENGTH).save(slots)
    plain = save_tiny_model(root / "plain")
    (plain / "surtitle.json").unlink()
    (plain / "chat_template.jinja").write_text(CHATML, encoding="utf-8")
    marian = make_encoder_decoder(root / "marian", "marian")
    conversion.ready_folder(marian, "int8")
    found = {"slots": slots, "plain": plain, "marian": marian}
    for name in ("slots", "plain"):
        base = read_fingerprint(found[name])
        card = tiny_card(base, slot_length=OWN_LENGTH)
        found[name, "adapter"] = write_adapter(root / f"of-{name}", base, card=card)
        found[name, "stranger"] = write_adapter(root / f"x-{name}", base, card=False)
    return found


def of_log(path):
    """System, policy and slot length of the newest session in a log."""
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    told = next(event for event in reversed(events) if event["event"] == "session")
    return told["system"], told["policy"], told["slot_length"]


def in_the_window(model, adapter, asked, path, _monkeypatch):
    """Slots and systems cannot be asked for there, so the session is asked for the system."""
    folders = dict.fromkeys(
        ("preferences_file", "places_file", "data_folder", "log_folder"), path.with_suffix("")
    )
    in_force = SettingsInForce(LaunchSettings(**folders, policy=asked.get("policy")))
    settings = ModelSettings(
        directory=model, adapter=adapter, device="cpu", system=asked.get("system", "auto")
    )
    loaded = LoadedModel(settings, lambda _: None)
    in_force.suit_policy(makes_drafts=loaded.makes_drafts)
    with EventLog(path) as log:
        loaded.make_system(in_force.translation, log)


def in_a_terminal(model, adapter, asked, path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"the old house.\n")))
    options = [f"--{name}={value}" for name, value in asked.items()]
    adapted = ["--adapter", str(adapter or "none")]
    exit_code = main(
        ["translate", "--model", str(model), *adapted, *options, "--device=cpu", f"--log={path}"]
    )
    assert exit_code == 0


def measured(model, adapter, asked, path, _monkeypatch):
    source = path.with_suffix(".en")
    source.write_text("the old house.\n", encoding="utf-8")
    parser = argparse.ArgumentParser()
    evaluate.add_parser(parser.add_subparsers())
    policy = asked.get("policy")
    arguments = parser.parse_args(
        ["evaluate", f"--source={source}", f"--reference={source}", "--to=de", f"--out={path}.run",
         "--workers=1",
         f"--model={model}", *([f"--adapter={adapter}"] if adapter else []),
         *(f"--{name}={value}" for name, value in asked.items() if name != "policy"),
         *([f"--policies={policy}"] if policy else [])]
    )  # fmt: skip
    settings = run_settings(arguments, arguments.system)
    (settings.out / "log").mkdir(parents=True)
    with logged_system(settings, load_weights(settings.model), policy or "", 1, 2048):
        pass
    (settings.out / "log" / f"{policy or ''}.1.jsonl").rename(path)


def by_simuleval(model, adapter, asked, path, monkeypatch):
    """SimulEval itself is not there: only its names are."""
    modules = {
        "simuleval": {},
        "simuleval.agents": {"TextToTextAgent": object},
        "simuleval.agents.actions": dict.fromkeys(("Action", "ReadAction", "WriteAction"), object),
        "simuleval.utils": {"entrypoint": lambda kind: kind},
    }
    for name, values in modules.items():
        module = ModuleType(name)
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)
    agent = importlib.import_module("training.research.simuleval_agent")
    monkeypatch.delitem(sys.modules, "training.research.simuleval_agent")
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu")
    agent.SurtitleAgent.add_args(parser)
    named = {"system": "translator"}
    arguments = parser.parse_args(
        [f"--model={model}", *([f"--adapter={adapter}"] if adapter else []),
         *(f"--{named.get(name, name)}={value}" for name, value in asked.items())]
    )  # fmt: skip
    with EventLog(path) as log:
        monkeypatch.setattr(agent, "EventLog", lambda: log)
        agent._make_system(arguments)


CALLERS = [in_the_window, in_a_terminal, measured, by_simuleval]


@pytest.mark.parametrize(("model", "adapter"), CARDS)
@pytest.mark.parametrize("caller", CALLERS, ids=lambda caller: caller.__name__)
def test_every_caller_gets_the_same_for_the_same_request(
    caller, model, adapter, folders, tmp_path, monkeypatch
):
    for number, (asked, change) in enumerate(REQUESTS):
        if "slot" in asked and caller is in_the_window:
            continue
        if asked.get("system") and model == "marian":
            continue
        path = tmp_path / f"{number}.jsonl"
        caller(folders[model], adapter and folders[model, adapter], asked, path, monkeypatch)
        assert of_log(path) == change(CARDS[model, adapter]), asked
