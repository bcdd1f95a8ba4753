import errno
import shutil
from functools import partial
from pathlib import Path

import pytest

from engine.errors import AdapterError
from engine.models.adapters.adapter import Status, inspect_adapter
from engine.models.adapters.library import AdapterLibrary
from tests.support.adapter_folders import BASE, tiny_card, write_adapter
from tests.support.strangers import refused

FILES = ["adapter_config.json", "adapter_model.safetensors", "surtitle.json"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return write_adapter(tmp_path_factory.mktemp("adapter") / "tiny-en-de")


@pytest.fixture
def source(whole, tmp_path):
    """A copy outside the library, which a test may damage."""
    return Path(shutil.copytree(whole, tmp_path / "tiny-en-de"))


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home" / "adapters"


@pytest.fixture
def library(home):
    return AdapterLibrary(home)


def contents(folder):
    """All files below a folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}  # fmt: skip


def names(library):
    return [shelved.name for shelved in library.adapters()]


refusal = partial(refused, AdapterError)


def test_an_adapter_is_copied_under_the_name_of_its_folder_if_any_system_takes_that(
    library, home, source
):
    odd = source.with_name("my adapter: ü")
    shutil.copytree(source, odd)
    assert library.add(odd).name == "tiny-en-de"  # that of its card
    library.remove("tiny-en-de")
    mine = source.with_name("my-adapter")
    shutil.copytree(source, mine)
    assert library.add(mine).name == "my-adapter"
    library.remove("my-adapter")
    adapter = library.add(source)
    assert (adapter.folder, adapter.status) == (home / "tiny-en-de", Status.OK)
    assert contents(home / "tiny-en-de") == contents(source)
    assert names(library) == ["tiny-en-de"]
    assert library.find("tiny-en-de").folder == adapter.folder


@pytest.mark.parametrize("name", FILES)
def test_one_of_its_files_stands_for_the_folder(library, source, name):
    assert library.add(source / name).folder.name == "tiny-en-de"


def test_what_does_not_belong_to_an_adapter_stays_behind(library, source, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (source / "README.md").write_text("Made by us.")
    (source / "LICENSE").symlink_to(tmp_path / "secret")
    (source / "NOTICE").write_bytes(bytes((1 << 20) + 1))
    (source / "optimizer.pt").write_bytes(b"pickle")
    (source / "checkpoint-100").mkdir()
    folder = library.add(source).folder
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "README.md"])


def test_a_stranger_keeps_the_name_of_its_folder_and_stays_unknown(library, tmp_path):
    stranger = write_adapter(tmp_path / "stranger", card=False)
    adapter = library.add(stranger)
    assert (adapter.folder.name, adapter.status) == ("stranger", Status.UNKNOWN)
    odd = write_adapter(tmp_path / "odd name", card=False)
    assert "cannot be called 'odd name': choose" in refusal(library.add, odd)
    assert library.add(odd, name="odd").folder.name == "odd"


@pytest.mark.parametrize("name", ["..", "/tmp/x", ".hidden"])
def test_a_name_that_is_a_path_is_refused(library, source, home, name):
    assert "cannot be called" in refusal(library.add, source, name=name)
    assert "cannot be called" in refusal(library.remove, name)
    assert not home.exists()


def test_an_adapter_whose_weights_were_changed_is_not_added(library, home, source):
    path = source / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert "was changed or damaged" in refusal(library.add, source)
    assert contents(home) == {}


def test_a_link_where_a_killed_run_left_a_folder_is_not_followed(library, home, source, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    library.add(source)
    for purpose in ("new", "removed"):
        (home / f".tiny-en-de.{purpose}").symlink_to(elsewhere)
    library.add(source, replace=True)
    library.remove("tiny-en-de")
    assert contents(elsewhere) == {"kept": b""}
    assert list(home.iterdir()) == []


def test_nothing_is_replaced_unasked(library, home, source, tmp_path):
    library.add(source)
    before = contents(home)
    other = write_adapter(tmp_path / "2" / "tiny-en-de", card=tiny_card(slot_length=8))
    assert "there is an adapter 'tiny-en-de' already" in refusal(library.add, other)
    assert contents(home) == before
    assert library.add(other, replace=True).card.slot_length == 8
    assert contents(home / "tiny-en-de") == contents(other)
    assert [path.name for path in home.iterdir()] == ["tiny-en-de"]


@pytest.mark.parametrize("n_renames", [0, 1])
def test_a_step_that_fails_leaves_the_old_adapter(library, home, source, monkeypatch, n_renames):
    library.add(source)
    before, rename, n_done = contents(home), Path.rename, 0

    def failing(path, target):
        nonlocal n_done
        n_done += 1
        if n_done == n_renames + 1:
            raise OSError(errno.EACCES, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    assert "Permission denied" in refusal(library.add, source, replace=True)
    assert contents(home) == before


def test_what_a_killed_run_left_is_put_back_or_thrown_away(library, home, source):
    folder = library.add(source).folder
    whole = contents(folder)
    folder.rename(home / ".tiny-en-de.old")  # killed between the two steps of a replacement
    (home / ".tiny-en-de.new").mkdir()
    (home / ".tiny-en-de.new" / "adapter_config.json").write_text("{")
    assert names(library) == ["tiny-en-de"]
    assert contents(folder) == whole
    (home / ".tiny-en-de.old").mkdir()  # killed while the old one was deleted
    library.add(source, replace=True)
    library.remove("tiny-en-de")
    assert contents(home) == {}


def test_an_adapter_that_was_added_can_be_removed(library, source):
    library.add(source)
    library.add(source, name="again")
    library.remove("tiny-en-de")
    assert names(library) == ["again"]
    assert "there is no adapter 'tiny-en-de'" in refusal(library.remove, "tiny-en-de")
    assert source.is_dir()


def test_what_comes_with_the_program_stays(home, source, whole):
    library = AdapterLibrary(home, [whole])
    assert [(it.name, it.bundled) for it in library.adapters()] == [("tiny-en-de", True)]
    assert "comes with the program and cannot" in refusal(library.remove, "tiny-en-de")
    assert "under another name" in refusal(library.add, source)
    library.add(source, name="mine")
    assert [(it.name, it.bundled) for it in library.adapters()] == [
        ("tiny-en-de", True),
        ("mine", False),
    ]
    assert whole.is_dir()


def test_an_adapter_that_was_damaged_in_the_library_is_listed_and_can_be_removed(
    library, home, source
):
    folder = library.add(source).folder
    (folder / "surtitle.json").write_text("{")
    assert inspect_adapter(library.find("tiny-en-de").folder, BASE).status is Status.BLOCKED
    library.remove("tiny-en-de")
    assert contents(home) == {}
