"""Recordings of people with what they say, where they lie beside this folder; else none."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from engine.audio.chunks import Samples
from engine.audio.file_source import Decoder

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "speech"

needs_recordings = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs recordings of people")


@dataclass(frozen=True, kw_only=True)
class Recording:
    path: Path
    text: str
    samples: Samples


@cache
def recordings():
    lines = (FOLDER / "transcripts.tsv").read_text("utf-8").splitlines()[1:]
    named = [(FOLDER / name, text) for name, _, text in (line.partition("\t") for line in lines)]
    return tuple(Recording(path=path, text=text, samples=samples_of(path)) for path, text in named)


def samples_of(path):
    """Return the whole sound of a file, 16 kHz mono."""
    decoder = Decoder(path)
    samples = np.concatenate([chunk.samples for chunk in decoder.chunks])
    decoder.close()
    return samples
