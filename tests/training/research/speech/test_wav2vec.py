"""wav2vec 2.0 made block-causal: as the library's where nothing is hidden."""

import json

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from torch.nn import functional
from transformers import Wav2Vec2Config, Wav2Vec2ForCTC, Wav2Vec2Model

from engine.errors import ModelError
from tests.support.direct.encoders import cut, noise
from training.research.speech.wav2vec import encoder as wav2vec_encoder
from training.research.speech.wav2vec.encoder import (
    Wav2VecEncoder,
    Wav2VecShape,
    Wav2VecStream,
)
from training.research.speech.wav2vec.folder import load_wav2vec, save_wav2vec

WIDTH = 24
BASE = {
    "conv_dim": [8] * 7, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 20, "num_conv_pos_embeddings": 12, "num_conv_pos_embedding_groups": 4,
}  # fmt: skip
LARGE = BASE | {"feat_extract_norm": "layer", "do_stable_layer_norm": True, "conv_bias": True}


def library_network(config, kind=Wav2Vec2Model):
    torch.manual_seed(0)
    network = kind(Wav2Vec2Config(**config)).eval()
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if "original0" not in name:
                scale = 0.5 if parameter.ndim > 1 else 0.2
                parameter.copy_(torch.randn_like(parameter) * scale + ("norm.weight" in name))
            else:
                parameter.copy_(torch.rand_like(parameter) + 0.5)
    return network


class NormOfEach(torch.nn.Module):
    """The group norm of a network over the channels of each frame in the place of all frames."""

    def __init__(self, network):
        super().__init__()
        self.norm = network.feature_extractor.conv_layers[0].layer_norm

    def forward(self, x):
        norm = self.norm
        x = functional.layer_norm(x.transpose(1, 2), (8,), norm.weight, norm.bias)
        return x.transpose(1, 2)


def hub_folder(folder, config=BASE, kind=Wav2Vec2Model):
    library_network(config, kind).save_pretrained(folder)
    return folder


def loaded(folder, **blocks):
    """The encoder of a folder, with other blocks, in float64 and with an adapter that matters."""
    path = folder / "config.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["surtitle"] = {"block_frames": 8, "context_frames": 4, "left_blocks": 2} | blocks
    path.write_text(json.dumps(content), encoding="utf-8")
    encoder = load_wav2vec(folder, WIDTH, 7)
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in encoder.named_parameters():
            if not name.startswith("wav2vec2."):
                parameter.copy_(torch.randn_like(parameter) * 0.4)
    return encoder.double().requires_grad_(requires_grad=False).eval()


