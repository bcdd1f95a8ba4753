"""Let synthetic voices say the sources of aligned pairs, in rooms: a corpus for training.

Everything is drawn by the seed and the number of an utterance. A shard is said by a process of its
own, since engines carry a little state from one text to the next; so the result does not depend on
the number of processes, and a run that was stopped goes on at its next shard.
"""

import json
import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.settings import at_least
from training.data.aligned_pairs import AlignedPair, read_aligned
from training.data.corpus import replacing, write_lines
from training.errors import CorpusError, UsageError
from training.evaluation.run_record import readable_sha256
from training.research.speech.rooms import draw_room, hear_in
from training.research.speech.sound_corpus import (
    Line,
    SaidPair,
    read_table,
    shard_lines,
    shard_path,
    sound_bytes,
    write_table,
)
from training.research.speech.voices import Request, Speech, known_voices, say_all

SPLITS = ("train", "dev", "test")
_RECORD = "corpus.json"
_SPEEDS, _PITCHES = (0.85, 1.2), (0.7, 1.3)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechDataSettings:
    """A corpus to be said.

    Attributes:
        pairs: aligned pairs.
        out: folder.
        engines: of voices.
        held_back: voices, as a pattern like ``flite/*``, that say the test utterances, and nothing
            else.
        n_train, n_dev, n_test: utterances; a sentence is in one of the three alone. Training and
            development have the same voices.
        max_words: of a source.
        takes: times that each training sentence is said, by different voices in different rooms.
        shard: utterances in a shard.
        workers: processes.
    """

    pairs: Path
    out: Path
    engines: tuple[str, ...]
    held_back: str
    n_train: int
    n_dev: int
    n_test: int
    max_words: int = 14
    takes: int = 1
    shard: int = 200
    workers: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        for name in ("n_train", "n_test", "max_words", "takes", "shard", "workers"):
            at_least(name, getattr(self, name), 1)
        at_least("n_dev", self.n_dev, 0)


@dataclass(frozen=True, slots=True)
class _Utterance:
    """One to be said."""

    pair: AlignedPair
    request: Request
    seed: str


def make_speech_data(settings: SpeechDataSettings) -> dict[str, int]:
    """Write the tables and shards of a corpus; return the utterances of each split.

    Raises:
        CorpusError: there are too few pairs, or a file cannot be read or written.
        TrainingError: an engine is missing or fails.
        UsageError: no voice is held back, or all are.
    """
    voices = known_voices(settings.engines)
    unheard = [voice for voice in voices if fnmatchcase(voice, settings.held_back)]
    heard = [voice for voice in voices if voice not in unheard]
    if not (heard and unheard):
        msg = f"{settings.held_back!r} is to hold back some of the voices, not none or all: "
        raise UsageError(msg + ", ".join(voices))
    _claim(settings, voices)
    chosen = _chosen(settings)
    n_dev, n_test = settings.n_dev, settings.n_test
    parts = {
        "test": chosen[:n_test],
        "dev": chosen[n_test : n_test + n_dev],
        "train": chosen[n_test + n_dev :] * settings.takes,
    }
    counts = dict[str, int]()
    for split in SPLITS:
        own = unheard if split == "test" else heard
        planned = [
            _planned(pair, own, f"{settings.seed} {split} {number}")
            for number, pair in enumerate(parts[split])
        ]
        if planned:
            counts[split] = len(_say(settings, split, planned))
    return counts


def _claim(settings: SpeechDataSettings, voices: Sequence[str]) -> None:
    """Write what decides a corpus into its folder, or check that the folder holds this very one."""
    path = settings.out / _RECORD
    own = {
        name: value
        for name, value in asdict(settings).items()
        if name not in {"pairs", "out", "workers"}
    }
    own |= {"voices": voices, "pairs_sha256": readable_sha256(settings.pairs)}
    text = json.dumps(own)
    try:
        known = path.read_text(encoding="utf-8").strip() if path.exists() else None
    except (OSError, ValueError) as error:
        msg = f"{path} cannot be read ({error}): choose another folder"
        raise CorpusError(msg) from error
    if known is None:
        write_lines(path, [text])
    elif known != text:
        msg = f"{settings.out} holds a corpus of other settings, pairs or voices: choose another"
        raise UsageError(msg)


def _chosen(settings: SpeechDataSettings) -> list[AlignedPair]:
    """Choose pairs at random, each source once."""
    short = dict[str, AlignedPair]()
    for one in read_aligned([settings.pairs]):
        if 1 <= len(one.pair.source.split()) <= settings.max_words:
            short.setdefault(one.pair.source, one)
    rng = random.Random(f"{settings.seed} pairs")
    n_wanted = settings.n_train + settings.n_dev + settings.n_test
    if len(short) < n_wanted:
        msg = (
            f"{settings.pairs} has {len(short)} different sources of up to {settings.max_words} "
            f"words, and {n_wanted} are needed: ask for fewer, or name a larger file"
        )
        raise CorpusError(msg)
    return rng.sample(list(short.values()), n_wanted)


def _planned(pair: AlignedPair, voices: Sequence[str], seed: str) -> _Utterance:
    rng = random.Random(seed)
    engine = rng.choice(sorted({voice.partition("/")[0] for voice in voices}))  # each as often
    request = Request(
        text=pair.pair.source,
        voice=rng.choice([voice for voice in voices if voice.startswith(f"{engine}/")]),
        speed=rng.uniform(*_SPEEDS),
        pitch=rng.uniform(*_PITCHES),
    )
    return _Utterance(pair, request, f"{seed} room")


def _say(settings: SpeechDataSettings, split: str, planned: Sequence[_Utterance]) -> list[Line]:
    """Synthesise a split shard by shard, each in a process of its own, and write its table."""
    table = settings.out / f"{split}.tsv"
    shards = {
        f"{split}-{start // settings.shard:04d}": planned[start : start + settings.shard]
        for start in range(0, len(planned), settings.shard)
    }
    parts = {name: settings.out / f"{name}.part.tsv" for name in shards}
    missing = [name for name, part in parts.items() if not part.exists()]
    with (
        ProcessPoolExecutor(
            settings.workers, get_context("spawn"), max_tasks_per_child=1
        ) as processes,
        tqdm(
            total=len(shards), initial=len(shards) - len(missing), desc=split, disable=None
        ) as bar,
    ):
        jobs = [processes.submit(_say_shard, parts[name], name, shards[name]) for name in missing]
        for job in jobs:
            job.result()
            bar.update()
    lines = [line for part in parts.values() for line in read_table(part)]
    write_table(table, lines)
    return lines


def _say_shard(part: Path, name: str, utterances: Sequence[_Utterance]) -> None:
    """Write a shard, then its part of the table: where the part is, the shard is whole."""
    speeches = [
        hear_in(draw_room(random.Random(one.seed)), speech)
        for one, speech in zip(
            utterances, say_all([one.request for one in utterances]), strict=True
        )
    ]
    with replacing(shard_path(part, name)) as fresh:
        fresh.write_bytes(sound_bytes([speech.samples for speech in speeches]))
    write_table(part, shard_lines(name, map(_said, utterances, speeches)))


def _said(one: _Utterance, speech: Speech) -> SaidPair:
    """Return what the table has of an utterance; no word ends after its sound."""
    last_ms = 1000 * len(speech.samples) // SAMPLE_RATE_HZ
    ends = tuple(min(last_ms, round(1000 * end_s)) for end_s in speech.ends_s or ())
    return one.pair, len(speech.samples), ends, one.request.voice
