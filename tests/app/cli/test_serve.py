import argparse
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.__main__ import main
from app.cli.exit_codes import UsageError
from app.cli.server_options import add_server_options, server_settings
from app.config.text_io import TextError
from engine.translation.captioner import Change
from tests.support.network.house_server import TOKEN, house_server, tiny_model

ROOT = Path(__file__).parents[3]


def said(capfdbinary, *words):
    code = main(list(words))
    captured = capfdbinary.readouterr()
    return code, captured.out.decode(), captured.err.decode()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--host", "0.0.0.0"], "name a --token-file, so that not all may ask"),
        (["--host", "0.0.0.0", "--token-file", "{}/tokens"], "name a --certificate"),
        (["--certificate", "c.pem"], "--certificate and --key belong together"),
        (["--clients", "0"], "--clients is a number from 1 to 1000, got 0"),
        (["--replicas", "2"], "--replicas are copies that Ray runs: add --ray"),
        (["--port", "70000"], "from 0 (any that is free) to 65535, got 70000"),
    ],
)
def test_nothing_is_served_that_others_could_misuse(words, sentence, tmp_path, capfdbinary):
    code, _, told = said(capfdbinary, "serve", *(word.format(tmp_path) for word in words))
    assert code == 2
    assert sentence in told


def test_without_ray_its_name_and_how_to_install_it_are_told(monkeypatch, capfdbinary):
    monkeypatch.setattr("app.cli.serve.importlib.util.find_spec", lambda _: None)
    code, _, told = said(capfdbinary, "serve", "--ray")
    assert code == 1
    assert told == (
        "surtitle serve: --ray needs Ray, which is not installed: "
        "pip install 'surtitle[serve-ray]'\n"
    )


@pytest.mark.parametrize(
    ("words", "wanted", "how"),
    [
        ([], None, ""),
        (["--ray", "--replicas=1"], (1, 1), "in 1 copy each "),
        (["--ray"], (1, 2), "in 1-2 copies each "),
    ],
)
def test_it_serves_a_converted_model_until_a_signal_ends_it(
    words, wanted, how, plain_model, monkeypatch
):
    done, told = [], []
    server = SimpleNamespace(address="http://house", close=lambda: done.append("closed"))
    stopped = SimpleNamespace(has_stopped=True)

    @contextlib.contextmanager
    def by_ray(settings, _model, replicas, _folder):
        done.append((settings.port > 0, replicas.fewest, replicas.most))
        yield server.address

    def tell(_command, sentence):
        told.append(sentence)
        if "Ctrl+C ends it" in sentence:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("app.cli.serve.check_ray", lambda: None)
    monkeypatch.setattr("app.cli.serve.convert_first", lambda _model: done.append("converted"))
    monkeypatch.setattr("app.cli.serve.tell", tell)
    monkeypatch.setattr("app.serving.ray_replicas.prepare_ray", lambda *_: None)
    monkeypatch.setattr("app.serving.ray_replicas.served_by_ray", by_ray)
    monkeypatch.setattr("app.serving.server.TranslationServer", lambda *_: server)
    monkeypatch.setattr("engine.session.conversations.Conversations", lambda *_: stopped)
    before = signal.getsignal(signal.SIGTERM)
    assert main(["serve", "--model", str(plain_model), "--device", "cpu", "--port=0", *words]) == 0
    assert signal.getsignal(signal.SIGTERM) is before
    assert done == ["converted", (True, *wanted) if wanted else "closed"]
    assert told[-3].startswith(f"tiny translates at http://house, {how}for up to")
    assert "without a --token-file" in told[-2]
    assert told[-1] == "what was asked is answered, then it ends"


OTHER = "another token, which is long"
STILL_COMPUTING = """
import signal, sys, threading
import app.serving.server as server
from app.__main__ import main
from engine.runtime.causal_model import Together

server.LAST_ANSWERS_S = 0.01
begun = threading.Event()


def for_ever(together):
    asked = dict(together._asked)
    begun.set()
    while True:
        together._store.feed([asked[lane] for lane in sorted(asked)])
        for one in asked.values():
            together._store.book.truncate(one.lane, 0)


def start(conversations):
    from engine.remote.wire import Asked, opening
    from engine.settings import TranslationSettings

    usual(conversations)
    Together.compute = for_ever
    asked = Asked(session="one", number=1, words=("a",), ended=True)
    conversations.open(
        "", opening("one", TranslationSettings()), lambda _: conversations.ask("", asked, print)
    )
    begun.wait()
    signal.raise_signal(signal.SIGTERM)


from engine.session.conversations import Conversations
usual, Conversations.start = Conversations.start, start
sys.exit(main(["serve", "--port=0", "--device=cpu", "--model", sys.argv[1]]))
"""


