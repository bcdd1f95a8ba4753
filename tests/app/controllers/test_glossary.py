import pytest
from PySide6.QtWidgets import QTableWidgetItem

from app.captions.glossaries import GlossaryFolder
from engine.events import Configure, ContextChanged, Refused
from engine.messages import Code

TERMS = (("slot", "Platz"), ("adapter", "Aufsatz"))


class Glossary:
    """The glossary of a program, and a person who writes in it."""

    def __init__(self, one):
        self.one = one
        one.window.menu_actions.glossary.trigger()
        self.dialog = one.application.glossary.dialog

    def write(self, *pairs):
        table = self.dialog.table
        for term, translation in pairs:
            self.dialog.add.click()
            row = table.rowCount() - 1
            table.setItem(row, 0, QTableWidgetItem(term))
            table.setItem(row, 1, QTableWidgetItem(translation))

    def told(self):
        return [
            call.translation.glossary
            for call in self.one.session.calls
            if isinstance(call, Configure)
        ]


@pytest.fixture
def glossary(program):
    return lambda **settings: Glossary(program(**settings).open().wait_until_ready())


def test_terms_are_kept_and_used_from_the_first_one_on_unless_that_is_not_wanted(
    glossary, tmp_path
):
    one = glossary()
    assert not one.dialog.use.isChecked()
    assert not one.dialog.remove.isEnabled()
    assert not one.dialog.save.isEnabled()
    one.write(*TERMS)
    assert one.dialog.remove.isEnabled()
    assert one.dialog.save.isEnabled()
    assert GlossaryFolder(tmp_path / "glossary").read("de") == (TERMS, None)
    assert one.told()[0] == (("slot", "slot"),), "a name until its translation is written"
    assert one.told()[-1] == TERMS
    assert one.dialog.use.isChecked()
    assert one.one.stored()["translation"]["glossary"] is True
    one.dialog.table.selectRow(0)
    one.dialog.remove.click()
    assert one.told()[-1] == TERMS[1:]
    one.dialog.use.click()
    assert one.told()[-1] == ()
    assert "not in use" in one.dialog.cost.text()
    one.write(("more", "mehr"))
    assert not one.dialog.use.isChecked(), "it was switched off by hand"


def test_the_speech_model_prefers_the_terms_that_are_used(glossary):
    one = glossary()
    one.write(*TERMS)
    desk = one.one.application.listening.service
    assert desk.spoken.words == ("slot", "adapter")
    one.dialog.use.click()
    assert desk.spoken.words == ()


def test_what_was_corrected_is_always_written_so_if_that_is_wanted(glossary):
    one = glossary()
    one.write(*TERMS)
    one.dialog.close()
    one.one.application.glossary.add_name("Nguyen")
    one.one.application.glossary.add_name("nguyen")
    assert one.told()[-1] == (*TERMS, ("Nguyen", "Nguyen"))


def test_what_it_does_to_the_model_is_said(glossary, monkeypatch, tmp_path):
    assert "large instruct model can follow" in glossary().dialog.warning.text()
    monkeypatch.setattr("engine.hub.catalogue.bundled_models", lambda: [tmp_path])
    assert "used exactly as written here" in glossary(model=None).dialog.warning.text()


def test_a_glossary_that_was_on_is_told_at_the_next_start(glossary):
    one = glossary()
    one.write(*TERMS)
    again = glossary()
    again.one.wait(lambda: again.told() == [TERMS])
    assert again.one.engine.translations[0].glossary == ()  # a bad one must not stop the start
    assert again.dialog.pairs == list(TERMS)


def test_another_language_has_other_terms(glossary):
    one = glossary()
    one.write(*TERMS)
    menu, status = one.one.window.choices.language, one.one.window.status
    assert status.glossary.isVisible()
    menu.pick("fr")
    assert not status.glossary.isVisible(), "there are no terms"
    assert one.dialog.pairs == []
    assert "French" in one.dialog.windowTitle()
    assert one.told()[-1] == ()
    menu.pick("de")
    assert one.told()[-1] == TERMS


def test_what_the_terms_cost_and_why_they_are_refused_is_told(glossary):
    one = glossary()
    one.write(*TERMS)
    came = one.one.application.bridge.event_came
    came.emit(ContextChanged(rows=36))
    assert one.dialog.cost.text() == "2 terms cost 36 tokens of the prompt, computed once."
    came.emit(ContextChanged(rows=0))
    assert one.dialog.cost.text() == "2 terms are in use; they don't slow the translation."
    came.emit(Refused(message=Code.GLOSSARY_TOO_LONG(n_terms=300, n_rows=900, most=512)))
    assert one.dialog.cost.text().startswith("The glossary of 300 terms takes 900 rows")
    large = Code.GLOSSARY_TOO_LARGE(most=500, most_long=120, n_terms=501, longest=3)
    came.emit(Refused(message=large))
    assert one.dialog.cost.text().startswith("A glossary holds at most 500 terms")
    one.dialog.use.click()
    came.emit(ContextChanged(rows=0))
    assert one.dialog.cost.text() == "The terms are not in use."


def test_terms_that_cannot_be_stored_are_used_and_that_is_said(glossary, tmp_path):
    (tmp_path / "glossary").write_text("a file where the folder should be")
    one = glossary()
    one.write(*TERMS)
    assert one.told()[-1] == TERMS
    assert "could not be written" in one.one.window.banner.sentence.text()
