import json
import random
from dataclasses import replace

import pytest

from app.captions.model import UtteranceView
from app.controllers.tools import GRACE_S, Grace
from app.sharing import room_feed
from app.sharing.room_feed import CAPTION, KEPT_S, MOST_LETTERS, MOST_ROWS, SOURCE, RoomFeed

LANGUAGES = {SOURCE: "en", CAPTION: "de"}


class Phone:
    """What a page would show."""

    def __init__(self, feed, show=CAPTION):
        self.feed, self.show, self.seen = feed, show, ""
        self.rows, self.languages, self.n_told = {}, None, 0

    def catch_up(self):
        while True:
            self.seen, line = self.feed.since(self.seen, self.show)
            if not line:
                return self
            assert "\n" not in line
            told = json.loads(line)
            if told["whole"]:
                self.rows.clear()
            self.languages = told["languages"] or self.languages
            for key in told["gone"]:
                self.rows.pop(key, None)
            for row in told["rows"]:
                self.rows[row["key"]] = row
                self.n_told += 1

    @property
    def texts(self):
        ordered = sorted(self.rows.values(), key=lambda row: row["order"])
        return [row["text"] for row in ordered if row["text"] or row["tail"]]


def view(key, caption, **values):
    return UtteranceView(key=key, caption=caption, source=f"source {key}", language="de", **values)


def test_a_reader_gets_what_changed_since_it_last_looked_and_nothing_twice():
    feed = RoomFeed(LANGUAGES)
    phone = Phone(feed)
    first = view(1, "Guten")
    feed.show_views([first])
    assert phone.catch_up().texts == ["Guten"]
    feed.show_views([first, view(2, "Heute")])
    assert phone.catch_up().texts == ["Guten", "Heute"]
    assert phone.n_told == 2
    assert feed.since(phone.seen, CAPTION)[1] == ""


def test_each_reader_follows_what_it_chose_and_is_not_woken_by_the_other():
    feed = RoomFeed(LANGUAGES)
    feed.show_views([view(1, "Guten", tail="morning")])
    captions, source = Phone(feed).catch_up(), Phone(feed, SOURCE).catch_up()
    assert (captions.texts, source.texts) == (["Guten"], ["source 1"])
    assert source.rows[1]["tail"] == "morning…"
    assert (captions.rows[1]["language"], source.rows[1]["language"]) == ("de", "en")
    feed.show_views([view(1, "Guten", tail="morning all")])
    assert feed.since(captions.seen, CAPTION)[1] == ""
    assert feed.since(source.seen, SOURCE)[1] != ""
    assert Phone(feed, "../etc").catch_up().texts == ["Guten"]  # what is not offered


def test_readers_that_come_and_go_at_random_end_with_every_caption_once():
    rng = random.Random(3)
    feed = RoomFeed(LANGUAGES)
    phones = [Phone(feed) for _ in range(8)]
    views, n_views = [], 0
    for _ in range(1500):
        act = rng.random()
        if act < 0.2 or not views:
            n_views += 1
            views.insert(rng.randint(max(0, len(views) - 2), len(views)), view(n_views, "eins"))
        elif act < 0.3:
            del views[rng.randrange(len(views))]
        else:
            at = rng.randrange(max(0, len(views) - 3), len(views))
            views[at] = replace(views[at], caption=views[at].caption + " zwei")
        feed.show_views(tuple(views))
        for phone in phones:
            if rng.random() < 0.1:
                phone.catch_up()
    for phone in phones:
        assert phone.catch_up().texts == [one.caption for one in views]


def test_nothing_that_began_before_is_told():
    old = view(1, "geheim", begun_s=90.0)
    tail = UtteranceView(key=-1_000_000, tail="geheim")
    feed = RoomFeed(LANGUAGES, [old, tail], started_s=100.0)
    grown = replace(old, caption="geheim und mehr")
    earlier = view(7, "geheim aus der Sitzung gestern", begun_s=5.0)
    new = view(2, "offen", begun_s=101.0)
    feed.show_views([earlier, grown, new, tail])
    assert Phone(feed).catch_up().texts == ["offen"]
    feed.show_views([earlier, grown, new])
    feed.show_views([earlier, grown, new, replace(tail, tail="offen")])  # of another sentence
    source = Phone(feed, SOURCE).catch_up()
    assert [row["tail"] for row in source.rows.values()] == ["", "offen…"]


