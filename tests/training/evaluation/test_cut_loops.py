"""Measurements show loops as they are, unless the guard against them is what is measured."""

import argparse
from pathlib import Path

from engine.settings import LayoutSettings, TranslationSettings
from training.commands.common_arguments import add_run_arguments
from training.evaluation.short_form import EvaluateSettings

NEEDED = ["--source", "s", "--reference", "r", "--to", "de", "--policies", "read:3", "--out", "o"]


def test_what_is_measured_is_not_cut_and_what_is_seen_is():
    parser = argparse.ArgumentParser()
    add_run_arguments(parser)
    assert not parser.parse_args(NEEDED).cut_loops
    assert parser.parse_args([*NEEDED, "--cut-loops"]).cut_loops
    run = {
        "source": Path("s"),
        "reference": Path("r"),
        "language": "de",
        "policies": ("read:3",),
        "model": Path("m"),
        "layout": LayoutSettings(),
        "out": Path("o"),
    }
    assert not EvaluateSettings(**run).setup().translation.cut_loops
    assert EvaluateSettings(**run, cut_loops=True).setup().translation.cut_loops
    assert TranslationSettings().cut_loops
