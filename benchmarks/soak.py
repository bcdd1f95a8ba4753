"""Translate eight hours of talk in minutes: does anything grow, lag or drift?

60,000 words are fed one by one to one passage, as a talk without Enter comes. Every so often:

* memory: the resident set of the process; what counts is what it grows by after a tenth of the
  talk, when everything has been used once.
* cache: the rows it holds.
* lag: words come ``--word-s`` apart, the CPU seconds of each are measured, and a queue is computed:
  a word is begun when it is there and the one before is done. CPU seconds, since other work on the
  machine is not what is asked about.
* drift: an utterance that ended, translated once more by a session that was made for it alone, must
  say the same. ``--compare N`` does it with every N-th, at the end.

The talk is our own sentences, drawn anew and half of them put together from two.
"""

import argparse
import json
import platform
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from engine.events import CaptionChanged, Event, FedWord, SourceChanged, UtteranceEnded
from engine.hub.catalogue import bundled_models
from engine.metrics.event_log import EventLog
from engine.models.model_card import read_card
from engine.runtime.loader import load_weights
from engine.settings import LayoutSettings, ModelSettings, TranslationSettings
from engine.translation.conversation import Conversation
from engine.translation.factory import make_system
from engine.translation.feed import changes
from engine.translation.passage import Passage
from engine.translation.targets import Targets

SENTENCES = Path(__file__).with_name("sentences.en")
COLUMNS = (
    "date", "machine", "model", "policy", "words", "utterances", "CPU s", "MiB after warm-up",
    "growth MiB", "most cached rows", "capacity", "lag s: p50", "p95", "max", "compared", "other",
)  # fmt: skip
_CAPACITY = 3072
_SAMPLE_WORDS = 200
_WARM_UP = 0.1  # share of the talk


@dataclass(kw_only=True)
class Soaked:
    """What a talk did to a system.

    Attributes:
        resident: MiB, every ``_SAMPLE_WORDS`` words.
        busy_s: CPU seconds of each word.
        kept: utterances that will be compared: words and caption.
    """

    n_words: int = 0
    n_utterances: int = 0
    most_rows: int = 0
    resident: list[float] = field(default_factory=list)
    busy_s: list[float] = field(default_factory=list)
    kept: list[tuple[tuple[str, ...], str]] = field(default_factory=list)

    @property
    def settled(self) -> float:
        """MiB when everything had been used once."""
        return self.resident[int(_WARM_UP * len(self.resident))]

    @property
    def growth(self) -> float:
        """The most MiB held afterwards, beyond that."""
        return max(self.resident[int(_WARM_UP * len(self.resident)) :]) - self.settled


