import pytest

from engine.text.numbers import find_numbers


def ways(source, language="de"):
    numbers = find_numbers(source.split(), language)
    return [set(number.whole) for number in numbers]


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("revenue grew by 12.5 percent", "12,5"),
        ("it costs 45,000 dollars", "45.000"),
        ("it costs 45,000 dollars", "45000"),
        ("4.2 million euros", "4.200.000"),
        ("4.2 m euros", "4.200.000"),
        ("4.2 mn euros", "4.200.000"),
        ("3 billion stars", "3.000.000.000"),
        ("3 bn stars", "3.000.000.000"),
        ("2 trillion dollars", "2.000.000.000.000"),
        ("5 k runners", "5.000"),
        ("3 dozen eggs", "36"),
        ("$79.90", "79,90"),
        ("version 3.11.", "3.11"),
        ("at 9:30", "9.30"),
        ("at 3 pm", "15"),
        ("at three p. m.", "15"),
        ("at three p m", "15"),
        ("at one pm", "13"),
        ("at one p. m.", "13"),
        ("at three in the afternoon", "15"),
        ("at half past nine", "10"),  # halb zehn
        ("nineteen eighty-four", "1984"),
        ("twenty twenty six", "2026"),
        ("two hundred and fifty thousand people", "250.000"),
        ("a hundred chairs", "100"),
        ("the third of May", "3"),
        ("50 000 tonnes", "50.000"),
        ("order BX7749", "7749"),
        ("a fortnight", "14"),
    ],
)
def test_a_number_may_be_written_in_the_notation_of_the_target(source, written):
    assert any(written in number for number in ways(source))


@pytest.mark.parametrize(
    ("source", "language", "written"),
    [("12.5", "en", "12.5"), ("1,250", "ja", "1,250"), ("1,250", "fr", "1.250")],
)
def test_languages_part_decimals_and_thousands_their_own_way(source, language, written):
    assert written in ways(source, language)[0]


@pytest.mark.parametrize("source", ["at first", "in the second place", "one of them", "both", ""])
def test_words_that_are_seldom_numbers_allow_no_digits(source):
    assert ways(source) == []


def test_each_number_stands_for_itself():
    assert [min(number, key=len) for number in ways("3 of 10 in 2019")] == ["3", "10", "2019"]


def test_a_number_may_be_written_in_parts():
    (number,) = find_numbers(["9:30"], "de")
    assert [sorted(part) for part in number.parts] == [["9"], ["30"]]
    assert [number.parts for number in find_numbers(["1250"], "de")] == [()]
    assert [number.parts for number in find_numbers(["2019"], "fr")] == [()]
    (number,) = find_numbers(["1250"], "fr")
    assert [sorted(part) for part in number.parts] == [["1"], ["250"]]


def test_the_hour_of_an_afternoon_may_stand_alone_before_its_minutes():
    (number,) = find_numbers("at 3:30 pm".split(), "fr")
    assert "15" in number.parts[0]
    assert number.parts[1] == {"30"}


@pytest.mark.parametrize("source", ["4.2 million euros", "3 hundred", "by 10 bn"])
def test_the_scale_of_digits_is_no_number_of_its_own(source):
    assert len(ways(source)) == 1
