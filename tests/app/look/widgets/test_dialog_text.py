import pytest

from app.look.widgets.dialog_text import as_sentence


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("the model cannot be read", "The model cannot be read."),
        ("it's gone: wait", "It's gone: wait."),
        ("Done!", "Done!"),
        ("Looking…", "Looking…"),
        ("ev.en has 4 lines and short.de has 1", "ev.en has 4 lines and short.de has 1."),
        ("surtitle-en-de-wait-k is being loaded", "surtitle-en-de-wait-k is being loaded."),
        ("über alles", "Über alles."),
        ("7 captions were written", "7 captions were written."),
        ("", ""),
    ],
)
def test_a_sentence_begins_with_a_capital_letter_unless_it_begins_with_a_name(message, sentence):
    assert as_sentence(message) == sentence
