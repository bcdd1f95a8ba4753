import errno
import io
import random
import sys

import pytest

from app.config.text_io import (
    LineReader,
    LineWriter,
    ReaderGoneError,
    TextError,
    check_text,
    printable,
    progress_line,
    send,
)


def test_a_line_is_written_over_when_it_changes_and_ended_if_there_was_one(capsys, monkeypatch):
    with progress_line() as show:
        for text in ("1 %", "1 %", "2 %"):
            show(text)
    assert capsys.readouterr().err == "\rsurtitle: 1 %\rsurtitle: 2 %\n"
    with progress_line():
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", None)
    with progress_line() as show:
        show("nobody sees it")


def read(content):
    reader = LineReader(io.BytesIO(content), "it")
    return list(reader), (reader.n_broken, reader.first_broken)


def test_only_a_line_feed_ends_a_line_and_no_control_character_comes_through():
    lines, broken = read("a\u2028b\r\nc\x1b[2Jd\x85e\n\nlast".encode())
    assert lines == ["a b  ", "c[2Jd e ", " ", "last"]
    assert broken == (0, 0)
    for mark in "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\r":
        assert read(f"a{mark}b".encode())[0] == ["a b"]


def test_the_mark_of_some_editors_is_removed_from_the_first_line_only():
    mark = b"\xef\xbb\xbf"
    assert read(mark + b"a\n" + mark + b"b")[0] == ["a ", "\ufeffb"]


def test_lines_that_are_no_utf8_are_counted_and_the_first_is_named():
    lines, broken = read(b"a\n\xff\nb\n\xfe c\n")
    assert lines == ["a ", "\ufffd ", "b ", "\ufffd c "]
    assert broken == (2, 2)


class Failing(io.BytesIO):
    def __init__(self, code):
        super().__init__()
        self.code = code

    def readline(self):
        raise OSError(self.code, "Input/output error")

    def write(self, _content):
        if self.code == errno.EPIPE:
            raise BrokenPipeError(self.code, "Broken pipe")
        raise OSError(self.code, "No space left on device")


def test_a_disk_that_fails_is_a_sentence_with_the_name_of_the_input():
    with pytest.raises(TextError, match=r"^it cannot be read any further: Input/output error"):
        list(LineReader(Failing(errno.EIO), "it"))


def test_a_full_disk_and_a_reader_that_went_are_told_apart():
    with pytest.raises(TextError, match="No space left on device; make room") as caught:
        send(Failing(errno.ENOSPC), "a")
    assert not isinstance(caught.value, ReaderGoneError)
    with pytest.raises(ReaderGoneError):
        send(Failing(errno.EPIPE), "a")


@pytest.mark.parametrize("size", [1_000, 3_000_000])
def test_a_line_of_any_length_is_written_in_time_that_grows_with_it_alone(size):
    text = "ab cd" * 600_000  # with the square of it, that would be many minutes
    out = io.BytesIO()
    writer = LineWriter(out)
    for start in range(0, len(text), size):
        writer.write(text[start : start + size])
    writer.end_line()
    assert out.getvalue().decode() == text + "\n"


@pytest.mark.parametrize("live", [False, True])
def test_a_line_has_single_blanks_however_it_is_cut(live):
    rng = random.Random(0)
    for _ in range(300):
        text = "".join(rng.choice("ab  \t") for _ in range(rng.randrange(20)))
        cuts = sorted(rng.randrange(len(text) + 1) for _ in range(3))
        stream = io.BytesIO()
        writer = LineWriter(stream, live=live)
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            writer.write(text[start:end])
        writer.end_line()
        assert stream.getvalue().decode() == " ".join(text.split()) + "\n"


def test_each_piece_is_seen_at_once_only_where_it_is_live():
    for live, seen in ((True, b"Guten"), (False, b"")):
        stream = io.BytesIO()
        writer = LineWriter(io.BufferedWriter(stream), live=live)
        writer.write("Guten ")
        assert stream.getvalue() == seen
        writer.write("Morgen")
        writer.end_line()
        writer.write("Es")
        writer.end_line()
        assert stream.getvalue() == b"Guten Morgen\nEs\n"


def test_what_is_shown_in_a_terminal_cannot_steer_it():
    assert printable("a\x1b[31mb\nc\u2029d\x07") == "a\ufffd[31mb c d\ufffd"
    text = "".join(map(chr, range(0xA1))) + "é🙂\u200f\u05e9"
    shown = printable(text)
    assert len(shown) == len(text)
    assert set(shown) <= {*map(chr, range(0x20, 0x7F)), *"\ufffdé🙂\u200f\u05e9\xa0"}


@pytest.mark.parametrize(
    "content", [b"\x89PNG\0", "a".encode("utf-16"), b"\xff", b"abc\xc3", b"a" * 65_535 + b"\xc3"]
)
def test_what_is_no_text_is_refused_by_name(tmp_path, content):
    (tmp_path / "it.txt").write_bytes(content)
    with pytest.raises(TextError, match=r"it\.txt has other bytes"):
        check_text(tmp_path / "it.txt")


def test_text_of_any_length_is_text_also_where_a_letter_is_cut_by_a_read(tmp_path):
    (tmp_path / "it.txt").write_text("a" + "ü" * 70_000, "utf-8")
    check_text(tmp_path / "it.txt")
    check_text(tmp_path)  # no regular file: it is left to whoever reads it
