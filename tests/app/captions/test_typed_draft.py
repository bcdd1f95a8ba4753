import random

import pytest

from app.captions.typed_draft import CORRECTION_PAUSE_MS, SENTENCE_PAUSE_MS, Draft


def type_keys(draft, text, now_ms=0):
    """Type a text key by key at the end, 10 ms apart; give everything that was committed."""
    given = []
    for n in range(1, len(text) + 1):
        words = draft.change(text[:n], n, now_ms + 10 * n)
        if words is not None:
            given.append(words)
    return given


def test_pasted_text_is_committed_at_once_but_for_its_last_word():
    text = "word " * 5000 + "last"
    words = Draft().change(text, len(text), 0)
    assert words == ("word",) * 5000


PAUSE, LATER = SENTENCE_PAUSE_MS, CORRECTION_PAUSE_MS
TEA = "I like tea "


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("Good morning.", [("wake", (130 + PAUSE - 1,), None),
                           ("wake", (130 + PAUSE,), "Good morning.")]),
        ("何？", [("wake", (20 + PAUSE,), "何？")]),
        ("来ました。", [("wake", (50 + PAUSE,), "来ました。")]),
        ("नमस्ते।", [("wake", (70 + PAUSE,), "नमस्ते।")]),
        ("“Stop!”", [("wake", (70 + PAUSE,), "“Stop!”")]),
        ("It costs 3.", [("change", ("It costs 3.5", 12, 500), None), ("wake", (9999,), None)]),
        ("Good morning", [("wake", (9999,), None)]),
        # a blank after a last word that was told changes nothing
        ("Stop.", [("wake", (10_000,), "Stop."), ("change", ("Stop. ", 6, 10_010), None),
                   ("change", ("Stop. G", 7, 10_020), None),
                   ("change", ("Stop. Go ", 9, 10_030), "Stop. Go")]),
        # a correction waits until the caret leaves the word, or for a while
        (TEA, [("change", ("I lie tea ", 4, 1000), None),
               ("change", ("I loie tea ", 4, 1010), None), ("move", (5,), None),
               ("move", (11,), "I loie tea")]),
        (TEA, [("change", ("I lie tea ", 4, 1000), None), ("move", (7,), "I lie tea")]),
        (TEA, [("change", ("I love tea ", 6, 1000), None), ("wake", (1000 + LATER - 1,), None),
               ("wake", (1000 + LATER,), "I love tea")]),
        # and changes nothing if it is taken back
        (TEA, [("change", ("I lik tea ", 5, 1000), None), ("change", (TEA, 6, 1010), None),
               ("wake", (9999,), None)]),
        # so does one of the last word
        ("I like tee ", [("change", ("I like tee", 10, 1000), None),
                         ("change", ("I like te", 9, 1010), None),
                         ("change", ("I like tea", 10, 1020), None),
                         ("change", ("I like tea ", 11, 1030), "I like tea")]),
        ("I like tee ", [("change", ("I like tea", 10, 1000), None),
                         ("wake", (1000 + LATER,), "I like tea")]),
        (TEA, [("change", ("I like ", 7, 1000), "I like")]),
        (TEA, [("change", ("", 0, 1000), "")]),
        ("Come home.", [("wake", (10_000,), "Come home."),
                        ("change", ("Come now home.", 8, 10_010), None),
                        ("wake", (20_000,), "Come now home.")]),
        (TEA, [("change", ("I love tea an", 6, 1000), None), ("finish", (), "I love tea an")]),
        ("I like tea.", [("begin", (), None), ("wake", (9999,), None), ("finish", (), None)]),
    ],
)  # fmt: skip
def test_what_a_person_does_tells_these_words_and_no_others(text, acts):
    draft = Draft()
    type_keys(draft, text)
    for act, arguments, words in acts:
        told = getattr(draft, act)(*arguments)
        assert told == (None if words is None else tuple(words.split())), act
    if acts[-1][0] != "change" or words is not None:
        assert draft.due_ms is None


def test_whatever_is_typed_the_words_are_those_of_the_text_in_the_end():
    rng = random.Random(0)
    for _ in range(300):
        draft, text, caret, now_ms = Draft(), "", 0, 0
        committed = ()
        for _ in range(rng.randrange(40)):
            now_ms += rng.randrange(400)
            answers = [draft.wake(now_ms)]
            if rng.random() < 0.2:
                caret = rng.randrange(len(text) + 1)
                answers.append(draft.move(caret))
            elif rng.random() < 0.3 and caret:
                text, caret = text[: caret - 1] + text[caret:], caret - 1
                answers.append(draft.change(text, caret, now_ms))
            else:
                key = rng.choice(["a", "b", ".", " ", "one two "])
                text, caret = text[:caret] + key + text[caret:], caret + len(key)
                answers.append(draft.change(text, caret, now_ms))
            for words in answers:
                if words is not None:
                    assert words != committed
                    committed = words
        words = draft.finish()
        assert (committed if words is None else words) == tuple(text.split())
