import argparse

import pytest

from app.cli.exit_codes import UsageError
from app.cli.server_options import add_server_options, server_settings
from app.config.text_io import TextError

SERVER = "https://office-pc:8443"


def parsed(*arguments, **others):
    parser = argparse.ArgumentParser()
    add_server_options(parser)
    unsaid = {"model": None, "adapter": None, "quantize": "auto", "slot": None, "system": "auto",
              "log": None}  # fmt: skip
    return parser.parse_args(list(map(str, arguments)), argparse.Namespace(**unsaid | others))


def test_without_a_server_this_computer_translates():
    assert server_settings(parsed()) is None


def test_address_token_and_certificate_are_read(tmp_path):
    token = tmp_path / "token"
    token.write_text("# of the office\n\n  let-me-in \nanother\n")
    made = server_settings(
        parsed(
            "--server",
            SERVER,
            "--server-token-file",
            token,
            "--server-certificate",
            tmp_path / "cert.pem",
        )
    )
    assert made.address == SERVER
    assert made.token == "let-me-in"
    assert made.certificate == tmp_path / "cert.pem"
    assert server_settings(parsed("--server", SERVER)).token == ""


@pytest.mark.parametrize("option", ["--server-token-file", "--server-certificate"])
def test_what_is_for_a_server_needs_one(option):
    with pytest.raises(UsageError, match="add --server"):
        server_settings(parsed(option, "file"))


@pytest.mark.parametrize("name", ["model", "adapter", "quantize", "slot", "system", "log"])
def test_what_is_for_a_model_of_this_computer_is_refused_beside_a_server(name):
    with pytest.raises(UsageError, match=f"leave --{name} or --server out"):
        server_settings(parsed("--server", SERVER, **{name: "something"}))


def test_a_token_that_cannot_be_read_is_a_sentence(tmp_path):
    for content in (None, b"\xff"):
        if content is not None:
            (tmp_path / "token").write_bytes(content)
        with pytest.raises(TextError, match=r"token in .* cannot be read"):
            server_settings(parsed("--server", SERVER, "--server-token-file", tmp_path / "token"))
