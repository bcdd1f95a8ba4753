"""Test networks as they are described for CTranslate2, against its own converter on torch."""

import json
import shutil
import struct

import numpy as np
import pytest
import torch
from ctranslate2.converters import TransformersConverter
from safetensors.torch import load_file, save_file

from engine.models.encoder_decoder.original import read_original
from engine.models.encoder_decoder.record import END, PADDING, START, UNKNOWN
from engine.runtime.ctranslate2 import network_spec
from engine.runtime.ctranslate2.network_spec import describe
from tests.engine.runtime.ctranslate2.tiny_models import FAMILIES, make_encoder_decoder

FILES = ("config.json", "shared_vocabulary.json")


class Vocabulary:
    """What their converter reads of a tokenizer."""

    bos_token, eos_token, unk_token, pad_token = START, END, UNKNOWN, PADDING
    special_tokens_map = {}  # noqa: RUF012

    def __init__(self, tokens):
        self.tokens = tokens
        self.unk_token_id = tokens.index(UNKNOWN)

    def get_vocab(self):
        return {token: id_ for id_, token in enumerate(self.tokens)}

    def convert_ids_to_tokens(self, id_):
        return self.tokens[id_]


class TheirConverter(TransformersConverter):
    def __init__(self, folder):
        super().__init__(str(folder))
        self._tokens = read_original(folder).vocabulary

    def load_model(self, model_class, folder, **options):
        network = model_class.from_pretrained(folder, local_files_only=True, **options)
        if hasattr(network.config, "scale_decoder_outputs"):
            # transformers 5 ties the embeddings of every T5, by which outputs are scaled here
            network.config.tie_word_embeddings = network.config.scale_decoder_outputs
        return network

    def load_tokenizer(self, *_, **__):
        return Vocabulary(self._tokens)


def written(folder, out, precision):
    """Convert a folder, as the process of a conversion does."""
    spec = describe(folder, read_original(folder))
    spec.optimize(quantization=precision)
    out.mkdir()
    spec.save(str(out))
    return variables(out / "model.bin")


def variables(path):
    """Return the variables of a file of CTranslate2, and which of them have another name."""
    with path.open("rb") as file:

        def take(format_):
            return struct.unpack(f"<{format_}", file.read(struct.calcsize(f"<{format_}")))

        def name():
            return file.read(take("H")[0]).rstrip(b"\0").decode()

        take("I")
        head = [name(), take("I")]
        found = {}
        for _ in range(take("I")[0]):
            key = name()
            shape = take(f"{take('B')[0]}I")
            kind, n_bytes = take("BI")
            stored = np.frombuffer(file.read(n_bytes), ["<f4", "i1", "<i2", "<i4", "<f2"][kind])
            found[key] = stored.reshape(shape)
        return found, [head, *((name(), name()) for _ in range(take("I")[0]))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "precision"), [*((one, "float16") for one in FAMILIES), ("marian", "int8")]
)
def test_the_same_is_written_as_by_the_converter_of_ctranslate2(
    originals, tmp_path, family, precision
):
    TheirConverter(originals[family]).convert(str(tmp_path / "theirs"), quantization=precision)
    theirs, their_names = variables(tmp_path / "theirs" / "model.bin")
    ours, our_names = written(originals[family], tmp_path / "ours", precision)
    assert (our_names, ours.keys()) == (their_names, theirs.keys())
    for name, wanted in theirs.items():
        assert (ours[name].dtype, ours[name].shape) == (wanted.dtype, wanted.shape)
        # they compute places in float32
        error = 1e-5 if name.endswith("encodings") else 0
        np.testing.assert_allclose(ours[name], wanted, rtol=0, atol=error, err_msg=name)
    for name in FILES:
        content = (tmp_path / "ours" / name).read_text()
        assert content == (tmp_path / "theirs" / name).read_text()


def described(folder):
    return {
        name: variable if isinstance(variable, str) else np.array(variable.numpy())
        for name, variable in describe(folder, read_original(folder)).variables().items()
    }


def change_tensors(folder, change):
    """Let ``change`` return the new tensors of a folder."""
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, {"format": "pt"})


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_numbers_of_every_size_are_the_same_network(original, dtype):
    bits = torch.bfloat16 if dtype is torch.bfloat16 else torch.float16
    change_tensors(original, lambda all_: {key: one.to(bits).float() for key, one in all_.items()})
    whole = described(original)
    change_tensors(original, lambda all_: {key: one.to(dtype) for key, one in all_.items()})
    for name, found in described(original).items():
        np.testing.assert_array_equal(found, whole[name], err_msg=name)


