import pytest

from engine.text.half_hours import half_hours, half_hours_fit

TWO = "At half past seven, and again at half-past 12."


@pytest.mark.parametrize(
    ("language", "halves"),
    [
        ("de", ("halb acht", "halb eins")),
        ("nl", ("half acht", "half een")),
        ("sv", ("halv åtta", "halv ett")),
        ("da", ("halv otte", "halv et")),
        ("no", ("halv åtte", "halv ett")),
    ],
)
def test_half_past_an_hour_is_half_of_the_next(language, halves):
    hours = half_hours(TWO, language)
    first, second = halves
    assert half_hours_fit(f"Um {first}, und um {second}.", hours, language)
    assert not half_hours_fit(f"Um {second}", hours, language)
    assert not half_hours_fit(f"Um {first}, und um {first}.", hours, language)


@pytest.mark.parametrize("text", ["Um", "Um halb", "Um halb a", "Um HALB 8 ", "um halb acht ist"])
def test_what_may_still_become_the_hour_fits(text):
    assert half_hours_fit(text, half_hours("at half past seven", "de"), "de")


@pytest.mark.parametrize("text", ["Um halb s", "Um halb sieben", "um halb achtzehn", "halb 7"])
def test_another_hour_does_not_fit(text):
    assert not half_hours_fit(text, half_hours("at half past seven", "de"), "de")


def test_what_is_no_half_hour_is_not_judged():
    assert half_hours("at half past seven", "fr") == ()
    assert half_hours("half of seven, half an hour, half past noon", "de") == ()
    hours = half_hours("at half past seven the glass is half full", "de")
    assert half_hours_fit("Um halb acht ist das Glas halb voll", hours, "de")
