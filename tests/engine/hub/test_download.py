"""Models from a hub that may be slow, broken or dishonest."""

import errno
import io
import itertools
import json
import os
import random
import shutil
import socket
import urllib.request
from email.message import Message
from functools import partial
from pathlib import Path
from urllib.error import HTTPError, URLError

import pytest

from engine.errors import FetchCancelledError, HubError
from engine.files import ByteCount
from engine.hub.catalogue import TRANSLATION_MODELS
from engine.hub.download import (
    HubSettings,
    fetch_answer,
    fetch_model,
    find_model,
    in_steps,
    reason_of,
)
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings
from tests.support import hub_server
from tests.support.fakes import save_tiny_model
from tests.support.strangers import refused

NAME = "some/model"
STALLED_S = 2  # so long without a byte is not a busy machine
SLOW_STALL, SLOW_SILENCE = (
    pytest.param(fault, marks=pytest.mark.slow) for fault in ("stall", "silent")
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("tiny"))
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def hub(files):
    with hub_server.running(files | {"pytorch_model.bin": b"pickle", "notes.md": b"words"}) as hub:
        yield hub


pytestmark = pytest.mark.usefixtures("hub_cache")


@pytest.fixture
def library(tmp_path):
    return tmp_path / "models"


def fetch(hub, library, *, again=False, **others):
    return fetch_model(NAME, library, hub_server.fetching(hub, **others), again=again)


refusal = partial(refused, HubError, fetch)


def left(library):
    """Files in the library, whatever they are called."""
    return sorted(path.name for path in library.rglob("*") if path.is_file())


def test_a_model_is_fetched_whole_and_can_be_loaded(hub, files, library):
    told = []
    folder = fetch(hub, library, progress=lambda done, total: told.append((done, total)))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    total = sum(map(len, files.values()))
    assert told[-1] == (total, total)
    assert all(one[0] <= other[0] for one, other in itertools.pairwise(told))
    assert load_weights(ModelSettings(directory=folder, device="cpu")).card.name == "tiny"


def test_of_a_suggested_model_the_revision_that_was_checked_is_asked_for(files, library):
    model = TRANSLATION_MODELS[0]
    with hub_server.running(files, name=model.name) as hub:
        fetch_model(model.name, library, hub_server.fetching(hub))
    assert hub.asked[0][0] == f"/api/models/{model.name}/revision/{model.revision}?blobs=true"


def test_what_is_there_is_found_without_a_network(hub, library, monkeypatch):
    folder = fetch(hub, library)
    n_asked = len(hub.asked)

    def no_network(*_arguments, **_others):
        raise AssertionError

    monkeypatch.setattr(socket.socket, "connect", no_network)
    assert fetch(hub, library) == find_model(NAME, library) == folder
    assert find_model("other/model", library) is None
    assert len(hub.asked) == n_asked


def fetch_anew(hub, library, **others):
    return fetch(hub, library, again=True, **others)


@pytest.mark.parametrize("way", ["cut", "other bytes", "gone", "a link"])
def test_of_a_damaged_model_only_what_is_damaged_is_fetched_again(hub, files, library, way):
    folder = fetch(hub, library)
    (folder / "ctranslate2-int8").mkdir()  # converted from what may be damaged
    bad = folder / "model.safetensors"
    content = bad.read_bytes()
    bad.unlink()
    if way == "cut":
        bad.write_bytes(content[:-9])
    elif way == "other bytes":
        bad.write_bytes(bytes(byte ^ 1 for byte in content))
    elif way == "a link":
        bad.symlink_to(folder / "config.json")
    hub.asked.clear()
    assert fetch_anew(hub, library) == folder
    assert [path.rpartition("/")[2] for path, _ in hub.asked[1:]] == ["model.safetensors"]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert list(library.iterdir()) == [folder]


def test_a_whole_model_is_not_fetched_again(hub, library):
    folder = fetch(hub, library)
    hub.asked.clear()
    assert fetch_anew(hub, library) == folder
    assert len(hub.asked) == 1  # the list of its files


