import contextlib
import json
import stat

import pytest

from engine.session.session import Session
from engine.settings import ServerSettings
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.whole_program import cells
from tests.support.network.house_server import TOKEN, house_server, tiny_model

AWAY = "cannot be reached"


class HouseEngine(FakeEngine):
    """Translates by shouting on this computer, and really by a server."""

    def make(self, model, translation, report):
        if isinstance(model, ServerSettings):
            self.sessions.append(Session(model, translation, report))
            return self.sessions[-1]
        return super().make(model, translation, report)


@pytest.fixture(scope="module")
def italian(tmp_path_factory):
    """A model that knows no language that the desktop has."""
    settings = tiny_model(tmp_path_factory.mktemp("italian"))
    path = settings.directory / "surtitle.json"
    card = json.loads(path.read_text("utf-8"))
    card["languages"] = {"it": next(iter(card["languages"].values())) | {"name": "Italian"}}
    path.write_text(json.dumps(card), "utf-8")
    return settings


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch):
    monkeypatch.setattr("app.config.settings_in_force.PATIENCE_S", 0.2)
    monkeypatch.setattr("app.controllers.setup_controller.RETRY_MS", 50)


@pytest.fixture
def desktop(program):
    def make(**settings):
        one = program(HouseEngine(), **settings)
        return one.open().wait_until_ready()

    return make


def fill_in(one, server, token=TOKEN):
    """Name a server in the dialog, as a person would."""
    other = next(action for action in one.window.choices.computer.actions()[::-1] if action.text())
    other.trigger()
    dialog = one.application.server.dialog
    dialog.address.setText(server.address)
    dialog.token.setText(token)
    dialog.use.click()
    return dialog


def name(server):
    return server.address.partition("://")[2]


def state(one):
    return one.window.status.server.text() if one.window.status.server.isVisible() else ""


def on_server(one, server):
    fill_in(one, server)
    one.wait(lambda: state(one) == f"Computed on {name(server)}")
    return one


def told(one):
    banner = one.window.banner
    return banner.sentence.text() if banner.isVisible() else ""


def cues(one):
    return [(cue.source, cue.text) for cue in one.cues]


def test_a_server_that_is_named_in_the_dialog_translates_and_is_stored(
    desktop, far_model, tmp_path
):
    with house_server(far_model) as (_, server):
        one = desktop()
        assert state(one) == ""
        dialog = fill_in(one, server)
        one.wait(lambda: state(one) == f"Computed on {name(server)}")
        assert dialog.isHidden()
        assert one.window.choices.computer.value == server.address
        one.say("abc def.")
        one.wait(lambda: len(cues(one)) == 1)
        assert cues(one)[0][1] != "ABC DEF.", "this computer shouts"
        stored = one.stored()["server"]
        assert (stored["in_use"], stored["address"]) == (True, server.address)
        token = tmp_path / "server-token"
        assert token.read_text() == f"{TOKEN}\n"
        assert stat.S_IMODE(token.stat().st_mode) == 0o600
        assert TOKEN not in one.file.read_text()
        one.window.close()


def test_the_next_start_asks_the_stored_server_at_once(desktop, far_model):
    with house_server(far_model) as (_, server):
        on_server(desktop(), server).window.close()
        again = desktop(model=None)
        again.wait(lambda: state(again) == f"Computed on {name(server)}")
        assert not again.engine.models, "no model of this computer was loaded"
        again.window.close()


def test_what_a_server_refuses_stands_in_the_dialog_and_the_model_in_use_stays(desktop, far_model):
    with house_server(far_model) as (_, server):
        one = desktop()
        dialog = fill_in(one, ServerSettings(address="localhost:99999"))
        one.wait(lambda: "https://NAME:PORT" in dialog.message.text())
        fill_in(one, server, token="a wrong token, as long as it")
        one.wait(lambda: "does not know this token" in dialog.message.text())
        assert dialog.isVisible()
        assert state(one) == ""
        assert one.window.choices.computer.value == ""
        one.say("abc.")
        one.wait(lambda: cues(one) == [("abc.", "ABC.")])
        dialog.token.setText(TOKEN)
        dialog.use.click()
        one.wait(lambda: state(one) == f"Computed on {name(server)}")
        assert dialog.isHidden()
        one.window.close()


def test_captions_go_on_where_they_stood_when_the_computer_changes_in_a_sentence(
    desktop, far_model
):
    with house_server(far_model) as (_, server):
        one = desktop()
        one.say("abc def.")
        one.type("gha bed ")
        one.wait(lambda: cells(one.window.transcript)[-1:] == [("gha bed", "GHA BED")])
        on_server(one, server)
        one.type("cab ")
        one.wait(lambda: cells(one.window.transcript)[-1][0] == "gha bed cab")
        one.window.choices.computer.pick("")
        one.wait(lambda: state(one) == "")
        one.say("fed.")
        one.wait(lambda: len(cues(one)) == 2)
        assert cues(one) == [("abc def.", "ABC DEF."), ("gha bed cab fed.", "GHA BED CAB FED.")]
        assert one.window.choices.computer.value == ""
        assert one.stored()["server"]["in_use"] is False
        one.window.close()


