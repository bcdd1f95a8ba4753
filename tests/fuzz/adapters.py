"""Adapter folders: judged, described, added, loaded."""

import contextlib
import json
import os
import shutil

from app.captions.adapter_details import rows
from engine.errors import AdapterError
from engine.models.adapters.adapter import Status, inspect_adapter, usable_adapter, verify_adapter
from engine.models.adapters.library import AdapterLibrary
from engine.models.fingerprint import read_fingerprint
from engine.runtime.loader import load_weights
from engine.session.loaded_model import AdapterSwitcher
from engine.settings import ModelSettings
from engine.untrusted.faults import Fault
from tests.fuzz.sentences import check, text
from tests.support.adapter_folders import BASE, tiny_card, write_adapter
from tests.support.fakes import save_tiny_model
from tests.support.strangers import damaged, mutated_file

_CARD, _CONFIG, _WEIGHTS = "surtitle.json", "adapter_config.json", "adapter_model.safetensors"
_NAMES = [None, "mine", "../x", "a/b", "nul", ".x", "x" * 65, ""]


def _header(rng):
    """A header of many names, none of which has data."""
    n_modules, layers = rng.choice([1, 40, 3000, 4000]), [0, rng.choice([1, 1023, 9999])]
    stem = rng.choice(["model.layers", "a.b", "h"])
    modules = [f"{'a.' * rng.choice([0, 0, 60])}m{number}" for number in range(n_modules)]
    if rng.random() < 0.3:
        modules = ["self_attn.q_proj", "self_attn.v_proj"]
    entry = {"dtype": "F32", "shape": [2, 0], "data_offsets": [0, 0]}
    names = [
        f"base_model.model.{stem}.{layer}.{module}.lora_{factor}.weight"
        for layer in layers
        for module in modules
        for factor in "AB"
        if rng.random() < 0.99
    ]
    header = json.dumps(dict.fromkeys(names, entry)).encode()
    targets = rng.choice([["m0"], modules, [f"9999.{module}" for module in modules], ["q_proj"]])
    return len(header).to_bytes(8, "little") + header, targets


def _change(rng, folder, contents):
    """Change some of the files of a folder."""
    for _ in range(rng.randint(0, 2)):
        name = rng.choice(sorted(contents))
        path = folder / name
        match rng.randrange(14):
            case 0:
                path.unlink(missing_ok=True)
                rng.choice([os.mkfifo, os.mkdir, lambda it: it.symlink_to("/etc/hostname")])(path)
                return
            case 1:
                content, targets = _header(rng)
                config = json.loads(contents[_CONFIG]) | {"target_modules": targets}
                (folder / _WEIGHTS).write_bytes(content)
                (folder / _CONFIG).write_text(json.dumps(config))
                return
            case 2:
                other = rng.choice(["adapter_model.bin", "adapter_model.\x1b.pt", "README.md", "x"])
                (folder / other).write_bytes(b"\x80\x04.")
            case 3:
                deep = b'{"a": ' + b"[" * rng.randint(1, 300_000)
                path.write_bytes(rng.choice([deep, rng.randbytes(rng.randint(0, 200))]))
            case 4:
                path.write_bytes(b"\x80\x02cos\nsystem\n(S'true'\ntR.")
            case 5 | 6 | 7:
                path.write_bytes(damaged(contents[name], rng))
            case _:
                path.write_bytes(mutated_file(contents[name], rng))


@contextlib.contextmanager
def prepared(folder):
    saved = save_tiny_model(folder / "base")
    tiny = read_fingerprint(saved)
    switcher = AdapterSwitcher(load_weights(ModelSettings(directory=saved, device="cpu")))
    wholes = [
        write_adapter(folder / "tiny", tiny, card=tiny_card(tiny)),
        write_adapter(folder / "stranger", tiny, card=False),
    ]
    contents = [{path.name: path.read_bytes() for path in whole.iterdir()} for whole in wholes]

    def run(rng, folder, allow):
        whole = rng.choice(contents)
        adapter = folder / rng.choice(["adapter", "odd name", "x" * 80])
        adapter.mkdir()
        for name, content in whole.items():
            (adapter / name).write_bytes(content)
        _change(rng, adapter, whole)
        base, home = rng.choice([tiny, tiny, BASE, None]), folder / "library"
        library, name = AdapterLibrary(home), rng.choice(_NAMES) or text(rng) or None
        allow(home)
        found = inspect_adapter(adapter, base)
        check("ok" if found.status is Status.OK else str(found.reason))
        assert found.reason is None or isinstance(found.reason.code, Fault)
        assert all(len(str(value)) < 20_000 for _, value in rows(found))
        with _refusals():
            usable = usable_adapter(adapter, base)
            assert found.status is not Status.BLOCKED
            assert usable == found
            verify_adapter(usable)
        with _refusals():
            added = library.add(adapter, name=name, replace=rng.random() < 0.5)
            assert added.folder.parent == home
            assert [one.name for one in library.adapters()] == [added.folder.name]
            library.remove(added.folder.name)
        assert not home.exists() or not list(home.iterdir())
        if base is tiny:
            with _refusals():
                switcher.unload(switcher.load(adapter))

    yield run
    shutil.rmtree(folder)


@contextlib.contextmanager
def _refusals():
    try:
        yield
    except AdapterError as error:
        check(error)
