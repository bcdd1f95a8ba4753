"""Utterances become tensors: spectra, words, and the rows of their translations."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from engine.audio.chunks import Samples
from engine.layout.rows import Places
from engine.runtime.sound.encoder import SpeechEncoder
from engine.runtime.sound.log_mel import Frames, LogMel
from training.research.speech.folder import Hearing, samples_of_block
from training.research.speech.utterances import NOT_ASKED
from training.trainer.samples.batches import Batch, Example, pad


@dataclass(frozen=True, slots=True)
class Sample:
    """An utterance that is computed.

    Attributes:
        mel: its spectrum, whole blocks; for wav2vec 2.0 its samples, shape (T, 1).
        n_blocks: of its sound.
        words: ids of what is said.
        offline: rows of a whole translation; None where no loss asks for it.
        live: rows of one in parts; None where no loss asks for it, or no schedule is known.
        decided: what is decided after each row of ``live``.
    """

    mel: Frames
    n_blocks: int
    words: tuple[int, ...]
    offline: Example | None
    live: Example | None
    decided: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SpokenBatch(Batch):
    """Several utterances; the rows are those of their translations, one translation a line.

    Attributes:
        mel: float32, shape (U, T, 80), or (U, T, 1) for samples; padded.
        n_blocks: int64, shape (U,).
        words: int64, shape (U, W); padded.
        n_words: int64, shape (U,).
        owner: of each line, its utterance, int64, shape (B,).
        live: whether a line is a translation in parts, bool, shape (B,).
        decided: int64, shape (B, T).
    """

    mel: Tensor
    n_blocks: Tensor
    words: Tensor
    n_words: Tensor
    owner: Tensor
    live: Tensor
    decided: Tensor


def spectrum(samples: Samples, block_samples: int) -> Frames:
    """Return the spectrum of a speech that is filled up with silence, as a stream does."""
    missing = -len(samples) % block_samples
    return LogMel().feed(np.concatenate([samples, np.zeros(missing, np.float32)]))


def heard(encoder: Hearing, samples: Samples) -> Frames:
    """Return what an encoder hears of a speech, whole blocks: its spectrum, or its samples."""
    size = samples_of_block(encoder)
    if isinstance(encoder, SpeechEncoder):
        return spectrum(samples, size)
    return np.pad(samples, (0, -len(samples) % size))[:, None]


def batch_of(samples: Sequence[Sample]) -> SpokenBatch:
    """Make a batch; it has no rows where no translation is asked for."""
    lines = [
        (index, example, is_live)
        for index, one in enumerate(samples)
        for example, is_live in ((one.offline, False), (one.live, True))
        if example is not None
    ]
    rows = pad([example for _, example, _ in lines]) if lines else _no_rows()
    decided = torch.full(rows.ids.shape, NOT_ASKED)
    for number, (index, _, is_live) in enumerate(lines):
        if is_live:
            own = samples[index].decided
            decided[number, : len(own)] = torch.tensor(own)
    mel = torch.zeros(len(samples), max(len(one.mel) for one in samples), samples[0].mel.shape[1])
    words = torch.zeros(
        len(samples), max(1, *(len(one.words) for one in samples)), dtype=torch.long
    )
    for index, one in enumerate(samples):
        mel[index, : len(one.mel)] = torch.from_numpy(one.mel)
        words[index, : len(one.words)] = torch.tensor(one.words)
    return SpokenBatch(
        ids=rows.ids,
        places=rows.places,
        labels=rows.labels,
        ends_writes=rows.ends_writes,
        documents=rows.documents,
        advantages=rows.advantages,
        mel=mel,
        n_blocks=torch.tensor([one.n_blocks for one in samples]),
        words=words,
        n_words=torch.tensor([len(one.words) for one in samples]),
        owner=torch.tensor([index for index, *_ in lines], dtype=torch.long),
        live=torch.tensor([is_live for *_, is_live in lines], dtype=torch.bool),
        decided=decided,
    )


def _no_rows() -> Batch:
    none = torch.zeros(0, 0, dtype=torch.long)
    return Batch(none, Places(none, none, none), none, none.bool(), None, none.float())