@pytest.mark.parametrize("way", ["garbled", "lost", "cancelled"])
def test_a_folder_stays_as_it_is_until_all_of_it_can_be_replaced(hub, library, way):
    folder = fetch(hub, library)
    bad = folder / "model.safetensors"
    bad.write_bytes(b"damaged")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    hub.fault = lambda _name, _start: way
    with pytest.raises(HubError):
        fetch_anew(hub, library, cancelled=lambda: way == "cancelled")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_model_in_the_cache_of_the_hubs_own_library_is_found(files, library, tmp_path):
    commit = "a" * 40
    repository = tmp_path / "cache" / "models--some--model"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    snapshot = repository / "snapshots" / commit
    snapshot.mkdir(parents=True)
    for name, content in files.items():
        (snapshot / name).write_bytes(content)
    assert find_model(NAME, library) == snapshot
    (snapshot / "model.safetensors").write_bytes(files["model.safetensors"][:-1])
    assert find_model(NAME, library) is None  # not all of it


@pytest.mark.parametrize("fault", ["reset", SLOW_STALL, "short"])
def test_a_connection_that_breaks_is_made_anew_from_the_last_byte(hub, files, library, fault):
    weights = "model.safetensors"
    hub.fault = lambda name, start: fault if name == weights and start == 0 else None
    folder = fetch(hub, library, timeout_s=STALLED_S)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    assert any(start > 0 for _, start in hub.asked)


@pytest.mark.parametrize("fault", [SLOW_SILENCE, "lost"])
def test_a_hub_that_sends_no_more_is_given_up_and_the_next_fetch_goes_on(
    hub, files, library, fault
):
    def after_a_while(name, start):
        return None if name != "model.safetensors" else fault if start else "reset"

    hub.fault = after_a_while
    assert "the download of some/model broke off after" in refusal(
        hub, library, timeout_s=STALLED_S
    )
    assert find_model(NAME, library) is None
    hub.fault = lambda _name, _start: None
    hub.asked.clear()
    told = []
    folder = fetch(hub, library, progress=lambda done, _: told.append((done, len(hub.asked))))
    assert any(start > 0 for _, start in hub.asked)
    done, n_asked = told[0]
    assert done > 0
    assert n_asked < len(hub.asked), "what is there is told before more is asked for"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


@pytest.mark.parametrize("fault", ["long", "garbled"])
def test_what_is_not_what_was_promised_is_thrown_away(hub, library, fault):
    hub.fault = lambda name, _start: fault if name == "model.safetensors" else None
    assert "is not what it promised" in refusal(hub, library)
    assert left(library) == []


@pytest.mark.parametrize("content", [b"", b"{", bytes(9999)])
def test_a_file_of_which_a_crash_left_something_else_is_fetched_anew(hub, files, library, content):
    staging = library / f".some--model.{hub_server.REVISION[:12]}"
    staging.mkdir(parents=True)
    (staging / "config.json").write_bytes(content)
    folder = fetch(hub, library)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


def test_a_fetch_is_cancelled_at_the_next_piece_and_goes_on_later(hub, files, library):
    asked = []
    with pytest.raises(FetchCancelledError):
        fetch(hub, library, cancelled=lambda: asked.append(1) or len(asked) > 3)
    assert find_model(NAME, library) is None
    folder = fetch(hub, library)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


class FullDisk(io.FileIO):
    """A file on a disk that has room for a part of it."""

    def write(self, content):
        if self.tell() + len(content) > 3000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(content)


def test_a_disk_that_fills_is_one_sentence_and_leaves_nothing(hub, library, monkeypatch):
    open_ = Path.open

    def full(path, mode="r", *arguments, **others):
        if path.name == "model.safetensors.part" and "a" in mode:
            return FullDisk(path, mode)
        return open_(path, mode, *arguments, **others)

    monkeypatch.setattr(Path, "open", full)
    assert os.strerror(errno.ENOSPC) in refusal(hub, library)
    assert left(library) == []


def test_too_little_room_is_told_before_anything_is_fetched(hub, library, monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=1000))
    with pytest.raises(HubError, match="make room and try again") as caught:
        fetch(hub, library)
    values = caught.value.message.values
    assert all(isinstance(values[name], ByteCount) for name in ("missing", "free"))
    assert left(library) == []


def test_a_model_that_the_hub_does_not_have_is_one_sentence(hub, library):
    with pytest.raises(HubError, match="cannot be downloaded from huggingface"):
        fetch_model("no/such", library, hub_server.fetching(hub))
    assert not library.exists()