def in_one_pass(encoder, sounds):
    """Vectors of the blocks of several sounds, a list for each; behind a sound is no silence."""
    size = encoder.card.block_samples
    n_blocks = [-(-len(samples) // size) for samples in sounds]
    heard = np.full((len(sounds), max(n_blocks) * size, 1), 0.3)
    for row, samples, n in zip(heard, sounds, n_blocks, strict=True):
        row[: n * size, 0] = np.pad(samples, (0, n * size - len(samples)))
    with torch.inference_mode():
        vectors = encoder.vectors(encoder(torch.from_numpy(heard), torch.tensor(n_blocks)))
    return [one[:n].numpy() for one, n in zip(vectors, n_blocks, strict=True)]


def one_by_one(encoder, chunks):
    stream = Wav2VecStream(encoder)
    blocks = [block for chunk in chunks for block in stream.feed(chunk)] + stream.flush()
    return np.stack([block.vectors for block in blocks])


def largest_difference(encoder):
    """Between blocks as they come and one masked pass over three sounds side by side."""
    rng = np.random.default_rng(3)
    sounds = [noise(rng, seconds) for seconds in (0.1, 1.5, 1.05)]
    pairs = [
        (one_by_one(encoder, cut(rng, samples)), expected)
        for samples, expected in zip(sounds, in_one_pass(encoder, sounds), strict=True)
    ]
    return max(float(np.abs(found - expected).max()) for found, expected in pairs)


@pytest.mark.parametrize("config", [BASE, LARGE])
def test_a_sound_of_one_block_is_encoded_as_by_the_library(tmp_path, config):
    """But for the group norm, which becomes one of each frame, and silence before the sound."""
    encoder = loaded(hub_folder(tmp_path, config), block_frames=64, context_frames=0)
    network = library_network(config).double()
    if config is BASE:
        network.feature_extractor.conv_layers[0].layer_norm = NormOfEach(network)
    samples = torch.from_numpy(noise(np.random.default_rng(0), 64 * 0.02)).double()
    with torch.inference_mode():
        expected = network(functional.pad(samples, (80, 0))[None]).last_hidden_state
        found = encoder(samples[None, :, None], torch.tensor([1]))[0]
    assert found.std() > 0.1
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)  # weights folded in float32


@pytest.mark.parametrize("config", [BASE, LARGE])
@pytest.mark.parametrize(
    "blocks", [{}, {"context_frames": 0}, {"context_frames": 8}, {"left_blocks": 0}]
)
def test_blocks_of_any_chunks_are_those_of_one_masked_pass(tmp_path, config, blocks):
    encoder = loaded(hub_folder(tmp_path, config), **blocks)
    assert largest_difference(encoder) < 1e-5


@pytest.mark.parametrize("broken", ["mask", "positions", "left"])
def test_the_comparison_of_blocks_and_one_pass_finds_what_is_broken(tmp_path, monkeypatch, broken):
    encoder = loaded(hub_folder(tmp_path))
    if broken == "mask":
        monkeypatch.setattr(
            wav2vec_encoder, "sees", lambda block, _ahead, _left: block[:, None] >= block[None]
        )
    elif broken == "positions":
        encode = Wav2VecStream._encode
        monkeypatch.setattr(
            Wav2VecStream,
            "_encode",
            lambda it, x: (it._before.zero_(), encode(it, x))[1],
        )
    else:
        monkeypatch.setattr(wav2vec_encoder, "sees", lambda b, a, left: SEES(b, a, left + 1))
    assert largest_difference(encoder) > 1e-2


SEES = wav2vec_encoder.sees


def test_a_block_depends_on_what_is_ahead_of_it_and_on_nothing_later(tmp_path):
    encoder = loaded(hub_folder(tmp_path))
    samples = noise(np.random.default_rng(1), 0.64)
    (before,) = in_one_pass(encoder, [samples])
    edge = 8 * 320 + 4 * 320  # the end of what the first block sees
    for changed, same in ((slice(edge, None), True), (slice(edge - 300, edge), False)):
        other = samples.copy()
        other[changed] = 0.5
        (after,) = in_one_pass(encoder, [other])
        assert np.allclose(before[0], after[0], rtol=0, atol=1e-9) == same


def test_what_a_stream_keeps_does_not_grow(tmp_path):
    stream = Wav2VecStream(loaded(hub_folder(tmp_path)))
    rng, sizes = np.random.default_rng(3), set()
    for number in range(20):
        stream.feed(noise(rng, 0.16))
        if number > 5:
            cached = sum(it.numel() for pair in stream._cached for it in pair)
            sizes.add((cached, stream._frames.numel(), stream._before.numel(), len(stream._heard)))
    assert len(sizes) == 1


def test_a_network_with_a_head_of_another_task_is_read_without_it(tmp_path):
    encoder = loaded(hub_folder(tmp_path, LARGE | {"vocab_size": 5}, Wav2Vec2ForCTC))
    assert encoder.words.out_features == 7
    assert largest_difference(encoder) < 1e-5


def test_what_is_written_is_read_again_by_us_and_by_the_library(tmp_path):
    encoder = loaded(hub_folder(tmp_path / "hub")).float()
    save_wav2vec(encoder, tmp_path / "own")
    again = load_wav2vec(tmp_path / "own", WIDTH, 0)
    assert again.card == encoder.card
    for name, tensor in encoder.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], tensor, rtol=1e-6, atol=1e-6)
    network, told = Wav2Vec2Model.from_pretrained(
        tmp_path / "own", trust_remote_code=False, use_safetensors=True, output_loading_info=True
    )
    assert {*told["missing_keys"]} <= {"masked_spec_embed"}
    torch.testing.assert_close(
        network.encoder.pos_conv_embed.conv.weight,
        encoder.attending.pos_conv_embed["conv"].weight,
        rtol=1e-5,
        atol=1e-6,
    )