@pytest.mark.slow
def test_a_server_that_is_stopped_while_it_computes_ends_without_a_crash(plain_model):
    command = [sys.executable, "-c", STILL_COMPUTING, str(plain_model)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=500, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr.splitlines()[3:]) == (0, []), done.stderr


@pytest.mark.parametrize("replicas", ["0", "3-2", "2-", "x", "1001", "-1", "1-2-3"])
def test_a_number_of_replicas_that_is_none_is_refused(replicas, monkeypatch, capfdbinary):
    monkeypatch.setattr("app.cli.serve.check_ray", lambda: None)
    code, _, told = said(capfdbinary, "serve", "--ray", f"--replicas={replicas}")
    assert code == 2
    assert f"or two, as 2-8, got '{replicas}'" in told


@pytest.mark.parametrize("token", ["secret", "a" * 20, "ab12" * 10])
def test_a_token_that_could_be_guessed_is_refused(token, tmp_path, capfdbinary):
    (tmp_path / "tokens").write_text(f"{token}\n")
    code, _, told = said(capfdbinary, "serve", "--token-file", str(tmp_path / "tokens"))
    assert code == 1
    assert "should be 20 to 200 letters and digits" in told


def test_a_file_of_tokens_that_others_can_read_is_warned_of(tmp_path, caplog):
    from app.serving.server import read_tokens  # noqa: PLC0415  as below

    path = tmp_path / "tokens"
    read_tokens(path)
    assert caplog.records == []
    path.chmod(0o644)
    read_tokens(path)
    assert f"others can read the tokens in {path}" in caplog.text


def test_a_file_of_tokens_is_made_with_a_random_one_that_only_its_owner_reads(tmp_path):
    from app.serving.server import Tokens, read_tokens  # noqa: PLC0415  beside what it is about

    path = tmp_path / "tokens"
    (token,) = read_tokens(path)
    assert len(token) == 32
    assert path.stat().st_mode & 0o077 == 0
    assert read_tokens(path) == (token,)
    path.write_text(f"# of the office\n{token}\n\n{OTHER}\n")
    tokens = Tokens(read_tokens(path))
    assert tokens.whose(f"Bearer {token}") != tokens.whose(f"bearer {OTHER}")
    assert tokens.whose(f"Basic {token}") is None


def test_a_text_that_a_server_translates_is_the_one_translated_here(
    plain_model, tmp_path, capfdbinary
):
    text = tmp_path / "text"
    text.write_text("abc de fa. gab\nhad cab\n\nface 12 ab.\n")
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    here = said(capfdbinary, "translate", str(text), "--model", str(plain_model), "--device", "cpu")
    with house_server(tiny_model(tmp_path / "served")) as (_, server):
        names = ["--server", server.address, "--server-token-file", str(tmp_path / "token")]
        there = said(capfdbinary, "translate", str(text), *names)
        live = said(capfdbinary, "translate", str(text), "--live", *names)
        refused = said(capfdbinary, "translate", str(text), "--to", "xx", *names)
        wrong = said(capfdbinary, "translate", str(text), "--server", server.address)
    assert there[:2] == here[:2] == live[:2]
    assert here[0] == 0
    assert refused[0] == wrong[0] == 1
    assert "translates to" in refused[2]
    assert "does not know this token" in wrong[2]


def test_a_live_caption_that_another_model_writes_otherwise_begins_once_more_and_that_is_told(
    plain_model, tmp_path, monkeypatch, capfdbinary
):
    text = tmp_path / "text"
    text.write_text("abc de.\n")
    changes = [
        Change(0, "Guten", 1),
        Change(5, " Mor", 2),
        Change(0, "Dzien", 2),
        Change(5, ".", 2),
    ]
    monkeypatch.setattr("app.cli.translate.feed_sentence", lambda *_, **__: [iter(changes)])
    words = ["translate", str(text), "--live", "--model", str(plain_model), "--device", "cpu"]
    code, out, told = said(capfdbinary, *words)
    assert (code, out) == (0, "Guten Mor Dzien.\n")
    assert told.count("begins once more on the same line") == 1


def test_the_window_and_the_commands_import_nothing_of_a_server():
    code = (
        "import sys; import app.__main__, app.controllers.startup, engine.session.loaded_model;"
        "served = 'app.serving', 'engine.remote', 'engine.session.conversations', 'ray';"
        "print([one for one in sys.modules if one.startswith(served)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=500
    )
    assert done.stdout == "[]\n"


SERVER = "https://office-pc:8443"


def parsed(*arguments, **others):
    parser = argparse.ArgumentParser()
    add_server_options(parser)
    unsaid = {"model": None, "adapter": None, "quantize": "auto", "slot": None, "system": "auto",
              "log": None}  # fmt: skip
    return parser.parse_args(list(map(str, arguments)), argparse.Namespace(**unsaid | others))


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
    assert server_settings(parsed()) is None, "this computer translates"


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