def test_a_server_that_goes_away_is_told_and_all_that_waited_is_translated_when_it_is_back(
    desktop, far_model
):
    said = ["abc def gab.", "bed cab dad.", "hab gef fed.", "ace bad."]
    with contextlib.ExitStack() as opened:
        first, server = opened.enter_context(house_server(far_model))
        port = int(server.address.rpartition(":")[2])
        one = on_server(desktop(), server)
        one.say(said[0])
        one.wait(lambda: len(cues(one)) == 1)
        before = cues(one)
        first.close()
        one.say(said[1])
        one.say(said[2])
        one.wait(lambda: state(one) == f"Waiting for {name(server)}")
        assert AWAY in told(one)
        assert one.window.banner.back.text() == "T&ranslate on this computer"
        opened.enter_context(house_server(far_model, port=port))
        one.wait(lambda: state(one) == f"Computed on {name(server)}")
        one.say(said[3])
        one.wait(lambda: len(cues(one)) == 4)
        assert cues(one)[:1] == before
        assert all(caption not in ("", source) for source, caption in cues(one))
        assert [source for source, _ in cues(one)] == said
        assert [source for source, _ in cells(one.window.transcript)] == said
        assert told(one) == ""
        one.window.close()


def test_this_computer_takes_over_at_once_from_a_server_that_went_away(desktop, far_model):
    with house_server(far_model) as (running, server):
        one = on_server(desktop(), server)
        running.close()
        one.type("abc def ")
        one.wait(lambda: state(one) == f"Waiting for {name(server)}")
        one.window.banner.back.click()
        one.wait(lambda: state(one) == "")
        one.say("gab.")
        one.wait(lambda: cues(one) == [("abc def gab.", "ABC DEF GAB.")])
        assert AWAY not in told(one)
        one.window.close()


def test_a_stored_server_that_does_not_answer_is_waited_for_with_all_words(
    program, desktop, far_model
):
    with house_server(far_model) as (running, server):
        on_server(desktop(), server).window.close()
        running.close()
        one = program(HouseEngine(), model=None).open()
        one.wait(lambda: "cannot be reached" in told(one))
        assert state(one) == f"Waiting for {name(server)}"
        assert one.window.banner.back.text() == "T&ranslate on this computer"
        one.say("abc def.")
        with house_server(far_model, port=int(server.address.rpartition(":")[2])):
            one.wait(lambda: state(one) == f"Computed on {name(server)}")
            one.wait(lambda: [source for source, _ in cues(one)] == ["abc def."])
            assert told(one) == ""
            one.window.close()


def test_a_server_of_another_language_captions_in_that_and_says_so(desktop, italian):
    with house_server(italian) as (_, server):
        one = on_server(desktop(), server)
        assert "does not know the language German; the captions are in Italian" in told(one)
        assert one.window.choices.language.value == "it"
        assert one.window.choices.summary == "English → Italian"
        one.say("abc def.")
        one.wait(lambda: len(cues(one)) == 1)
        assert one.cues[0].language == "it"
        one.window.choices.computer.pick("")
        one.wait(lambda: state(one) == "")
        one.wait(lambda: one.window.choices.language.value == "de")
        one.window.close()


def test_with_a_server_nothing_is_offered_that_only_this_computer_has(desktop, far_model):
    with house_server(far_model) as (_, server):
        one = on_server(desktop(model=None), server)
        offered = {code for _, code in one.window.choices.language.entries}
        assert offered == {"de", "fr"}
        assert not one.window.choices.purpose.menuAction().isVisible()
        one.window.choices.language.pick("fr")
        one.say("abc.")
        one.wait(lambda: len(cues(one)) == 1)
        assert one.cues[0].language == "fr"
        one.window.close()


def test_without_a_model_here_the_models_are_shown_before_the_server_is_left(
    desktop, far_model, monkeypatch
):
    with house_server(far_model) as (_, server):
        one = on_server(desktop(), server)
        monkeypatch.setattr(
            one.application.settings.launch.model.__class__, "is_dir", lambda _: False
        )
        opened = []
        monkeypatch.setattr(one.application.setup, "open_models", lambda: opened.append(1))
        one.window.choices.computer.pick("")
        assert opened == [1]
        assert one.window.choices.computer.value == server.address
        monkeypatch.undo()
        one.window.close()
