"""Bring recordings into a corpus: sound of files, and the aligned pairs that are said in them."""

from pathlib import Path

import av
from tqdm import tqdm

from engine.audio.chunks import Samples
from training.data.aligned_pairs import read_aligned
from training.data.corpus import read_lines, replacing
from training.errors import CorpusError
from training.research.speech.sound_corpus import (
    Line,
    shard_lines,
    shard_path,
    sound_bytes,
    write_table,
)
from training.research.speech.voices import read_wave

_SHARD = 200


def bring_recordings(pairs: Path, files: Path, out: Path) -> int:
    """Write a table, and shards of sound beside it; return the utterances.

    Args:
        pairs: that align wrote.
        files: the name of a file of sound for each pair, in a line each; names that are not
            absolute begin in its folder.
        out: table.

    Raises:
        CorpusError: a file cannot be read, or there are not as many as pairs.
    """
    names = [line.decode(errors="replace") for line in read_lines(files)]
    aligned = list(read_aligned([pairs]))
    if len(names) != len(aligned):
        msg = (
            f"{files} names {len(names)} files for the {len(aligned)} pairs of {pairs}: "
            "name one in each line"
        )
        raise CorpusError(msg)
    lines = list[Line]()
    starts = range(0, len(names), _SHARD)
    for number, start in enumerate(tqdm(starts, desc=out.name, disable=None)):
        shard = f"{out.stem}-{number:04d}"
        sounds = [_sound(files.parent / name) for name in names[start : start + _SHARD]]
        with replacing(shard_path(out, shard)) as fresh:
            fresh.write_bytes(sound_bytes(sounds))
        said = zip(aligned[start : start + _SHARD], sounds, strict=True)
        lines += shard_lines(shard, ((one, len(samples), (), "") for one, samples in said))
    write_table(out, lines)
    return len(lines)


def _sound(path: Path) -> Samples:
    try:
        samples = read_wave(path)
    except (OSError, IndexError, ValueError, av.FFmpegError) as error:
        msg = f"{path} cannot be read as sound ({error}): convert it, or leave its line out"
        raise CorpusError(msg) from error
    if not len(samples):
        msg = f"{path} holds no sound: leave its line out"
        raise CorpusError(msg)
    return samples
