import sys
import types

import pytest

from training.data.aligned_pairs import read_aligned
from training.errors import TrainingError
from training.settings import HubData
from training.trainer.finetuning.hub_data import fetch

ROWS = [
    {"translation": {"en": "the  house", "de": "das Haus"}},
    {"translation": {"en": "", "de": "nichts"}},
    {"translation": {"en": "it is late", "de": "es ist spät"}},
]
HUB = HubData(
    name="somebody/talks",
    languages=("de",),
    files="en-{language}/train/*.parquet",
    revision="other",
    schedule="ratio",
)


@pytest.fixture
def asked(monkeypatch):
    """A stand-in for ``datasets`` that remembers what it was asked."""
    found = []

    def load_dataset(*rest, **named):
        found.append((rest, named))
        return ROWS

    module = types.ModuleType("datasets")
    module.load_dataset = load_dataset
    monkeypatch.setitem(sys.modules, "datasets", module)
    return found


def test_rows_of_the_hub_become_aligned_pairs(asked, tmp_path):
    files = fetch(HUB, "en", tmp_path)
    pairs = [(one.pair.source, one.pair.target, one.needs) for one in read_aligned(files.values())]
    assert pairs == [("the house", "das Haus", (1, 2)), ("it is late", "es ist spät", (1, 2, 3))]
    named = {
        "data_files": {"train": "en-de/train/*.parquet"}, "split": "train", "revision": "other",
    }  # fmt: skip
    assert asked == [(("somebody/talks", None), named)]


def test_what_was_fetched_is_not_fetched_again(asked, tmp_path):
    fetch(HUB, "en", tmp_path)
    fetch(HUB, "en", tmp_path)
    assert len(asked) == 1


def test_a_row_without_the_languages_is_one_sentence(asked, tmp_path):
    with pytest.raises(TrainingError, match="'translation' with fr and de"):
        fetch(HUB, "fr", tmp_path)
    assert not list(tmp_path.iterdir())
    assert len(asked) == 1


def test_a_hub_that_cannot_be_reached_is_one_sentence(asked, tmp_path, monkeypatch):
    reason = "no route\nmore of it"

    def fail(*_rest, **_named):
        raise ConnectionError(reason)

    monkeypatch.setattr(sys.modules["datasets"], "load_dataset", fail)
    with pytest.raises(TrainingError, match=r"cannot be fetched from the hub \(no route\)"):
        fetch(HUB, "en", tmp_path)
    assert not asked


def test_without_the_library_it_is_said_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(TrainingError, match=r"pip install 'surtitle\[hub\]'"):
        fetch(HUB, "en", tmp_path)
