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


def test_one_group_does_not_open_another(german):
    assert german.holds("Sex", german.barred(["murder"]))


def test_a_language_without_lists_has_no_harmful_words():
    assert not HarmfulWords("xx").barred(["Hello"])


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_every_group_has_words_of_each_language(language):
    assert len(HarmfulWords(language).barred([])) == 7
