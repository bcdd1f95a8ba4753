import json
from dataclasses import replace
from functools import partial

import pytest

from engine.errors import ModelError
from engine.models.model_card import FILE_NAME, Calibration, Language, ModelCard, read_card
from tests.support.strangers import refused

CARD = ModelCard(
    name="tiny é 漢",
    languages={
        "de": Language(name="German", system="<|de|>"),
        "fr": Language(name="French", system="Translate to French."),
    },
    end_of_source="<|end_of_source|>",
    end_of_write="<|end_of_write|>",
    end_of_target="<|end|>",
    slot_length=16,
    policies=("read:3", "wait:5", "offline"),
)


def written(folder, content):
    path = folder / FILE_NAME
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def saved_content(folder):
    CARD.save(folder)
    return json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))


refusal = partial(refused, ModelError, read_card)


def test_what_is_saved_is_read_again(tmp_path):
    CARD.save(tmp_path)
    assert read_card(tmp_path) == CARD


@pytest.mark.parametrize("code", ["../de", "", "a/b", "d\0e", "x" * 41, "C:de"])
def test_a_language_that_is_a_path_is_refused(tmp_path, code):
    content = saved_content(tmp_path)
    content["languages"][code] = content["languages"]["de"]
    assert "which is no code like de or pt-BR" in refusal(written(tmp_path, content))


def test_a_language_it_does_not_know_is_told_with_the_first_of_those_it_knows():
    with pytest.raises(ModelError, match=r"translates to de, fr, not to 'xx'"):
        CARD.language("xx")
    many = {f"l{number}": CARD.languages["de"] for number in range(10_000)}
    with pytest.raises(ModelError, match="and 9960 more") as caught:
        replace(CARD, languages=many).language("xx")
    assert len(str(caught.value)) < 400


def test_a_folder_without_a_card_is_no_model(tmp_path):
    for folder in (tmp_path, tmp_path / "nowhere"):
        assert "is no Surtitle model" in refusal(folder)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format_version", 2),
        ("slot_length", 0),
        ("slot_length", 1025),
        ("policies", "read:3"),
        ("policies", ["read:3"] * 101),
        ("name", "x" * 1001),
        ("languages", {"de": {"name": "German", "system": "x" * 10_001}}),
        ("languages", {"x" * 201: {"name": "German", "system": ""}}),
        ("languages", {str(n): {"name": "German", "system": ""} for n in range(501)}),
    ],
)
def test_a_garbled_field_is_refused(tmp_path, field, value):
    content = saved_content(tmp_path) | {field: value}
    assert "it is damaged; get it again" in refusal(written(tmp_path, content))


@pytest.mark.parametrize(
    ("field", "value"),
    [("slope", -1.0), ("slope", 101), ("offset", -101.0), ("threshold", 1.5), ("threshold", "1")],
)
def test_a_calibration_out_of_bounds_is_refused(tmp_path, field, value):
    content = saved_content(tmp_path)
    content["calibration"] = {"slope": 1, "offset": 0, "threshold": 0.5, field: value}
    assert field in refusal(written(tmp_path, content))


@pytest.mark.parametrize(("slope", "offset"), [(100, -100), (100, 100), (0, 0)])
def test_no_calibration_within_bounds_overflows(slope, offset):
    calibration = Calibration(slope=slope, offset=offset, threshold=0.5)
    values = [calibration.probability(-n) for n in (1000.0, 8.0, 1.0, 0.0)]
    assert values == sorted(values)
    assert all(0 <= value <= 1 for value in values)
