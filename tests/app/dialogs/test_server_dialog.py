from pathlib import Path

import pytest

from app.config.preferences import MOST_ADDRESS
from app.config.settings_in_force import MOST_TOKEN
from app.dialogs.server_dialog import ServerDialog
from engine.settings import ServerSettings

TOKEN = "a-token-of-36-letters-0123456789abcd"


@pytest.fixture
def dialog(qtbot):
    one = ServerDialog()
    qtbot.addWidget(one)
    one.show()
    one.told = []
    one.wanted.connect(one.told.append)
    return one


def test_a_server_is_filled_in_and_asked_for(dialog, pick):
    assert not dialog.use.isEnabled()
    assert not dialog.message.isVisible()
    dialog.address.setText("  ")
    assert not dialog.use.isEnabled()
    dialog.address.setText(" house:8754 ")
    dialog.token.setText(f" {TOKEN}")
    assert dialog.use.isEnabled()
    dialog.use.click()
    for path in (Path("/there/house.pem"), None):
        asked = pick(path)
        dialog.browse.click()
    assert asked == [("Certificate of the server", "PEM (*.pem *.crt)")] * 2
    dialog.address.setText("http://house:1")
    dialog.use.click()
    certificate = Path("/there/house.pem")
    assert dialog.told == [
        ServerSettings(address="https://house:8754", token=TOKEN, certificate=None),
        ServerSettings(address="http://house:1", token=TOKEN, certificate=certificate),
    ]
    assert dialog.message.text() == "Connecting…"
    assert dialog.message.isVisible()


def test_a_token_that_cannot_be_one_is_told_before_anybody_is_asked(dialog):
    dialog.address.setText("house")
    dialog.token.setText("Schlüssel für alle")
    dialog.use.click()
    assert "letters, digits and signs of English only" in dialog.message.text()
    assert dialog.told == []


def test_the_form_has_the_server_that_is_used_or_nothing(dialog):
    dialog.show_message("it does not answer")
    dialog.show_server(ServerSettings(address="https://a", token=TOKEN, certificate=Path("/c")))
    lines = dialog.address, dialog.token, dialog.certificate
    assert [line.text() for line in lines] == ["https://a", TOKEN, "/c"]
    assert not dialog.message.isVisible()
    assert dialog.use.isEnabled()
    assert dialog.token.displayText() != TOKEN
    dialog.show_server(ServerSettings(address="https://a", token=TOKEN))
    assert dialog.certificate.text() == ""
    for line, most in ((dialog.address, MOST_ADDRESS), (dialog.token, MOST_TOKEN)):
        line.setText("x" * (most + 1))
        assert line.text() == "x" * most
    dialog.show_server(None)
    assert [line.text() for line in lines] == ["", "", ""]
    assert not dialog.use.isEnabled()
