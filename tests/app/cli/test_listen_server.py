"""``surtitle listen --server``: sound is heard here by the small ear, a real server translates."""

import contextlib

import pytest

from app.__main__ import main
from engine.remote.service import Service
from tests.support.network.house_server import TOKEN, house_server
from tests.support.sounds import write_sound
from tests.support.spoken import TINY_STREAMING, needs_sherpa, needs_voice
from tests.support.spoken import talk as talk_of_voices


@pytest.fixture
def talk(tmp_path):
    return write_sound(tmp_path / "talk.wav", talk_of_voices(11, 6).samples)


@pytest.fixture
def listen(talk, tmp_path, capsysbinary):
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n")

    def run(*options):
        common = ["listen", "--source", str(talk), "--asr", str(TINY_STREAMING), "--to", "de"]
        exit_code = main([*common, "--policy", "read:2", *map(str, options)])
        out, err = capsysbinary.readouterr()
        assert exit_code == 0, err.decode()
        return out.decode(), err.decode()

    return run, ("--server-token-file", token)


@needs_voice
@needs_sherpa
def test_captions_of_a_server_are_those_of_this_computer_also_if_it_is_replaced_while_one_speaks(
    listen, far_model, monkeypatch
):
    run, token = listen
    alone, _ = run("--model", far_model.directory)
    assert alone.strip()
    asked = []
    with contextlib.ExitStack() as opened:
        first, server = opened.enter_context(house_server(far_model))
        running, port = [first], int(server.address.rpartition(":")[2])
        ask = Service.ask

        def counted(service, request, has_waited):
            asked.append(request)
            if len(asked) in (2, 4):
                running[-1].close()
                running.append(opened.enter_context(house_server(far_model, port=port))[0])
            return ask(service, request, has_waited)

        monkeypatch.setattr(Service, "ask", counted)
        by_server, err = run("--server", server.address, *token)
    assert by_server == alone
    assert "words appear at once" in err, "the sound was heard here"
    assert len(running) == 3