def test_the_shape_of_the_hubs_base_has_the_tensors_of_the_library():
    with torch.device("meta"):
        encoder = Wav2VecEncoder(Wav2VecShape(), 384)
        network = Wav2Vec2Model(Wav2Vec2Config())
    folded = "encoder.pos_conv_embed.conv."
    expected = {
        f"wav2vec2.{name}": tuple(tensor.shape)
        for name, tensor in network.state_dict().items()
        if "parametrizations" not in name and name != "masked_spec_embed"
    }
    expected[f"wav2vec2.{folded}weight"] = (768, 48, 128)
    found = {
        name: tuple(tensor.shape)
        for name, tensor in encoder.state_dict().items()
        if name.startswith("wav2vec2.")
    }
    assert found == expected
    assert encoder.card.positions == 4
    assert encoder.card.block_samples == 5120
    assert encoder.card.before_samples == 80
    assert 94e6 < sum(map(torch.numel, network.parameters())) < 95e6


def config_says(**changes):
    def change(folder):
        path = folder / "config.json"
        content = json.loads(path.read_text(encoding="utf-8")) | changes
        path.write_text(json.dumps(content), encoding="utf-8")

    return change


def tensors_are(edit):
    def change(folder):
        path = folder / "model.safetensors"
        save_file(edit(load_file(path)), path)

    return change


def first_is(value):
    def edit(tensors):
        tensors["encoder.layer_norm.bias"][0] = value
        return tensors

    return edit


def pickled(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"PK\x03\x04")


def cut_short(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-10])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: (folder / "config.json").unlink(), "config.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors"),
        (pickled, "a pickle"),
        (cut_short, "was cut"),
        (config_says(model_type="hubert"), "'wav2vec2' was expected"),
        (config_says(auto_map={"AutoModel": "own.Own"}), "code"),
        (config_says(hidden_size=10**6), "from 1 to 4096"),
        (config_says(hidden_size=4096, intermediate_size=1 << 15, num_hidden_layers=64), "larger"),
        (config_says(conv_stride=[5, 2, 2, 2, 2, 2, 1]), "frames of 160 samples"),
        (config_says(conv_kernel=[10, 3]), "several lengths"),
        (config_says(hidden_act="relu"), "not supported"),
        (config_says(num_attention_heads=3), "leaves a rest"),
        (config_says(num_hidden_layers=1), "which no network of its config has"),
        (config_says(num_hidden_layers=3), "lacks the tensor"),
        (config_says(intermediate_size=21), "was expected"),
        (config_says(surtitle={"block_frames": 6}), "no multiple"),
        (tensors_are(first_is(np.nan)), "none (NaN) or infinite"),
        (tensors_are(lambda it: {n: t for n, t in it.items() if "original0" not in n}), "lacks"),
    ],
)
def test_a_foreign_or_damaged_folder_is_refused_in_one_sentence(tmp_path, change, said):
    folder = hub_folder(tmp_path / "hub")
    load_wav2vec(folder, WIDTH, 0)
    change(folder)
    with pytest.raises(ModelError) as caught:
        load_wav2vec(folder, WIDTH, 0)
    told = str(caught.value)
    assert said in told
    assert str(folder) in told
    assert "\n" not in told
