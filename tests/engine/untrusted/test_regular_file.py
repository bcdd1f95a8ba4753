"""Test that only plain files are opened, and that nothing blocks or stays open."""

import hashlib
import os
from pathlib import Path

import pytest

from engine.untrusted.plain_files import append_plain, file_sha256, open_plain


@pytest.fixture
def no_files(tmp_path):
    """A pipe that nobody reads, one that somebody does, and a folder."""
    pipe, read = tmp_path / "pipe", tmp_path / "read"
    for path in (pipe, read):
        os.mkfifo(path)
    reader = os.open(read, os.O_RDONLY | os.O_NONBLOCK)
    yield [pipe, read, tmp_path]
    os.close(reader)


def test_what_is_no_plain_file_is_refused_and_leaves_nothing_open(no_files, tmp_path, monkeypatch):
    n_open = len(list(Path("/proc/self/fd").iterdir()))
    plain = tmp_path / "plain"
    plain.touch()
    for path in no_files:
        for open_ in (open_plain, append_plain, file_sha256):
            with pytest.raises(OSError, match=f"plain file.*{path}"):
                open_(path)
    usual = plain.stat()
    monkeypatch.setattr(Path, "stat", lambda _self, **_: usual)  # as if it came a moment later
    for path in no_files:
        with pytest.raises(OSError, match=str(path)):
            append_plain(path)
    assert len(list(Path("/proc/self/fd").iterdir())) == n_open


def test_a_file_is_made_for_its_owner_and_appended_to_also_behind_a_link(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(file)
    for path, follow in ((file, False), (file, True), (link, True)):
        with os.fdopen(append_plain(path, follow=follow), "w") as opened:
            opened.write("line\n")
    with pytest.raises(OSError, match=str(link)):
        append_plain(link, follow=False)
    with open_plain(link) as opened:
        assert opened.read() == b"line\n" * 3
    assert file_sha256(link) == hashlib.sha256(b"line\n" * 3).hexdigest()
    assert file.stat().st_mode & 0o777 == 0o600
