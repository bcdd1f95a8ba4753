"""Model folders: loaded, and asked for a translation."""

import contextlib
import json
import os
import shutil

from engine.errors import SurtitleError
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.factory import make_system
from engine.translation.feed import changes
from tests.fuzz.sentences import check
from tests.support.commands import bare
from tests.support.fakes import save_plain_model, save_tiny_model
from tests.support.strangers import damaged, mutated_file
from training.trainer.export import write_weights

_CODE = """import os, sys
open(os.path.expanduser("~/bait"), "w").write("it ran")
sys.exit("it ran")
"""
_CHANGED = [*["config.json"] * 4, *["surtitle.json"] * 3, "model.safetensors", "tokenizer.json",
            "tokenizer_config.json", "generation_config.json"]  # fmt: skip
_ADDED = ["pytorch_model.bin", "adapter_config.json", "x.jinja", "vocab.json",
          "model.safetensors.index.json", "special_tokens_map.json"]  # fmt: skip
_TEMPLATES = [
    "{{ 1/0 }}", "{{ range(10**9)|list }}", "{{ 'a' * 10**10 }}", "{% for a in range(99999) %}"
    "{% for b in range(99999) %}{% endfor %}{% endfor %}", "(" * 5000, "{% break %}",
    "{{ 'a'.encode('nope') }}", "{{ ''.__class__.__mro__ }}", "{{ messages[0].x.y }}", "",
    "{{ raise_exception('x\\x1b[2J') }}", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{{ 'a'|center(2000000000) }}", "{% include '/etc/passwd' %}", "{{ messages }}",
]  # fmt: skip
_SETTINGS = {
    "num_hidden_layers": [0, 1, 1000, -1, 2**40, "2"],
    "hidden_size": [0, 1, 2**31, 63, None],
    "num_attention_heads": [0, 3, 2**20],
    "num_key_value_heads": [0, 3],
    "vocab_size": [0, 1, 10**9],
    "model_type": ["evil", "gpt2", "mamba", "bert", "qwen3", "", 5],
    "auto_map": [{"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.M"}],
    "quantization_config": [{"quant_method": "gptq"}, {"quant_method": "bitsandbytes"}, 5],
    "sliding_window": ["x", 0, 5],
    "rope_scaling": [{"rope_type": "yarn"}, 5, {"rope_type": "x"}],
    "rope_parameters": [{"rope_type": "yarn"}, 5, {"rope_theta": 0}],
    "num_labels": [10**9],
    "torch_dtype": ["float8", "int7", 5],
    "dtype": ["float8", "int7", 5],
    "tie_word_embeddings": [True, "x"],
    "hidden_act": ["x", 5],
    "pad_token_id": [-1, 10**9, "x"],
    "max_position_embeddings": [0, 1, 10**12],
    "_attn_implementation": ["kernels-community/evil", "x", 5],
}


def _config(rng, content):
    config = json.loads(content)
    for key in rng.sample(sorted(_SETTINGS), rng.randint(1, 2)):
        config[key] = rng.choice(_SETTINGS[key])
    return json.dumps(config).encode()


def _put(path, content):
    """Write a file, whatever stood in its place."""
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    if content is not None:
        path.write_bytes(content)


def _change(rng, folder, contents):
    """Change one file of a folder, or put another one there."""
    name = rng.choice(_CHANGED)
    path, content = folder / name, contents.get(name, b"{}")
    match rng.randrange(16):
        case 0:
            _put(path, None)
            rng.choice([os.mkfifo, os.mkdir, lambda it: it.symlink_to("/dev/zero")])(path)
        case 1:
            other = rng.choice(_ADDED)
            (folder / other).write_bytes(rng.choice([b"{}", b"\x80\x04.", b'{"weight_map": 5}']))
        case 2:
            (folder / "chat_template.jinja").write_text(rng.choice(_TEMPLATES))
            _put(folder / "surtitle.json", None)
        case 3 | 4 | 5 | 6:
            _put(folder / "config.json", _config(rng, contents["config.json"]))
        case 7 | 8 | 9:
            _put(path, damaged(content, rng))
        case 10:
            _put(path, b"[" * 100_000)
        case _:
            _put(path, mutated_file(content, rng))
    (folder / "evil.py").write_text(_CODE)


def load_and_translate(settings, text):
    """Load a model and translate a sentence at once; what refuses them says so in a sentence."""
    try:
        weights = load_weights(settings)
        language = next(iter(weights.card.languages))
        wanted = TranslationSettings(target_language=language, policy="read:2")
        system = make_system("auto", weights, wanted, capacity=400, log=None)
        utterance = system.open()
        utterance.set_source(bare(text.split(), ended=True))
        for _ in changes(utterance):
            pass
    except SurtitleError as error:
        check(error)


@contextlib.contextmanager
def prepared(folder):
    whole, by_torch = save_plain_model(folder / "whole"), save_tiny_model(folder / "by-torch")
    packed = shutil.copytree(whole, folder / "packed")
    write_weights(whole, packed, {}, bits=8)

    def run(rng, folder, allow):
        model = folder / "model"
        shutil.copytree(rng.choice([whole, by_torch, packed]), model)
        contents = {path.name: path.read_bytes() for path in model.iterdir()}
        for _ in range(rng.randint(1, 2)):
            _change(rng, model, contents)
        quantise = rng.choice(["none", "none", "auto"])
        settings = ModelSettings(directory=model, device="cpu", quantise=quantise, capacity=400)
        allow()
        load_and_translate(settings, "This is a test.")

    yield run
