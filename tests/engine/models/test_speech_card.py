"""The part of a card about a speech encoder, and the header of the file beside it."""

import pytest

from engine.errors import ModelError
from engine.models.model_card import (
    SpeechCard,
    check_speech_header,
    most_bytes,
    read_card,
    translator_sha256,
)
from engine.untrusted.file_headers import SafetensorsHeader, TensorEntry
from tests.support.direct.encoders import WIDTH, say_speech, tiny_card, tiny_encoder


@pytest.fixture
def folder(folder):
    """A folder whose card speaks of an encoder."""
    say_speech(folder, tiny_card(encoder_sha256="0" * 64, translator_sha256="0" * 64))
    return folder


def test_the_card_is_saved_and_read_again(folder):
    card = read_card(folder)
    assert card.speech is not None
    card.save(folder)
    assert read_card(folder) == card


@pytest.mark.parametrize(
    "changes",
    [
        {"left_blocks": 1 << 20},
        {"heads": 3},
        {"width": "wide"},
        {"layers": True},
        {"vocabulary": 1 << 30},
        {"encoder_sha256": "0f"},
        {"translator_sha256": 3},
    ],
)
def test_garbled_words_of_a_card_on_speech_are_refused(folder, changes):
    say_speech(folder, read_card(folder).speech, **changes)
    with pytest.raises(ModelError, match="is damaged; get it again"):
        read_card(folder)


def test_weights_in_several_files_are_known_by_all_of_them(tmp_path):
    for name in ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"):
        (tmp_path / name).write_bytes(name.encode())
    before = translator_sha256(tmp_path)
    (tmp_path / "model-00002-of-00002.safetensors").write_bytes(b"other")
    assert translator_sha256(tmp_path) != before


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"block_frames": 0}, "has 0 frames a block, no multiple of 4"),
        ({"block_frames": 6}, "has 6 frames a block, no multiple of 4"),
        ({"context_frames": 9}, "sees 9 frames after a block, and 8 is the most"),
        ({"context_frames": -1}, "sees -1 frames after a block"),
        ({"heads": 0}, "a width of 256 among 0 heads"),
        ({"width": 0}, "a width of 0 among 4 heads"),
        ({"width": 252}, "a width of 252 among 4 heads"),
    ],
)
def test_sizes_that_no_encoder_has_are_named(changes, said):
    with pytest.raises(ValueError, match=said):
        SpeechCard(**changes)


@pytest.mark.parametrize(
    "changes", [{}, {"vocabulary": 7}, {"layers": 3, "width": 24, "heads": 3}], ids=str
)
def test_a_card_promises_the_tensors_of_its_network_to_the_byte(changes):
    tensors, card = tiny_encoder(**changes).state_dict(), tiny_card(**changes)
    assert card.shapes(WIDTH) == {name: tuple(one.shape) for name, one in tensors.items()}
    assert most_bytes(card, WIDTH) == sum(4 * one.numel() for one in tensors.values())


def test_a_card_that_promises_more_than_can_be_read_is_refused():
    with pytest.raises(ValueError, match=r"bytes by its card, and 4294967296 are the most"):
        most_bytes(SpeechCard(width=4096, layers=64, feed_forward=1 << 15), WIDTH)


def _header(**changes):
    shapes = tiny_card().shapes(WIDTH).items()
    entries = {name: TensorEntry("F32", shape, 0, 0) for name, shape in shapes} | changes
    return SafetensorsHeader({name: it for name, it in entries.items() if it}, 0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"out.weight": TensorEntry("F32", (7, 16), 0, 0)}, r"out.weight in the shape \[7, 16\]"),
        ({"norm.bias": TensorEntry("F64", (16,), 0, 0)}, "tensor 'norm.bias' of type F64"),
        ({"more": TensorEntry("F32", (1,), 0, 0)}, "tensor 'more' of type F32"),
        ({"norm.bias": None}, "lacks the tensor norm.bias"),
    ],
)
def test_a_header_that_does_not_fit_its_card_is_refused(changes, said):
    check_speech_header(_header(), tiny_card(), WIDTH)
    with pytest.raises(ValueError, match=said):
        check_speech_header(_header(**changes), tiny_card(), WIDTH)
