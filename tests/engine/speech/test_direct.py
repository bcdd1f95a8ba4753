"""Sound becomes blocks, each once, and one passage for each speech."""

import numpy as np
import pytest
import torch

from engine.audio.chunks import AudioChunk
from engine.errors import ModelError
from engine.runtime.sound import BlockStream
from engine.speech.speech_models import DirectRecognizer, load_direct_model, make_recognizer
from engine.speech.vad import VadSettings, VoiceActivityDetector
from tests.support.direct.encoders import cut, save_speech_encoder, tiny_encoder
from tests.support.fakes import save_tiny_model
from tests.support.listening_fakes import Loudness


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("direct"))
    save_speech_encoder(folder, tiny_encoder(torch.float32))
    return load_direct_model(folder)


def talk(rng):
    """Two speeches, and silence around each."""
    speech = [rng.uniform(0.3, 0.9, n).astype(np.float32) for n in (25_000, 40_000)]
    silence = np.zeros(20_000, np.float32)
    return np.concatenate([silence, speech[0], silence, speech[1], silence])


def heard(model, chunks):
    recognizer = make_recognizer(model, Loudness())
    assert isinstance(recognizer, DirectRecognizer)
    results, at_s = [], 0.0
    for samples in chunks:
        if len(samples):
            results += recognizer.feed(AudioChunk(samples=samples, start_s=at_s))
            at_s += len(samples) / 16_000
    return results + recognizer.flush()


def speeches(results):
    """The blocks of each speech."""
    found = [[]]
    for result in results:
        found[-1] += result.committed
        if result.speech_ended:
            found.append([])
    assert not found.pop()
    return found


def test_blocks_of_each_speech_are_those_of_a_stream_of_its_own(model):
    rng = np.random.default_rng(0)
    samples = talk(rng)
    found = speeches(heard(model, cut(rng, samples)))
    gate, parts = VoiceActivityDetector(Loudness(), VadSettings()), []
    parts = gate.feed(AudioChunk(samples=samples, start_s=0.0)) + gate.flush()
    starts = [n for n, part in enumerate(parts) if part.begins]
    assert len(found) == len(starts) == 2
    for words, first, stop in zip(found, starts, [*starts[1:], len(parts)], strict=True):
        speech = np.concatenate([part.samples for part in parts[first:stop]])
        stream = BlockStream(tiny_encoder(torch.float32))
        expected = stream.feed(speech) + stream.flush()
        assert len(words) == len(expected) > 4
        for word, block in zip(words, expected, strict=True):
            np.testing.assert_allclose(word.vectors, block.vectors, rtol=0, atol=1e-5)


def test_a_block_has_its_time_and_no_text(model):
    words = speeches(heard(model, [talk(np.random.default_rng(1))]))[0]
    assert {word.text for word in words} == {""}
    starts = [word.start_s for word in words]
    assert 0.9 < starts[0] < 1.25
    assert np.diff(starts) == pytest.approx([0.32] * (len(words) - 1))
    assert words[-1].end_s - words[-1].start_s == pytest.approx(0.32)


def test_a_folder_that_reads_text_alone_is_refused(tmp_path):
    with pytest.raises(ModelError, match="reads text alone"):
        load_direct_model(save_tiny_model(tmp_path))
