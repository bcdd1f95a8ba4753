"""Bases of the hub, which is on this computer here."""

import pytest

from engine.errors import HubError
from training.errors import UsageError
from training.settings import TrainSettings
from training.trainer.finetuning.base_model import find_base


def settings_of(tmp_path, base="some/model"):
    return TrainSettings(out=tmp_path / "out", base=base, models=tmp_path / "models")


def test_a_base_is_fetched_once_and_found_without_a_network(tiny_hub, tmp_path):
    data = settings_of(tmp_path)
    base = find_base(data, ("read:3",))
    assert base.name == "tiny"
    n_asked = len(tiny_hub.asked)
    again = find_base(data, ("read:3",))
    assert again.folder == base.folder
    assert again.fingerprint == base.fingerprint
    assert len(tiny_hub.asked) == n_asked


def test_a_base_whose_bytes_are_not_what_was_promised_is_refused_and_not_kept(tiny_hub, tmp_path):
    tiny_hub.fault = lambda name, _start: "garbled" if name == "model.safetensors" else None
    with pytest.raises(HubError, match="is not what it promised") as caught:
        find_base(settings_of(tmp_path), ("read:3",))
    assert "\n" not in str(caught.value)
    assert not [path for path in (tmp_path / "models").rglob("*") if path.is_file()]


@pytest.mark.parametrize("base", ["no-such-folder", "./a/b", "/a/b", "a/b/c"])
def test_what_is_neither_a_folder_nor_a_name_never_reaches_the_hub(tiny_hub, tmp_path, base):
    with pytest.raises(UsageError, match="name a folder, or a base on the hub"):
        find_base(settings_of(tmp_path, base), ("read:3",))
    assert tiny_hub.asked == []
