"""Encoding block by block equals one pass under the mask; no block is computed twice."""

import numpy as np
import pytest
import torch

from engine.runtime.sound import BlockStream, LogMel, block_samples
from tests.support.direct.encoders import cut, noise, tiny_encoder

SHAPES = [
    {},
    {"context_frames": 0},
    {"context_frames": 8},
    {"left_blocks": 0},
    {"left_blocks": 1, "layers": 3},
    {"block_frames": 16, "context_frames": 8, "left_blocks": 3},
]


def padded(encoder, samples):
    """Fill up the last block with silence."""
    return np.pad(samples, (0, -len(samples) % block_samples(encoder.card)))


def in_one_pass(encoder, sounds):
    """The blocks of several sounds under the mask, a list for each."""
    sounds = [padded(encoder, samples) for samples in sounds]
    n_blocks = [len(samples) // block_samples(encoder.card) for samples in sounds]
    longest = max(map(len, sounds))
    mel = [LogMel().feed(np.pad(it, (0, longest - len(it)), constant_values=0.3)) for it in sounds]
    with torch.inference_mode():
        encoded = encoder(torch.from_numpy(np.stack(mel)).to(encoder.mean), torch.tensor(n_blocks))
        vectors = encoder.vectors(encoded)
    return [one[:n].numpy() for one, n in zip(vectors, n_blocks, strict=True)]


def one_by_one(encoder, chunks):
    stream = BlockStream(encoder)
    blocks = [block for chunk in chunks for block in stream.feed(chunk)] + stream.flush()
    return np.stack([block.vectors for block in blocks])


@pytest.mark.parametrize("shape", SHAPES)
def test_blocks_of_any_chunks_are_those_of_one_masked_pass(shape):
    encoder = tiny_encoder(**shape)
    n_compared = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        sounds = [noise(rng, rng.uniform(0.1, 4)) for _ in range(3)]
        for samples, expected in zip(sounds, in_one_pass(encoder, sounds), strict=True):
            found = one_by_one(encoder, cut(rng, samples))
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
            assert found.shape[1] == encoder.card.positions
            n_compared += len(found)
    assert n_compared > 60


def test_a_block_comes_when_what_is_ahead_of_it_was_heard():
    encoder = tiny_encoder()
    stream, block, ahead = BlockStream(encoder), block_samples(encoder.card), 4 * 640
    came = []
    for n_heard in range(640, 4 * block + 1, 640):
        came += [n_heard] * len(stream.feed(np.full(640, 0.1, np.float32)))
    assert came == [n * block + ahead for n in (1, 2, 3)]
    assert len(stream.flush()) == 1


def test_a_block_depends_on_what_is_ahead_of_it_and_on_nothing_later():
    encoder = tiny_encoder()
    samples = noise(np.random.default_rng(1), 1.28)
    (before,) = in_one_pass(encoder, [samples])
    edge = 5120 + 2560  # the end of what the first block sees
    for changed, same in ((slice(edge, None), True), (slice(edge - 400, edge), False)):
        other = samples.copy()
        other[changed] = 0.5
        (after,) = in_one_pass(encoder, [other])
        assert np.allclose(before[0], after[0], rtol=0, atol=1e-9) == same


def test_a_block_sees_so_many_blocks_before_it_and_no_more():
    encoder = tiny_encoder(left_blocks=1, layers=1, context_frames=0)
    samples = noise(np.random.default_rng(2), 1.6)
    (before,) = in_one_pass(encoder, [samples])
    samples[:4000] = 0.2  # within the first block, beyond the sight of the convolutions of others
    (after,) = in_one_pass(encoder, [samples])
    near = [bool(np.allclose(a, b, rtol=0, atol=1e-9)) for a, b in zip(before, after, strict=True)]
    assert near == [False, False, True, True, True]


def test_each_block_is_computed_once(monkeypatch):
    encoder, rows, rng = tiny_encoder(), [], np.random.default_rng(5)
    layer = type(encoder.stack[0])
    project = layer.project
    monkeypatch.setattr(layer, "project", lambda it, x: rows.append(x.shape[1]) or project(it, x))
    assert len(one_by_one(encoder, cut(rng, noise(rng, 3.0)))) == 10
    assert rows == [12] * 2 * 9 + [8] * 2  # own and ahead; nothing is ahead of the last


def test_own_words_come_with_each_frame_where_there_are_any():
    encoder = tiny_encoder(vocabulary=11)
    block = BlockStream(encoder).feed(noise(np.random.default_rng(6), 0.5))[0]
    assert block.words.shape == (8, 11)
    assert BlockStream(tiny_encoder()).feed(noise(np.random.default_rng(6), 0.5))[0].words is None
