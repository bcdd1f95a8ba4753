"""When each word of a recording ends, by the words that an encoder hears (forced alignment).

Of all ways to spread the ids of a text over the frames the likeliest is taken (Viterbi over the
states of CTC, Graves et al. 2006); a word ends with the last frame of its last id.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import read_card
from engine.runtime.guarded_loading import load_tokenizer
from engine.text.prompt import word_ids
from training.errors import UsageError
from training.research.speech.folder import load_encoder, open_stream, samples_of_block
from training.research.speech.sound_corpus import Line, read_sound, read_table, write_table

_NEVER = -1e30


def tell_word_times(model: Path, data: Path, out: Path) -> int:
    """Write a table again, with the times of words where it has none; return how many got them.

    Args:
        model: folder with an encoder that writes words.
        data: table of a corpus.
        out: the new table, beside the sound of the old one.

    Raises:
        CorpusError: a file cannot be read or written.
        ModelError: the model cannot be used.
        UsageError: its encoder writes no words, or ``out`` is in another folder.
    """
    if out.resolve().parent != data.resolve().parent:
        msg = f"the new table stands beside the sound of {data}: name a file in its folder"
        raise UsageError(msg)
    lines = read_table(data)
    told = list(_told(model, data, lines))
    write_table(out, told)
    return sum(one != other for one, other in zip(lines, told, strict=True))


def _told(model: Path, data: Path, lines: Iterable[Line]) -> Iterator[Line]:
    torch.set_num_threads(1)
    encoder = load_encoder(model, read_card(model), read_fingerprint(model).hidden_size)
    if encoder.words is None:
        msg = f"the encoder of {model} writes no words: train it by the recipe words"
        raise UsageError(msg)
    tokenizer = load_tokenizer(model)
    frame_ms = 1000 * samples_of_block(encoder) / SAMPLE_RATE_HZ / encoder.card.block_frames
    for line in tqdm(lines, desc="words", disable=None):
        if line.ends_ms:
            yield line
            continue
        stream = open_stream(encoder)
        blocks = stream.feed(read_sound(data, line)) + stream.flush()
        heard = np.concatenate([block.words for block in blocks if block.words is not None])
        words = [word_ids(tokenizer, word) for word in line.source.split()]
        frames = id_ends(heard, [id_ for word in words for id_ in word])
        if frames is None:
            yield line
            continue
        last = np.cumsum([len(word) for word in words]) - 1
        length_ms = 1000 * line.n_samples // SAMPLE_RATE_HZ
        ends = tuple(min(length_ms, round(frames[n] * frame_ms)) for n in last)
        yield replace(line, ends_ms=ends)


def id_ends(logits: NDArray[np.float32], ids: Sequence[int]) -> list[int] | None:
    """Return after how many frames each id has ended, on the likeliest way.

    Args:
        logits: shape (T, V), the last id being the blank.
        ids: at least one.

    Returns:
        None where the frames are too few for the ids.
    """
    likely = logits.astype(np.float64)
    likely = likely - np.logaddexp.reduce(likely, axis=1, keepdims=True)
    blank = logits.shape[1] - 1
    states = np.full(2 * len(ids) + 1, blank)
    states[1::2] = ids
    may_skip = np.zeros(len(states), bool)  # from the id before, over the blank between
    may_skip[3::2] = states[3::2] != states[1:-2:2]
    score = np.full(len(states), _NEVER)
    score[:2] = likely[0, states[:2]]
    came = np.zeros((len(likely), len(states)), np.int64)  # from how many states before
    for frame in range(1, len(likely)):
        one = np.concatenate([[_NEVER], score[:-1]])
        two = np.where(may_skip, np.concatenate([[_NEVER, _NEVER], score[:-2]]), _NEVER)
        ways = np.stack([score, one, two])
        came[frame] = ways.argmax(axis=0)
        score = ways.max(axis=0) + likely[frame, states]
    state = len(states) - 1 - int(score[-2] > score[-1])
    if score[state] <= _NEVER / 2:
        return None
    ends = [0] * len(ids)
    for frame in range(len(likely) - 1, -1, -1):
        if state % 2 and not ends[state // 2]:
            ends[state // 2] = frame + 1
        state -= int(came[frame, state])
    return ends