def talk(n_words: int, *, seed: int = 0) -> Iterator[str]:
    """Draw a talk of at least so many words, to the end of a sentence."""
    rng = random.Random(seed)
    sentences = [line.split() for line in SENTENCES.read_text(encoding="utf-8").splitlines()]
    sentences = [words for words in sentences if words]
    given = 0
    while given < n_words:
        words = rng.choice(sentences)
        if rng.random() < 0.5:
            other = rng.choice(sentences)
            words = words[: len(words) // 2] + other[len(other) // 2 :]
        given += len(words)
        yield from words


def soak(system: Conversation, words: Sequence[str], compare: int) -> Soaked:
    """Feed a talk word by word to one passage and watch."""
    found = Soaked()
    watch = _Watch(found, compare)
    warm_up(system)
    passage = Passage(Targets(system))
    for n, word in enumerate(words):
        start_s = time.process_time()
        watch.see(passage.splice(n, None, [FedWord(word)]))
        watch.see(iter(passage.advance, None))
        found.busy_s.append(time.process_time() - start_s)
        found.n_words += 1
        found.most_rows = max(found.most_rows, system.model.n_rows)
        if n % _SAMPLE_WORDS == 0:
            found.resident.append(resident_mib())
            sys.stderr.write(f"\r{n} words")
    watch.see(passage.finish())
    watch.see(iter(passage.advance, None))
    return found


class _Watch:
    """Keep the words and captions of some utterances, and forget the others."""

    def __init__(self, found: Soaked, compare: int) -> None:
        self._found = found
        self._compare = compare
        self._open: dict[int, tuple[tuple[str, ...], str]] = {}

    def see(self, events: Iterator[Event]) -> None:
        for event in events:
            match event:
                case SourceChanged(utterance=number, words=words):
                    self._open[number] = (_texts(words), self._open.get(number, ((), ""))[1])
                case CaptionChanged(utterance=number, kept=kept, text=text):
                    words, caption = self._open[number]
                    self._open[number] = (words, caption[:kept] + text)
                case UtteranceEnded(utterance=number):
                    ended = self._open.pop(number)
                    self._found.n_utterances += 1
                    if self._found.n_utterances % self._compare == 0:
                        self._found.kept.append(ended)


def _texts(words: Sequence[FedWord]) -> tuple[str, ...]:
    return tuple(word.text for word in words)


def warm_up(system: Conversation) -> None:
    """Translate a word, as a session does when it starts."""
    utterance = system.open()
    utterance.set_source(["Hello."], ended=True)
    for _ in changes(utterance):
        pass


def n_other(kept: Sequence[tuple[tuple[str, ...], str]], make: Callable[[], Conversation]) -> int:
    """Count the utterances of which a session of their own makes another caption."""
    return sum(alone(words, make()) != [caption] for words, caption in kept)


def alone(words: Sequence[str], system: Conversation) -> list[str]:
    """Feed the words of an utterance to a session of their own; list its captions."""
    found = Soaked()
    watch = _Watch(found, 1)
    warm_up(system)
    passage = Passage(Targets(system))
    for n, word in enumerate(words):
        watch.see(passage.splice(n, None, [FedWord(word)]))
        watch.see(iter(passage.advance, None))
    watch.see(passage.finish())
    watch.see(iter(passage.advance, None))
    return [caption for _, caption in found.kept]


def lags_s(busy_s: Sequence[float], word_s: float) -> list[float]:
    """Say how long after its arrival each word is done, where they come so many seconds apart."""
    lags, free_s = [], 0.0
    for n, busy in enumerate(busy_s):
        free_s = max(free_s, n * word_s) + busy
        lags.append(free_s - n * word_s)
    return lags


def resident_mib() -> float:
    """Read the resident set of this process; Linux."""
    n_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return n_pages * 4096 / (1 << 20)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Translate hours of talk and see what grows.")
    parser.add_argument("--model", type=Path, metavar="DIR", help="model folder (the bundled one)")
    parser.add_argument("--to", default="de", metavar="LANG", help="(%(default)s)")
    parser.add_argument("--policy", default="read:3", help="(%(default)s)")
    parser.add_argument("--words", type=int, default=60_000, metavar="N", help="(%(default)s)")
    parser.add_argument("--word-s", type=float, default=0.4, metavar="S", help="(%(default)s)")
    parser.add_argument("--compare", type=int, default=25, metavar="N", help="(%(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    arguments = parser.parse_args(argv)
    if not sys.platform.startswith("linux"):
        sys.exit("soak: the resident set is read from /proc: run it on Linux")
    import torch  # noqa: PLC0415  the window's benchmark takes its talk from here, without torch

    torch.set_num_threads(1)
    directory = arguments.model or bundled_models()[0]
    card = read_card(directory)
    settings = TranslationSettings(
        target_language=arguments.to,
        policy=arguments.policy,
        layout=LayoutSettings(slot_length=card.slot_length),
    )
    weights = load_weights(ModelSettings(directory=directory, device="cpu", quantise="none"))

    def make() -> Conversation:
        return make_system("slots", weights, settings, capacity=_CAPACITY, log=EventLog())

    words = list(talk(arguments.words))
    found = soak(make(), words, arguments.compare)
    lags = lags_s(found.busy_s, arguments.word_s)
    row = {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, 1 thread",
        "model": card.name,
        "policy": arguments.policy,
        "words": found.n_words,
        "utterances": found.n_utterances,
        "CPU s": round(sum(found.busy_s)),
        "MiB after warm-up": round(found.settled, 1),
        "growth MiB": round(found.growth, 1),
        "most cached rows": found.most_rows,
        "capacity": _CAPACITY,
        "lag s: p50": round(float(np.percentile(lags, 50)), 3),
        "p95": round(float(np.percentile(lags, 95)), 3),
        "max": round(max(lags), 3),
        "compared": len(found.kept),
        "other": n_other(found.kept, make),
    }
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    print("| " + " | ".join(str(row[column]) for column in COLUMNS) + " |")
    if arguments.out is not None:
        content = {**row, "resident": found.resident}
        arguments.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
