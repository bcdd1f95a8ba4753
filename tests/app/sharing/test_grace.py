from app.sharing.grace import GRACE_S, Grace


def test_a_language_stays_for_a_while_after_its_last_reader_has_left():
    now_s = 0.0
    grace = Grace(lambda: now_s)
    grace.follow({"fr"})
    assert (grace.languages, grace.ends_in_s) == (("fr",), None)
    grace.follow(())
    now_s = GRACE_S - 1
    assert (grace.languages, grace.ends_in_s) == (("fr",), 1)
    now_s = GRACE_S
    assert (grace.languages, grace.ends_in_s) == ((), None)


def test_a_reader_who_comes_back_is_one_who_never_left_and_keeps_the_place():
    now_s = 0.0
    grace = Grace(lambda: now_s)
    grace.follow({"fr"})
    grace.follow({"es"})
    grace.follow({"es", "fr"})
    now_s = 2 * GRACE_S
    assert grace.languages == ("fr", "es")
