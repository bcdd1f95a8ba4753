"""Hear sound by the speech encoder of its standard shape, and translate its blocks, in one run.

The encoder has random weights: what is written means nothing, what it costs does. Noise
is taken as fast as it can be, a third of a second at a time; then some of its blocks are read by
the bundled translator on torch. *Kept* are numbers that the stream holds, for they must not grow.

    python -m benchmarks.listening.straight --minutes 60

With a trained model it hears utterances of a corpus, one after the other, and captions them: sound
comes in pieces of a block, and work on a piece begins when it has come and the one before is done.

    python -m benchmarks.listening.straight --minutes 60 --model runs/joint/model --data test.tsv
"""

import argparse
import datetime as dt
import itertools
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.soak import resident_mib
from engine.hub.bundled import bundled_models
from engine.metrics.event_log import Event, EventLog
from engine.models.speech_card import SpeechCard
from engine.runtime.loader import load_weights
from engine.runtime.sound.block_stream import BlockStream, block_samples
from engine.runtime.sound.encoder import SpeechEncoder
from engine.runtime.weights import Weights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.sound.spoken import SpokenTranslator
from training.evaluation.model_choice import measured_model
from training.research.speech.evaluate_speech import SpeechRunSettings, make_sound_system
from training.research.speech.sound_corpus import read_sound, read_table

_PARTS = 6


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--translated", type=int, default=100, metavar="BLOCKS")
    parser.add_argument("--model", type=Path, help="folder with a trained encoder")
    parser.add_argument("--data", type=Path, metavar="F.tsv", help="table that speech-data wrote")
    parser.add_argument("--policy", default="adaptive:0.3")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if arguments.model is not None:
        caption(arguments.model, arguments.data, arguments.policy, arguments.minutes)
        return
    weights = load_weights(ModelSettings(directory=bundled_models()[0], device="cpu"))
    encoder = SpeechEncoder(SpeechCard(), weights.width).eval().requires_grad_(requires_grad=False)
    stream, rng = BlockStream(encoder), np.random.default_rng(0)
    n_samples = block_samples(encoder.card)
    n_blocks = arguments.minutes * 60 * 16_000 // n_samples
    print(f"{dt.date.today()}, {os.cpu_count()} cores, one thread, torch {torch.__version__}")
    print("| minutes | blocks | ms a block: median | p95 | resident MiB | kept |")
    print("|---|---|---|---|---|---|")
    first = list[NDArray[np.float32]]()
    for part in range(_PARTS):
        cost, n_out = [], 0
        for _ in range(n_blocks // _PARTS):
            sound = (rng.normal(size=n_samples) * 0.1).astype(np.float32)
            before = time.process_time()
            blocks = stream.feed(sound)
            cost.append(1000 * (time.process_time() - before))
            n_out += len(blocks)
            if len(first) < arguments.translated:
                first += [block.vectors for block in blocks]
        minutes = (
            f"{part * arguments.minutes // _PARTS} to {(part + 1) * arguments.minutes // _PARTS}"
        )
        row = f"| {minutes} | {n_out} | {statistics.median(cost):.1f} | {_p95(cost):.1f} | "
        print(row + f"{resident_mib():.1f} | {kept(stream)} |", flush=True)
    translate(weights, first)


def caption(model: Path, data: Path, policy: str, minutes: int) -> None:
    """Hear utterances for so many minutes, and print what each part cost and how late it came."""
    settings = SpeechRunSettings(
        model=model, data=data, language="de", policies=(policy,), out=Path()
    )
    events = list[Event]()
    chosen = measured_model(model, None, "cpu")
    system, size = make_sound_system(settings, chosen, policy, EventLog(events))
    spoken = itertools.cycle([read_sound(data, line) for line in read_table(data)])
    block_s, part_s = size / 16_000, minutes * 60 / _PARTS
    now = done = 0.0  # seconds of sound that came; when all work was done
    print(f"{dt.date.today()}, {os.cpu_count()} cores, one thread, torch {torch.__version__}")
    print("| minutes | pieces | ms a piece: median | p95 | lag s: median | p95 | resident MiB |")
    print("|---|---|---|---|---|---|---|")
    for part in range(_PARTS):
        cost, lag = list[float](), list[float]()
        while now < (part + 1) * part_s:
            sound = next(spoken)
            for first in range(0, len(sound), size):
                now += block_s
                before = time.process_time()
                system.hear(sound[first : first + size], ended=first + size >= len(sound))
                cost.append(time.process_time() - before)
                done = max(done, now) + cost[-1]
                lag.append(done - now)
            events.clear()
        row = f"| {part * minutes // _PARTS} to {(part + 1) * minutes // _PARTS} | {len(cost)} | "
        row += f"{1000 * statistics.median(cost):.1f} | {1000 * _p95(cost):.1f} | "
        row += f"{statistics.median(lag):.3f} | {_p95(lag):.3f} | {resident_mib():.1f} |"
        print(row, flush=True)


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def kept(stream: BlockStream) -> int:
    """Count the numbers that a stream holds."""
    cached = sum(it.numel() for pair in stream._cached for it in pair)
    return cached + stream._frames.numel() + stream._spectrum.size


def translate(weights: Weights, blocks: Sequence[NDArray[np.float32]]) -> None:
    """Translate blocks as they come, and print what each cost."""
    for policy in ("read:3", "adaptive:0.5:9"):
        translator = SpokenTranslator(weights, TranslationSettings(policy=policy), log=EventLog())
        utterance, cost = translator.open(), []
        for block in blocks:
            translator.hear(utterance, [block])
            before = time.process_time()
            list(changes(translator, utterance))
            cost.append(1000 * (time.process_time() - before))
        model = translator.model
        print(
            f"{policy}: ms a block: mean {statistics.mean(cost):.1f}, median "
            f"{statistics.median(cost):.1f}; {model.forwards} forwards, {model.tokens_fed} rows"
        )


if __name__ == "__main__":
    main()
