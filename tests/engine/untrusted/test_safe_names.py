"""Names from outside, and what may be deleted under them."""

import random

import pytest

from engine.untrusted.plain_files import (
    delete_hidden,
    folder_of,
    is_download,
    is_plain_name,
    model_name,
)


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "model.safetensors",
        "model-00001-of-00002.safetensors",
        "Qwen2.5",
        "a_b",
        "console.json",
    ],
)
def test_a_plain_name_is_one(name):
    assert is_plain_name(name, 64)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".hidden", "-x", "a/b", "/a", "..\\x.json", "a\\b", "C:x.json", "x:y", "x.",
     "x ", "~", "a\0", "a\n", "x\u202ejson", "é", "３", "con", "CON.json", "nul.tar.gz", "com1",
     "Lpt9.txt", "a" * 65],
)  # fmt: skip
def test_what_leads_elsewhere_on_some_system_is_no_plain_name(name):
    assert not is_plain_name(name, 64)


def test_no_plain_name_holds_anything_but_letters_digits_and_three_marks():
    rng = random.Random(0)
    for _ in range(3000):
        name = "".join(rng.choice("aZ9._-/\\: \0é~") for _ in range(rng.randint(1, 5)))
        if is_plain_name(name, 64):
            assert set(name) <= set("aZ9._-")
            assert name[0].isalnum()
            assert name[-1].isalnum()


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        (folder_of("facebook/m2m100_418M"), "facebook/m2m100_418M"),
        (f"models--some--opus-mt-en-de/snapshots/{'a' * 40}", "some/opus-mt-en-de"),
        ("mine", "mine"),
        ("snapshots/mine", "mine"),
        ("a--b--c", "a--b--c"),
        ("-- b", "-- b"),
    ],
)
def test_a_model_is_named_as_on_the_hub_if_its_folder_says_so(tmp_path, folder, name):
    assert model_name(tmp_path / folder) == name
    link = tmp_path / "link"
    link.symlink_to(tmp_path / folder)
    assert model_name(link) == name


def test_a_hidden_folder_right_at_home_is_deleted_with_all_in_it(tmp_path):
    folder = tmp_path / ".mine.new"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").touch()
    delete_hidden(folder, tmp_path)
    assert list(tmp_path.iterdir()) == []
    delete_hidden(folder, tmp_path)  # what is gone is gone


@pytest.mark.parametrize(
    "path", ["mine", ".", "..", ".a/b", ".a/.b", "../.mine", ".a/../.b", ".a/..", "..x", ".a b"]
)
def test_nothing_else_is_ever_deleted(tmp_path, path):
    home = tmp_path / "home"
    for name in ("mine", ".a/b", ".a/.b", ".b", "..x", ".a b", "../.mine"):
        (home / name).mkdir(parents=True)
        (home / name / "kept").touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match="only a hidden folder right in"):
        delete_hidden(home / path, home)
    assert sorted(tmp_path.rglob("*")) == before


def test_of_a_link_the_link_alone_is_deleted(tmp_path):
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    (other / "kept").touch()
    link = home / ".mine.old"
    link.symlink_to(other)
    delete_hidden(link, home)
    assert not link.is_symlink()
    assert (other / "kept").exists()


def test_a_download_is_called_as_on_the_hub_and_is_in_the_library_and_no_link(tmp_path):
    library, name = tmp_path / "models", folder_of("owner/name")
    for folder in (library / name, library / "my-own-model", tmp_path / name):
        folder.mkdir(parents=True)
        assert is_download(folder, library) is (folder == library / name)
    (library / "owner--other").symlink_to(tmp_path / name)
    assert not is_download(library / "owner--other", library)
