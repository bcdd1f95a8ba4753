"""Measurements show loops as they are, unless the guard against them is what is measured."""

import argparse

from engine.settings import TranslationSettings
from tests.support.fakes import save_tiny_model
from training.commands.evaluate import add_run_arguments, run_settings

NEEDED = ["--source", "s", "--reference", "r", "--to", "de", "--policies", "read:3", "--out", "o"]


def test_what_is_measured_is_not_cut_and_what_is_seen_is(tmp_path):
    parser = argparse.ArgumentParser()
    add_run_arguments(parser)
    needed = [*NEEDED, "--model", str(save_tiny_model(tmp_path))]
    assert not run_settings(parser.parse_args(needed)).translation.cut_loops
    assert run_settings(parser.parse_args([*needed, "--cut-loops"])).translation.cut_loops
    assert TranslationSettings().cut_loops