def test_what_the_user_deletes_leaves_the_phones_and_a_new_session_empties_them():
    feed, views = RoomFeed(LANGUAGES), [view(key, f"Satz {key}") for key in range(1, 4)]
    feed.show_views(views)
    phone = Phone(feed).catch_up()
    feed.show_views([views[0], views[2]])
    assert phone.catch_up().texts == ["Satz 1", "Satz 3"]
    feed.show_views(())
    assert phone.catch_up().texts == []
    feed.show_views(views)
    assert phone.catch_up().texts == ["Satz 1", "Satz 2", "Satz 3"]


def test_rows_are_kept_for_a_while_and_bounded_in_number_and_length():
    now_s = [0.0]
    feed = RoomFeed(LANGUAGES, clock=lambda: now_s[0])
    views = [view(key, "x" * 3_000) for key in range(1, MOST_ROWS + 51)]
    for end in range(50, len(views) + 1, 50):
        feed.show_views(views[:end])
    phone = Phone(feed).catch_up()
    assert len(phone.rows) == MOST_ROWS
    assert {len(text) for text in phone.texts} == {MOST_LETTERS + 1}
    now_s[0] = KEPT_S + 1
    feed.show_views([*views, view(9_999, "neu")])
    assert Phone(feed).catch_up().texts == ["neu"]


def test_no_event_is_much_longer_than_one_row(monkeypatch):
    monkeypatch.setattr(room_feed, "_LONGEST", 500)
    feed = RoomFeed(LANGUAGES)
    feed.show_views([view(key, f"Satz {key}") for key in range(100)])
    assert len(feed.since("", CAPTION)[1]) < 1_000
    assert len(Phone(feed).catch_up().rows) == 100


def test_characters_that_turn_or_steer_other_text_are_not_sent():
    feed = RoomFeed(LANGUAGES)
    feed.show_views([view(1, "a\u202eb\u2066c\x1b[31m\r\n\ud800d")])
    assert Phone(feed).catch_up().texts == ["abc\ufffd[31m  \ud800d"]


@pytest.mark.parametrize("seen", ["", ".", "1", "x.5", "9" * 40, "a.-1", "a.²", "\0"])
def test_a_position_that_is_none_of_ours_begins_anew(seen):
    feed = RoomFeed(LANGUAGES)
    feed.show_views([view(1, "eins")])
    told = json.loads(feed.since(seen, CAPTION)[1])
    assert told["whole"]
    assert len(told["rows"]) == 1
    run = feed.since("", CAPTION)[0].partition(".")[0]
    assert json.loads(feed.since(f"{run}.99999", CAPTION)[1])["whole"]


def test_other_languages_are_told_and_only_those_that_are_offered():
    feed = RoomFeed({CAPTION: "de"})
    phone = Phone(feed, SOURCE).catch_up()
    feed.show_views([view(1, "eins")])
    assert phone.catch_up().texts == ["eins"]
    feed.show_languages({SOURCE: "en", CAPTION: "pl"})
    assert phone.catch_up().languages == {CAPTION: "pl"}
    assert list(phone.rows) == [1]


def test_each_further_language_is_a_reader_s_own_and_an_empty_one_costs_nobody():
    feed = RoomFeed(LANGUAGES | {"fr": "fr", "es": "es"})
    french, spanish = Phone(feed, "fr").catch_up(), Phone(feed, "es").catch_up()
    feed.show_views([view(1, "Guten Tag", further=(("fr", "Bonjour"),))])
    assert (french.catch_up().texts, spanish.catch_up().texts) == (["Bonjour"], [])
    assert french.rows[1]["language"] == "fr"
    assert spanish.n_told == 0


def test_a_reader_learns_why_there_are_no_captions_in_its_language_yet():
    feed = RoomFeed(LANGUAGES | {"fr": "fr"})

    def state(show):
        return json.loads(feed.since("", show)[1])["state"]

    assert (state("fr"), state(CAPTION), state(SOURCE)) == ("preparing", "", "")
    feed.show_ready((), ("fr",))
    assert state("fr") == "full"
    feed.show_ready(("fr",))
    assert state("fr") == ""


def test_who_reads_a_language_that_is_gone_gets_the_captions_anew():
    feed = RoomFeed(LANGUAGES | {"fr": "fr"})
    feed.show_views([view(1, "Guten Tag", further=(("fr", "Bonjour"),))])
    phone = Phone(feed, "fr").catch_up()
    feed.show_languages(LANGUAGES)
    assert phone.catch_up().texts == ["Guten Tag"]


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
