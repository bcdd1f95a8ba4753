"""The original of a converted model is deleted after a question, and never unasked."""

import shutil
from pathlib import Path

import pytest

from app.config.model_choice import ModelChoice
from app.dialogs.setup.tool_dialogs import ModelsDialog
from app.look.widgets.dialog_text import size_text
from engine.runtime.ctranslate2.conversion import ready_folder
from engine.untrusted.safe_names import folder_of
from tests.engine.runtime.ctranslate2.tiny_models import make_encoder_decoder
from tests.support.app.setup_services import parts

pytest.importorskip("ctranslate2")
pytest.importorskip("sentencepiece")

pytestmark = pytest.mark.slow
NAME = "facebook/m2m100_418M"


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    folder = make_encoder_decoder(tmp_path_factory.mktemp("converted") / "m2m100", "m2m100")
    ready_folder(folder, "int8")
    return folder


@pytest.fixture
def dialog(qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    one = ModelsDialog(tmp_path / "models", parts())
    qtbot.addWidget(one)
    yield one
    one.end()


@pytest.fixture
def fetched(converted, tmp_path):
    """The model as it was downloaded and converted."""
    return shutil.copytree(converted, tmp_path / "models" / folder_of(NAME))


def open_for(dialog, model, language="pl"):
    dialog.open_models(ModelChoice(model=model, language=language))
    return dialog.delete


def answer(button, choice):
    button.click()
    choice.click()


def test_the_files_that_a_downloaded_model_was_made_from_are_deleted_when_confirmed(
    qtbot, dialog, fetched
):
    size = (fetched / "model.safetensors").stat().st_size
    button = open_for(dialog, Path(NAME))
    assert button.isVisible()
    (keep,) = {*button.question.buttons()} - {button.delete_for_good}
    with qtbot.assertNotEmitted(button.confirmed):  # what it starts takes a while
        answer(button, keep)
    assert (fetched / "model.safetensors").exists()
    answer(button, button.delete_for_good)
    told = button.question
    assert f"and free {size_text(size)}?" in told.text()
    assert "They were downloaded into" in told.informativeText()
    with qtbot.waitSignal(dialog.desk.original_deleted, timeout=60_000) as deleted:
        pass
    assert deleted.args == [size, ""]
    qtbot.waitUntil(lambda: "became free" in dialog.page.message.text(), timeout=30_000)
    assert not (fetched / "model.safetensors").exists()
    assert (fetched / "ctranslate2-int8" / "model.bin").exists()
    assert not button.isVisible()


def test_a_folder_of_the_person_is_said_to_be_theirs(dialog, converted):
    button = open_for(dialog, converted)
    assert button.isVisible()
    button.click()
    assert "a folder of your own" in button.question.informativeText()
    assert converted.name in button.question.informativeText()
    button.question.reject()
    assert (converted / "model.safetensors").exists()


def test_a_link_in_the_library_leads_to_a_folder_of_the_person(dialog, converted, tmp_path):
    library = tmp_path / "models"
    library.mkdir()
    (library / folder_of(NAME)).symlink_to(converted)
    assert not dialog.desk.original_of(Path(NAME)).is_ours


def test_nothing_is_deleted_where_the_converted_model_does_not_load(qtbot, dialog, fetched):
    (fetched / "ctranslate2-int8" / "model.bin").write_bytes(b"damaged")
    button = open_for(dialog, Path(NAME))
    answer(button, button.delete_for_good)
    qtbot.waitUntil(lambda: "cannot be loaded" in dialog.page.message.text(), timeout=60_000)
    assert (fetched / "model.safetensors").exists()
    assert button.isVisible()
    assert button.isEnabled()


def test_there_is_no_button_where_nothing_can_be_deleted(dialog, fetched, tmp_path):
    assert not open_for(dialog, None, "de").isVisible()
    shutil.rmtree(fetched / "ctranslate2-int8")
    assert not open_for(dialog, Path(NAME)).isVisible()
    assert not open_for(dialog, tmp_path / "nowhere").isVisible()
