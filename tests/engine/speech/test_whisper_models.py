"""Whisper models by name, from a hub that may be slow, broken or refused."""

import itertools
import os
import shutil
import socket
from functools import partial

import pytest

from engine.errors import HubError, ModelError
from engine.hub.catalogue import (
    STREAMING_MODELS,
    WHISPER_MODELS,
    is_english_only,
    quicker_speech_model,
    suited_speech_model,
)
from engine.hub.download import Fetching, HubSettings
from engine.messages import Code
from engine.speech.whisper import found_whisper, whisper_folder
from engine.untrusted.faults import is_damage
from tests.support import hub_server
from tests.support.hub_server import WHISPER_FILES
from tests.support.programs.run import ran
from tests.support.spoken import TINY
from tests.support.strangers import refused

NAME = "some/model"
CERTIFICATE = (
    "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 "
    "-addext subjectAltName=IP:127.0.0.1"
)
OTHERS = {"README.md": b"words", "weights.safetensors": b"not ours"}


@pytest.fixture
def hub():
    with hub_server.running(WHISPER_FILES | OTHERS) as hub:
        yield hub


pytestmark = pytest.mark.usefixtures("hub_cache")


@pytest.fixture
def library(tmp_path):
    return tmp_path / "models"


def fetch(hub, library, name=NAME, **others):
    return whisper_folder(name, library, hub_server.fetching(hub, **others))


refusal = partial(refused, HubError, fetch)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_belongs_to_a_whisper_is_fetched_with_real_bytes_told(hub, library):
    told = []
    folder = fetch(hub, library, progress=lambda done, total: told.append((done, total)))
    assert content(folder) == WHISPER_FILES
    total = sum(map(len, WHISPER_FILES.values()))
    assert told[-1] == (total, total)
    assert all(one[0] <= other[0] for one, other in itertools.pairwise(told))


@pytest.mark.parametrize("n_bytes", [4, 20, -100_000, -1])
def test_a_whisper_that_was_cut_short_is_refused_before_it_is_loaded(library, tmp_path, n_bytes):
    folder = shutil.copytree(TINY, tmp_path / "tiny")
    assert found_whisper(str(folder), library) == folder
    weights = folder / "model.bin"
    weights.write_bytes(weights.read_bytes()[:n_bytes])
    with pytest.raises(ModelError) as caught:
        found_whisper(str(folder), library)
    assert caught.value.message == Code.SPEECH_MODEL_CUT(folder=str(folder))
    assert is_damage(caught.value.message)


def test_a_known_name_is_asked_for_where_it_lies(hub, library, monkeypatch):
    monkeypatch.setitem(WHISPER_MODELS, "tiny.en", NAME)
    assert content(fetch(hub, library, "tiny.en")) == WHISPER_FILES


def test_offline_is_one_sentence(library):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{nobody.getsockname()[1]}"
    with pytest.raises(HubError, match="check your connection and try again") as caught:
        whisper_folder(
            NAME, library, Fetching(settings=HubSettings(endpoint=endpoint, timeout_s=1))
        )
    assert "\n" not in str(caught.value)


def test_a_certificate_that_is_refused_is_said_so(library, tmp_path):
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl to make a certificate that nobody trusts")
    both = tmp_path / "both.pem"
    files = ["-keyout", both, "-out", tmp_path / "certificate.pem"]
    ran(openssl, *CERTIFICATE.split(), *files, check=True)
    both.write_bytes(both.read_bytes() + (tmp_path / "certificate.pem").read_bytes())
    with hub_server.running(WHISPER_FILES, certificate=both) as hub:
        said = refusal(hub, library)
    assert "the certificate of huggingface.co was refused" in said
    assert "SSL_CERT_FILE" in said


def test_a_repository_without_a_whisper_is_said_so(library):
    with hub_server.running(OTHERS) as hub:
        assert "has no Whisper model for CTranslate2" in refusal(hub, library)


def test_a_folder_that_is_not_whole_is_said_so(library, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").touch()
    with pytest.raises(ModelError, match=r"has no model\.bin"):
        whisper_folder(str(folder), library)
    (folder / "model.bin").touch()
    for look in (whisper_folder, found_whisper):
        with pytest.raises(ModelError, match=r"has no tokenizer\.json"):
            look(str(folder), library)


@pytest.fixture
def whole(tmp_path):
    folder = tmp_path / "whole"
    folder.mkdir()
    for name, content in WHISPER_FILES.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes of Unix")
@pytest.mark.parametrize("name", ["model.bin", "vocabulary.txt", "preprocessor_config.json"])
def test_a_pipe_in_a_folder_is_not_waited_for(whole, library, name):
    (whole / name).unlink(missing_ok=True)
    os.mkfifo(whole / name)
    with pytest.raises(ModelError, match=f"has no {name} that is a file"):
        whisper_folder(str(whole), library)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('{"n_fft": 1000000000}', "'n_fft' should be a whole number from 1 to 16384"),
        ('{"hop_length": 0}', "'hop_length' should be a whole number"),
        ('{"feature_size": "x"}', "'feature_size' should be a whole number"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"n_fft": 400, "hop_length": 160, "feature_size": 80, "mel_filters": []}', ""),
    ],
)
def test_what_a_folder_says_of_sound_is_bounded(whole, library, content, sentence):
    (whole / "preprocessor_config.json").write_text(content)
    if not sentence:
        assert whisper_folder(str(whole), library) == whole
        return
    with pytest.raises(ModelError, match=sentence):
        whisper_folder(str(whole), library)


@pytest.mark.parametrize(
    "name",
    ["huge", "", "a/b/c", "/no/where", "~nobody-at-all/x", "\0", "x" * 9999],
)
def test_a_name_nobody_knows_lists_those_there_are(library, name):
    for look in (whisper_folder, found_whisper):
        with pytest.raises(ModelError, match=r"choose tiny\.en, tiny, base\.en") as caught:
            look(name, library)
        assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["vocabulary.json.part", "vocabulary.exe", "Model.bin", "x.bin"])
def test_nothing_but_the_files_of_a_whisper_is_fetched(hub, library, name):
    hub.files[name] = b"x"
    assert content(fetch(hub, library)) == WHISPER_FILES


def test_the_next_quicker_model_knows_the_same_languages():
    assert quicker_speech_model("base.en") == "tiny.en"
    assert quicker_speech_model("small") == "base"
    assert quicker_speech_model("tiny") == ""
    assert quicker_speech_model("tiny.en") == "zipformer.en"
    assert quicker_speech_model("zipformer.en") == ""
    assert quicker_speech_model("some/model") == ""
    for name in WHISPER_MODELS:
        less = quicker_speech_model(name)
        assert (
            not less or less in STREAMING_MODELS or is_english_only(less) == is_english_only(name)
        )


def test_the_model_of_the_same_size_that_knows_a_language_is_named():
    assert suited_speech_model("base.en", "pl") == "base"
    assert suited_speech_model("distil-small.en", "pl") == "small"
    assert suited_speech_model("distil-large-v3", "pl") == "large-v3"
    for name in (*WHISPER_MODELS, "some/model", "some/model.en"):
        assert suited_speech_model(name, "en") == name
    for name in ("small", "large-v3-turbo", "some/model.en"):
        assert suited_speech_model(name, "pl") == name
