import pytest

from engine.text.harmful_words import HarmfulWords


@pytest.fixture
def german():
    return HarmfulWords("de")


@pytest.mark.parametrize(
    ("source", "caption"),
    [
        ("Thank you for joining.", "Danke, dass Sie sich umbringen."),
        ("Let us begin.", "Erschießt uns!"),
        ("We meet at six.", "Wir haben Sex um sechs."),
        ("This is Mr. Black.", "Scheißkerl"),
    ],
)
def test_a_harmful_word_without_a_counterpart_is_found(german, source, caption):
    assert german.holds(caption, german.barred(source.split()))


@pytest.mark.parametrize(
    ("source", "caption"),
    [
        ("He was murdered.", "Er wurde ermordet."),
        ("Tom committed suicide.", "Tom hat Selbstmord begangen."),
        ("The birds sing at six.", "Um sechs singen die Vögel in Essex."),
        ("What the hell!", "Was zum Teufel, Scheiße!"),
    ],
)
def test_what_the_source_says_may_be_said(german, source, caption):
    assert not german.holds(caption, german.barred(source.split()))


@pytest.mark.parametrize(
    ("language", "caption"), [("fr", "Nous avons l'otage."), ("fr", "C'est un projet d’assassin.")]
)
def test_a_harmful_word_is_found_behind_an_apostrophe(language, caption):
    words = HarmfulWords(language)
    assert words.holds(caption, words.barred(["we", "agree"]))


@pytest.mark.parametrize(
    ("language", "caption"),
    [
        ("fr", "C'est un goulot d'étranglement."),
        ("fr", "Nous serons à Puteaux."),
        ("es", "El pedido está retrasado."),
    ],
)
def test_what_is_said_at_work_harms_nobody(language, caption):
    words = HarmfulWords(language)
    assert not words.holds(caption, words.barred(["we", "agree"]))


def test_one_group_does_not_open_another(german):
    assert german.holds("Sex", german.barred(["murder"]))


def test_a_language_without_lists_has_no_harmful_words():
    assert not HarmfulWords("xx").barred(["Hello"])


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_every_group_has_words_of_each_language(language):
    assert len(HarmfulWords(language).barred([])) == 7
