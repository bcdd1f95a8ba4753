import random

import numpy as np
import onnxruntime
import pytest
import torch

from tests.tiny_streaming.features import N_BINS, log_mel
from tests.tiny_streaming.network import JOINED, Network
from tests.tiny_streaming.train import Example, make_example, pieces, vocabulary
from tests.tiny_streaming.transducer import IGNORED, walk
from tests.tiny_whisper.synthetic_speech import SpokenWord, Utterance, sentence


def test_long_words_are_two_pieces_in_capitals_without_punctuation():
    assert pieces("kitchen.") == ("▁KIT", "CHEN")
    assert pieces("The") == ("▁THE",)


def test_every_sentence_is_spelt_by_the_tokens():
    tokens = vocabulary()
    assert tokens[0] == "<blk>"
    assert len(set(tokens)) == len(tokens)
    for seed in range(50):
        for word in sentence(random.Random(seed)).split():
            assert set(pieces(word)) <= set(tokens)


def test_a_tone_is_loudest_in_the_bin_of_its_pitch():
    seconds = np.arange(16_000) / 16_000
    loudest = [
        int(log_mel(np.sin(2 * np.pi * hertz * seconds).astype(np.float32)).mean(0).argmax())
        for hertz in (200, 1000, 3000)
    ]
    assert loudest == sorted(set(loudest))
    assert log_mel(np.zeros(16_000, np.float32)).shape == (100, N_BINS)


def test_a_piece_may_be_told_from_its_middle_until_a_little_after_its_end():
    word = SpokenWord(text="car", start_s=0.4, end_s=0.8)
    spoken = Utterance(words=(word,), samples=np.zeros(32_000, np.float32))
    example = make_example(spoken, vocabulary())
    assert example.spans == [(15, 27)]


SAID = Example(features=torch.zeros(0), ids=[5, 6, 7], spans=[])


def test_a_search_that_never_slips_is_asked_for_each_piece_once_at_its_place():
    before, told = walk(SAID, [1, 2, 6], 9)
    assert told.tolist() == [0, 5, 6, 0, 0, 0, 7, 0, 0]
    assert before.tolist() == [[0, 0], [0, 0], [0, 5], *[[5, 6]] * 4, [6, 7], [6, 7]]


def test_after_a_slip_the_next_piece_that_was_not_told_is_asked_for_and_none_twice():
    n_late = n_early = n_never = 0
    for seed in range(100):
        before, told = walk(SAID, [2, 8, 14], 20, random.Random(seed))
        never = {5, 6, 7}
        for (_, last), wanted in zip(before.tolist(), told.tolist(), strict=True):
            never -= {last}
            assert wanted in (0, IGNORED) or wanted > last
        places_of_5 = [n for n, wanted in enumerate(told.tolist()) if wanted == 5]
        n_late += places_of_5 == [2, 3]
        n_early += IGNORED in told
        n_never += bool(never)
    assert min(n_late, n_early) > 5
    assert n_never > 0


def test_hearing_chunk_by_chunk_from_the_file_is_hearing_at_once():
    torch.manual_seed(0)
    network = Network(7, -5.0, 3.0).eval()
    features = torch.randn(1, 64, N_BINS)
    at_once = network(features).log_softmax(-1).detach().numpy()
    session = onnxruntime.InferenceSession(network.onnx()["ctc.onnx"])
    first, *states = session.get_inputs()
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
    held = [np.zeros(state.shape, kinds[state.type]) for state in states]
    heard = []
    for at in range(0, 64, 2 * JOINED):
        given = dict(zip([state.name for state in states], held, strict=True))
        given[first.name] = features[:, at : at + 2 * JOINED].numpy()
        scores, *held = session.run(None, given)
        heard.append(scores)
    assert np.concatenate(heard, 1) == pytest.approx(at_once, abs=1e-4)
