import json

import pytest

from engine.card import FILE_NAME, Language, ModelCard, read_card
from engine.errors import ModelError

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


def refusal(folder):
    with pytest.raises(ModelError) as caught:
        read_card(folder)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_what_is_saved_is_read_again(tmp_path):
    CARD.save(tmp_path)
    assert read_card(tmp_path) == CARD


def test_names_stay_readable_in_the_file(tmp_path):
    CARD.save(tmp_path)
    assert "tiny é 漢" in (tmp_path / FILE_NAME).read_text(encoding="utf-8")


def test_a_folder_without_a_card_is_no_model(tmp_path):
    assert "is no Surtitle model" in refusal(tmp_path)


def test_a_missing_folder_is_no_model(tmp_path):
    assert "is no Surtitle model" in refusal(tmp_path / "nowhere")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"\x00"])
def test_a_card_that_is_no_json_is_refused(tmp_path, content):
    assert "cannot be read as JSON" in refusal(written(tmp_path, content))


@pytest.mark.parametrize("content", [[], 3, "text", None, {}])
def test_a_card_that_says_nothing_is_refused(tmp_path, content):
    assert "lacks or garbles a field" in refusal(written(tmp_path, content))


def test_every_field_must_be_there(tmp_path):
    content = saved_content(tmp_path)
    for field in content:
        rest = {key: value for key, value in content.items() if key != field}
        assert field in refusal(written(tmp_path, rest))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format_version", 2),
        ("languages", []),
        ("languages", {"de": "German"}),
        ("languages", {"de": {"name": "German"}}),
        ("slot_length", "wide"),
        ("slot_length", None),
        ("policies", 3),
    ],
)
def test_a_garbled_field_is_refused(tmp_path, field, value):
    content = saved_content(tmp_path) | {field: value}
    assert "lacks or garbles a field" in refusal(written(tmp_path, content))


def test_a_language_is_found_by_its_code():
    assert CARD.language("fr").name == "French"


def test_a_language_the_model_was_not_made_for_is_refused_with_those_it_was_made_for():
    with pytest.raises(ModelError, match="translates to de, fr, not to 'zh'"):
        CARD.language("zh")