@pytest.mark.parametrize("name", ["lm_head", "model.encoder.embed_tokens"])
def test_tied_embeddings_may_have_any_of_their_names(original, name):
    whole = described(original)
    change_tensors(
        original, lambda all_: {key.replace("model.shared", name): one for key, one in all_.items()}
    )
    for key, found in described(original).items():
        np.testing.assert_array_equal(found, whole[key], err_msg=key)


def test_outputs_may_have_a_bias_and_weights_of_their_own(original):
    def add(tensors):
        n_rows, width = tensors["model.shared.weight"].shape
        own = {"lm_head.weight": torch.randn(n_rows, width)}
        return {**tensors, **own, "final_logits_bias": torch.arange(n_rows).float()[None]}

    change_tensors(original, add)
    found = described(original)
    n_tokens = len(read_original(original).vocabulary) - 1  # without the padding
    assert found["decoder/projection/bias"].tolist() == [*range(n_tokens)]
    theirs = load_file(original / "model.safetensors")["lm_head.weight"]
    np.testing.assert_array_equal(found["decoder/projection/weight"], theirs[:n_tokens])
    assert not np.array_equal(found["decoder/embeddings/weight"], theirs[:n_tokens])


@pytest.mark.parametrize(
    ("family", "change", "said"),
    [
        ("marian", {"d_model": 32}, "its weights have .* in another shape than its config.json"),
        ("m2m100", {"vocab_size": 7}, "its weights have .* in another shape than its config.json"),
        ("marian", {"encoder_layers": 2}, "its weights lack .encoder.layers.1.self_attn.q_proj"),
        ("marian", {"encoder_ffn_dim": 31}, "its weights have .encoder.layers.0.fc1.weight. in"),
        ("marian", {"decoder_layers": 0}, "config.json 'decoder_layers' should be a whole number"),
        ("marian", {"decoder_attention_heads": 3}, "heads should be a divisor of 16, got 3"),
        (
            "marian",
            {"activation_function": "tanh"},
            "activation_function should be gelu, .* 'tanh'",
        ),
        ("marian", {"scale_embedding": 1}, "'scale_embedding' should be true or false, got 1"),
        ("m2m100", {"decoder_start_token_id": 10_000}, "'decoder_start_token_id' should be"),
        ("madlad", {"d_kv": 9}, "its weights have .* in another shape than its config.json"),
        ("madlad", {"num_heads": None}, "config.json 'num_heads' should be a whole number"),
        ("madlad", {"relative_attention_num_buckets": 8}, "its weights have .*relative_attention"),
        ("madlad", {"feed_forward_proj": "relu"}, "feed_forward_proj should be gated-gelu"),
    ],
)
def test_settings_that_do_not_fit_the_weights_are_one_clause(
    originals, tmp_path, family, change, said
):
    folder = shutil.copytree(originals[family], tmp_path / family)
    original = read_original(folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(ValueError, match=said):
        describe(folder, original)


def test_weights_that_are_whole_numbers_are_refused(original):
    change_tensors(original, lambda all_: {key: one.int() for key, one in all_.items()})
    with pytest.raises(
        ValueError, match=r"detail: safetensors gives the tensor .* the unknown type I32"
    ):
        describe(original, read_original(original))


def test_places_that_no_weights_stand_for_are_bounded(original, monkeypatch):
    monkeypatch.setattr(network_spec, "_MOST_TABLE_BYTES", 0)
    config = json.loads((original / "config.json").read_text())
    (original / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 65536}))
    with pytest.raises(ValueError, match="asks for a larger network than it has weights for"):
        describe(original, read_original(original))


def test_padding_that_is_not_the_last_token_stays(tmp_path):
    folder = make_encoder_decoder(tmp_path / "marian", "marian")
    tokens = json.loads((folder / "vocab.json").read_text())
    last = len(tokens) - 1
    names = {id_: token for token, id_ in tokens.items()}
    tokens |= {PADDING: 2, names[2]: last}
    (folder / "vocab.json").write_text(json.dumps(tokens))
    assert describe(folder, read_original(folder)).get_target_vocabulary_size() == last + 1
