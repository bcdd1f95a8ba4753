"""Answers of a hub that lies, and what a fetch that was broken off may have left."""

import contextlib
import json

import huggingface_hub.constants

from engine.errors import HubError
from engine.hub.download import fetch_model, find_model
from tests.fuzz.sentences import check, text
from tests.support import hub_server
from tests.support.strangers import damaged, mutated

_FILES = {"config.json": b"{}", "tokenizer.json": b"[]" * 50, "model.safetensors": bytes(3000)}
_SHAS = ["/../../../..", "/../..", "main", "", "A" * 40, "0" * 39, "\0" * 40, 5, None,
         "0" * 12 + "/" * 28]  # fmt: skip
_NAMES = ["..\\x.json", "C:x.json", "../x.json", "/x.json", "nul.json", "a/b.json", ".json",
          "x\0.json", "\ud800.json", "x.json.part", "model.safetensors", 5, None,
          "x" * 300 + ".json"]  # fmt: skip
_SIZES = [0, -1, 10**30, "5", None, 1.5, 2**63, 10**4000, 3001]
_DIGESTS = [None, {}, [], "0" * 40, "../x", 5]
_LOCATIONS = [b"http://[::1", b"HTTP://[x]/", "http://a\u2100b/".encode(), b"file:///etc/passwd",
              b"ftp://127.0.0.1:1/x", b"data:,x", b"", b"//x:y", b"http://127.0.0.1:1/x",
              b"/api/models/x", b"http://%00/", b"\x1b[2J", b"?", b"#"]  # fmt: skip
_MODELS = ["some/model", "a/b.", "../x", "a--b/c", "a/b\0", "con.x/y", "é/b", "a/" + "b" * 200,
           "x", "/", ""]  # fmt: skip
_FAULTS = [None, "short", "long", "garbled", "whole", "reset", "lost"]


def _listing(rng, listing):
    """What a hub lists, a few things of it changed."""
    for _ in range(rng.randint(1, 3)):
        entry = rng.choice(listing["siblings"]) if listing.get("siblings") else {}
        match rng.randrange(7):
            case 0:
                listing |= {"sha": rng.choice(_SHAS)}
            case 1:
                entry |= {"rfilename": rng.choice([*_NAMES, text(rng) + ".json"])}
            case 2:
                entry |= {"size": rng.choice(_SIZES)}
            case 3:
                entry |= {rng.choice(["lfs", "blobId"]): rng.choice(_DIGESTS)}
            case 4:
                listing |= {"siblings": listing["siblings"] * rng.choice([0, 2, 500])}
                break
            case _:
                return mutated(listing, rng)
    return listing


def _answer(rng, listing):
    """The bytes of an answer, changed or made up."""
    body = json.dumps(listing).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Type: text/html\r\n\r\n" % len(body)
    match rng.randrange(6):
        case 0 | 1:
            return damaged(head, rng) + body
        case 2:
            return head + damaged(body, rng)
        case 3:
            code = rng.choice([301, 302, 303, 307, 308, 300, 399])
            return b"HTTP/1.1 %d x\r\nLocation: %s\r\n\r\n" % (code, rng.choice(_LOCATIONS))
        case 4:
            code = rng.choice([100, 204, 206, 304, 401, 404, 416, 429, 500, 799])
            return b"HTTP/1.1 %d %s\r\n\r\n" % (code, rng.randbytes(9).replace(b"\n", b""))
        case _:
            return rng.randbytes(rng.randint(0, 80))


def _leave(rng, library, elsewhere):
    """Put into a library what was begun, or what somebody else put there."""
    library.mkdir(parents=True)
    revision = rng.choice([hub_server.REVISION[:12], "a" * 12, "x"])
    staging = library / f".some--model.{revision}"
    match rng.randrange(5):
        case 0:
            staging.symlink_to(elsewhere)
        case 1:
            staging.touch()
        case _:
            staging.mkdir()
            names = ["config.json.part", "model.safetensors.part", "config.json"]
            part = staging / rng.choice(names)
            match rng.randrange(4):
                case 0:
                    part.mkdir()
                case 1:
                    part.symlink_to(elsewhere / "nowhere")
                case _:
                    part.write_bytes(bytes(rng.choice([0, 5, 2999, 4000])))


_truth = (lambda listing: listing), (lambda _path: None), (lambda *_: None)


@contextlib.contextmanager
def prepared(folder):
    huggingface_hub.constants.HF_HUB_CACHE = str(folder / "cache")
    with hub_server.running(_FILES) as hub:

        def run(rng, folder, allow):
            library, elsewhere = folder / "share" / "surtitle" / "models", folder / "elsewhere"
            elsewhere.mkdir()
            (elsewhere / "kept").write_text("kept")
            hub.change, hub.raw, hub.fault = _truth
            lies = rng.randrange(4)
            if lies == 0:
                hub.change = lambda listing: _listing(rng, listing)
            elif lies == 1:
                asked = rng.choice(["/api/", "/resolve/", "config.json"])
                hub.raw = lambda path: asked in path and _answer(rng, hub_server.listing(hub))
            elif lies == 2:
                hub.fault = lambda *_: rng.choice(_FAULTS)
            if rng.random() < 0.3:
                _leave(rng, library, elsewhere)
            name = rng.choice(_MODELS) if rng.random() < 0.1 else "some/model"
            allow(folder / "share")
            try:
                find_model(name, library)
                found = fetch_model(name, library, hub_server.fetching(hub, timeout_s=0.5))
            except HubError as error:
                check(error)
            else:
                assert found == library / "some--model"
                assert not found.is_symlink()
                content = {path.name: path.read_bytes() for path in found.iterdir()}
                assert lies == 0 or content == _FILES, content
            assert [path.name for path in elsewhere.iterdir()] == ["kept"]
            names = [path.name for path in library.iterdir()] if library.exists() else []
            assert all(name.lstrip(".").startswith("some--model") for name in names), names

        yield run
