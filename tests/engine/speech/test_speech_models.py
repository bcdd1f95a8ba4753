"""Models of speech of both kinds, by name or folder, from a hub or from here."""

import shutil
from dataclasses import replace

import pytest

from engine.errors import HubError, ModelError
from engine.hub.catalogue import (
    STREAMING_MODELS,
)
from engine.speech.sherpa import Sherpa
from engine.speech.speech_models import (
    found_speech_model,
    load_speech_model,
    speech_model_folder,
)
from engine.speech.whisper import Whisper
from tests.support import hub_server
from tests.support.spoken import TINY, TINY_STREAMING, needs_sherpa

pytestmark = pytest.mark.usefixtures("hub_cache")
NAME = "zipformer.en"
CHOICE = replace(STREAMING_MODELS[NAME], hub="some/model")
NETWORK = (TINY_STREAMING / "ctc.onnx").read_bytes()
FILES = dict.fromkeys(CHOICE.files, NETWORK) | {
    "tokens.txt": (TINY_STREAMING / "tokens.txt").read_bytes()
}
OTHERS = {"README.md": b"words", "encoder-epoch-99-avg-1-chunk-16-left-64.onnx": b"not wanted"}


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setitem(STREAMING_MODELS, NAME, CHOICE)
    return tmp_path / "models"


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_of_a_streaming_model_one_set_of_files_is_fetched_and_goes_on_where_it_broke_off(library):
    with hub_server.running(FILES | OTHERS) as hub:
        wanted = hub_server.fetching(hub)
        hub.fault = lambda name, start: (
            None if "encoder" not in name else "lost" if start else "reset"
        )
        with pytest.raises(HubError, match=f"the download of {NAME} broke off after"):
            speech_model_folder(NAME, library, wanted)
        assert found_speech_model(NAME, library) is None
        hub.fault = lambda _name, _start: None
        hub.asked.clear()
        folder = speech_model_folder(NAME, library, wanted)
        assert content(folder) == FILES
        assert any(start > 0 for path, start in hub.asked if "encoder" in path)
    assert found_speech_model(NAME, library) == folder


@needs_sherpa
def test_a_folder_tells_by_its_files_what_it_holds(library):
    for folder, kind in ((TINY_STREAMING, Sherpa), (TINY, Whisper)):
        assert speech_model_folder(str(folder), library) == folder
        assert found_speech_model(str(folder), library) == folder
        assert isinstance(load_speech_model(folder, "cpu", "en"), kind)


def test_folders_of_neither_kind_and_damaged_ones_are_one_sentence(tmp_path, library):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ModelError, match=r"found none: a Whisper .* a streaming one"):
        speech_model_folder(str(empty), library)
    damaged = shutil.copytree(TINY_STREAMING, tmp_path / "damaged")
    (damaged / "tokens.txt").unlink()
    for look in (speech_model_folder, found_speech_model):
        with pytest.raises(ModelError, match=r"tokens\.txt"):
            look(str(damaged), library)
    whisper = shutil.copytree(TINY, tmp_path / "whisper")
    (whisper / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"has no tokenizer\.json"):
        speech_model_folder(str(whisper), library)
