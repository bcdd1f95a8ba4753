"""How long captions wait for another adapter: loaded once, then switched to and fro.

    .venv/bin/python -m benchmarks.adapter_switch --adapter DIR --adapter OTHER_DIR

A switch ends with the first word translated, as the next utterance of a session would be. README.md
tells how to read the table.
"""

import argparse
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles

import torch

from engine.hub.bundled import bundled_models
from engine.runtime.loader import load_weights
from engine.session.adapter_switcher import AdapterSwitcher
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator

COLUMNS = ("date", "machine", "model", "what", "times", "ms: p50", "p95", "model loads / p50")


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--model", type=Path, metavar="DIR", help="model folder (the bundled one)")
    parser.add_argument("--adapter", type=Path, metavar="DIR", action="append", required=True)
    parser.add_argument("--times", type=int, default=20, metavar="N", help="(%(default)s)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="(%(default)s)")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(arguments.threads)
    directory = arguments.model or bundled_models()[0]
    start = time.perf_counter()
    weights = load_weights(ModelSettings(directory=directory))
    model_s = time.perf_counter() - start
    switcher = AdapterSwitcher(weights)
    loads, switches = [], []
    for folder in arguments.adapter:
        start = time.perf_counter()
        switcher.load(folder)
        loads.append(time.perf_counter() - start)
    names = [None, *switcher.names]
    for number in range(arguments.times):
        start = time.perf_counter()
        say_a_word(Translator(switcher.use(names[number % len(names)]), TranslationSettings()))
        switches.append(time.perf_counter() - start)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|" + "---|" * len(COLUMNS))
    for what, seconds in (("load and probe", loads), ("switch and first word", switches)):
        print(row(what, seconds, weights.card.name, model_s, arguments.threads))


def say_a_word(translator: Translator) -> None:
    """Translate one word in a new utterance."""
    utterance = translator.open()
    translator.set_source(utterance, ["Hello."], ended=True)
    for _ in changes(translator, utterance):
        pass


def row(what: str, seconds: Sequence[float], model: str, model_s: float, n_threads: int) -> str:
    """Draw a row of the table."""
    machine = f"{os.cpu_count()} {platform.machine()} cores, {n_threads} threads"
    most = quantiles(seconds, n=20)[-1] if len(seconds) > 1 else seconds[0]
    values = (
        time.strftime("%Y-%m-%d"), machine, model, what, len(seconds),
        f"{median(seconds) * 1000:.0f}", f"{most * 1000:.0f}", f"{model_s / median(seconds):.1f}",
    )  # fmt: skip
    return "| " + " | ".join(map(str, values)) + " |"


if __name__ == "__main__":
    main()