# --- strangers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["model", "a/b/c", "../secret", "a/..", "", "https://x/y", "a/b.", "a/b-", "a--b/c", "a/b.git",
     "a/b\\..\\c", "C:x/y", "con.x/y", "a/b\0", "a/" + "b" * 97, "é/b"],
)  # fmt: skip
def test_what_is_no_name_never_reaches_the_network(library, name):
    for look in (fetch_model, find_model):
        with pytest.raises(HubError, match="owner/name was expected") as caught:
            look(name, library)
        assert len(str(caught.value)) < 200


NO_REVISIONS = ["/../../../..", "main", "", "5EED" * 10, "５" * 40, "5eed" * 10 + "\n", None]


@pytest.mark.parametrize("revision", NO_REVISIONS)
def test_what_is_no_revision_leads_nowhere(hub, tmp_path, revision):
    """The library is as deep as in its usual place; a garbled file has the fetch thrown away."""
    kept = tmp_path / "home" / ".local" / "share" / "other" / "kept"
    kept.parent.mkdir(parents=True)
    kept.touch()
    library = tmp_path / "home" / ".local" / "share" / "surtitle" / "models"
    (library / "other--model").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    hub.change = lambda listing: listing | {"sha": revision}
    hub.fault = lambda _name, _start: "garbled"
    assert "the list of its files on huggingface.co cannot be used ('sha'" in refusal(hub, library)
    assert sorted(tmp_path.rglob("*")) == before
    assert len(hub.asked) == 1


@pytest.mark.parametrize(
    "name",
    ["..\\x.json", "C:x.json", "..\\..\\x.safetensors", "con.json", "NUL.safetensors", "../x.json",
     "/x.json", "deep/x.json", "a/../x.json", ".json", ".x.json", "x\n.json", "x\0.json",
     "x\u202e.json", "~/x.json", "x" * 200 + ".json", "%2e%2e%2fx.json", "x.json?y.json"],
)  # fmt: skip
def test_what_is_no_plain_file_name_is_neither_asked_for_nor_written(hub, files, library, name):
    hub.change = lambda listing: (
        listing | {"siblings": [*listing["siblings"], listing["siblings"][0] | {"rfilename": name}]}
    )
    folder = fetch(hub, library)
    assert {path.name for path in folder.iterdir()} == set(files)
    assert len(hub.asked) == 1 + len(files)
    assert {path.name for path in library.parent.iterdir()} <= {"models", "cache"}


