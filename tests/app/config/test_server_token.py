import stat

import pytest

from app.config.server_token import MOST_TOKEN, is_token, read_token, write_token


def test_a_token_comes_back_and_only_its_owner_can_read_it(tmp_path):
    path = tmp_path / "folder" / "token"
    assert write_token(path, "let-me-in") is None
    assert read_token(path) == "let-me-in"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert write_token(path, "") is None
    assert read_token(path) == ""


@pytest.mark.parametrize("content", [b"\xff", b"two\nlines", b"a" * (MOST_TOKEN + 1), b"tab\tin"])
def test_what_cannot_be_sent_is_no_token(tmp_path, content):
    (tmp_path / "token").write_bytes(content)
    assert read_token(tmp_path / "token") == ""
    assert read_token(tmp_path / "none") == ""


def test_the_longest_token_may_be_sent_and_no_letter_that_needs_an_encoding(tmp_path):
    (tmp_path / "token").write_text("a" * MOST_TOKEN + "\n", "ascii")
    assert read_token(tmp_path / "token") == "a" * MOST_TOKEN
    assert not is_token("ü")
    assert not is_token("a" * (MOST_TOKEN + 1))


def test_a_token_that_is_there_is_not_written_again(tmp_path):
    path = tmp_path / "token"
    write_token(path, "let-me-in")
    before = path.stat().st_ino
    assert write_token(path, "let-me-in") is None
    assert path.stat().st_ino == before


def test_a_token_that_cannot_be_stored_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    message = write_token(tmp_path / "file" / "token", "let-me-in")
    assert message is not None
    assert str(tmp_path / "file" / "token") in str(message)
