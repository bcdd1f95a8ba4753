import os

import pytest

from engine.files import ByteCount, append_text, bytes_text, replacing, write_file


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        *((0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (13_742_528, "13.7 MB")),
        *((83_900_000, "83.9 MB"), (988_097_824, "988 MB"), (3.1e9, "3.1 GB"), (5e12, "5000.0 GB")),
    ],
)
def test_sizes_are_written_for_people(n_bytes, text):
    assert bytes_text(n_bytes) == text


def test_a_block_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def write_half():
        with replacing(path) as fresh:
            fresh.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("file", "old")]


def test_what_a_crash_left_beside_a_file_does_not_stop_the_next_write(tmp_path):
    path = tmp_path / "file"
    os.mkfifo(tmp_path / "file.new")
    write_file(path, "äé\n")
    assert path.read_bytes() == "äé\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_text_that_does_not_fit_is_taken_back(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("whole\n")
    write, left = os.write, [3]

    def full_disk(file, data):
        if not left[0]:
            raise OSError(28, "No space left on device")
        n_written = write(file, data[: left[0]])
        left[0] -= n_written
        return n_written

    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    monkeypatch.setattr(os, "write", full_disk)
    with pytest.raises(OSError, match="No space"):
        append_text(file, "more than fits\n")
    os.close(file)
    assert path.read_text() == "whole\n"


def test_a_few_bytes_are_written_as_a_size_too():
    assert f"{ByteCount(0)} of {ByteCount(999)}" == "0 B of 999 B"