def test_only_what_was_begun_of_this_model_is_dropped(hub, library, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    others = [
        "some--model.x." + "a" * 12,
        "some--model",
        "some--model.mine",
        "some--modelx." + "a" * 12,
    ]
    for folder in (elsewhere, *(library / f".{name}" for name in others)):
        folder.mkdir(parents=True)
        (folder / "kept").touch()
    (library / f".some--model.{'b' * 12}").mkdir()
    (library / f".some--model.{'c' * 12}").symlink_to(elsewhere)
    (library / f".some--model.{hub_server.REVISION[:12]}").symlink_to(elsewhere)
    folder = fetch(hub, library)
    assert not folder.is_symlink()
    assert {path.name for path in library.iterdir()} == {folder.name, *(f".{it}" for it in others)}
    assert [path.name for path in elsewhere.iterdir()] == ["kept"]


def entry(**values):
    """Change what is listed of the first file that belongs to the model."""

    def change(listing):
        first = next(it for it in listing["siblings"] if it["rfilename"] == "config.json")
        first |= values
        return listing

    return change


LISTS = {
    "no list": lambda _listing: [],
    "files in words": lambda listing: listing | {"siblings": "model.safetensors"},
    "too many": lambda listing: listing
    | {"siblings": [listing["siblings"][0] | {"rfilename": f"{n}.json"} for n in range(1001)]},
    "name a number": entry(rfilename=5),
    "name half a character": entry(rfilename="\ud800.json"),
    "size below nothing": entry(size=-1),
    "size of many digits": entry(size=10**4000),
    "digest in words": entry(blobId="../../x"),
    "lfs of a short digest": entry(lfs={"sha256": "00"}),
}  # fmt: skip


@pytest.mark.parametrize("change", LISTS.values(), ids=LISTS)
def test_a_list_that_cannot_be_used_is_one_sentence(hub, library, change):
    hub.change = change
    said = refusal(hub, library)
    assert "the list of its files on huggingface.co cannot be used" in said
    assert len(said) < 400
    assert said.isprintable()
    assert len(hub.asked) == 1
    assert not library.exists()


def json_answer(content):
    body = json.dumps(content).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def found(location):
    return b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"


ANSWERS = {
    "half an address": found(b"http://[::1"),
    "a letter no address has": found("http://a\u2100b/".encode()),
    "a file": found(b"file:///etc/passwd"),
    "nowhere": found(b""),
    "itself": found(b"/some/model/api/models/resolve/x"),
    "a body without end": found(b"/x")[:-4] + b"\r\nContent-Length: 9999999999\r\n\r\nxxx",
    "no HTTP": b"\x1b[2J\x00SSH-2.0\r\n\r\n",
    "nothing": b"",
    "a forged reason": b"HTTP/1.1 500 \x1b[2Jsend money to x" + b"y" * 9000 + b"\r\n\r\n",
    "too many headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    "a length in words": b"HTTP/1.1 200 OK\r\nContent-Length: much\r\n\r\n\xff",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_is_none_is_one_sentence(hub, library, answer):
    hub.raw = lambda path: answer if "/resolve/" in path else None
    said = refusal(hub, library)
    assert len(said) < 300
    assert said.isprintable()
    assert "money" not in said
    assert find_model(NAME, library) is None


def test_the_token_goes_to_the_hub_and_to_nobody_it_names(hub, files, library, monkeypatch):
    monkeypatch.setattr("engine.hub.download.build_hf_headers", lambda: {"Authorization": "secret"})
    with hub_server.running(files) as other:
        away = f"{other.endpoint}/some/model/resolve/{hub_server.REVISION}/"

        def raw(path):
            if path.startswith("/api/models/some/model"):
                return found(b"/moved/api/models/some/model")  # of the hub itself
            if "/resolve/" in path:
                return found((away + path.rpartition("/")[2]).encode())
            return json_answer(hub_server.listing(hub))

        hub.raw = raw
        assert {path.name for path in fetch(hub, library).iterdir()} == set(files)
        assert {headers.get("Authorization") for headers in hub.headers} == {"secret"}
        assert {headers.get("Authorization") for headers in other.headers} == {None}


def test_a_hub_that_is_asked_securely_sends_nobody_to_a_plain_address(monkeypatch):
    class Opener(urllib.request.OpenerDirector):
        def open(self, request, *_arguments, **_others):
            headers = Message()
            headers["Location"] = "http://127.0.0.1/x"
            assert request.type == "https"
            raise HTTPError(request.full_url, 302, "Found", headers, io.BytesIO())

    monkeypatch.setattr(urllib.request, "OpenerDirector", Opener)
    with pytest.raises(URLError) as caught:
        fetch_answer("https://hub/x", HubSettings(), lambda: False, 100)
    assert str(reason_of(caught.value)) == "it sends us to an address that is not secure"


def test_an_answer_without_end_is_given_up(hub, library, monkeypatch):
    hub.raw = lambda _path: b"HTTP/1.1 200 OK\r\n\r\n" + b" " * ((1 << 23) + 1)
    assert "sends an answer of more than 8388608 bytes" in refusal(hub, library)
    hub.raw = lambda _path: None
    seconds = itertools.count(step=7)
    monkeypatch.setattr("engine.hub.download.time.monotonic", lambda: next(seconds))
    assert "has not answered within 6 s" in refusal(hub, library, timeout_s=1)


def test_who_forbids_to_ask_the_hub_is_obeyed(hub, library, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE forbids" in refusal(hub, library)
    assert hub.asked == []


def test_a_million_pieces_are_told_in_order_at_most_as_often_as_a_bar_moves():
    rng = random.Random(4)
    told = []
    progress = in_steps(lambda done, total: told.append((done, total)))
    pieces = sorted(rng.randrange(10**9) for _ in range(50_000))
    for done in [0, *pieces, 10**9]:
        progress(done, 10**9)
    assert told[0] == (0, 10**9)
    assert told[-1] == (10**9, 10**9)
    assert told == sorted(told)
    assert 400 <= len(told) <= 501
