import random

from app.captions.typed_draft import CORRECTION_PAUSE_MS, SENTENCE_PAUSE_MS, Draft


def type_keys(draft, text, now_ms=0):
    """Type a text key by key at the end, 10 ms apart; give everything that was committed."""
    given = []
    for n in range(1, len(text) + 1):
        words = draft.change(text[:n], n, now_ms + 10 * n)
        if words is not None:
            given.append(words)
    return given


def typed(text):
    """A draft in which a text was typed."""
    draft = Draft()
    type_keys(draft, text)
    return draft


def test_pasted_text_is_committed_at_once_but_for_its_last_word():
    text = "word " * 5000 + "last"
    words = Draft().change(text, len(text), 0)
    assert words == ("word",) * 5000


def test_a_sentence_mark_and_a_pause_commit_the_last_word():
    draft = typed("Good morning.")
    assert draft.due_ms == 130 + SENTENCE_PAUSE_MS
    assert draft.wake(130 + SENTENCE_PAUSE_MS - 1) is None
    assert draft.wake(130 + SENTENCE_PAUSE_MS) == ("Good", "morning.")
    assert draft.due_ms is None


def test_the_sentence_marks_of_other_languages_do_so_too():
    for text in ("何？", "来ました。", "नमस्ते।"):
        draft = Draft()
        type_keys(draft, text)
        assert draft.wake(10 * len(text) + SENTENCE_PAUSE_MS) == (text,)


def test_typing_on_puts_the_pause_off():
    draft = typed("It costs 3.")
    draft.change("It costs 3.5", 12, 500)
    assert draft.due_ms is None


def test_a_quotation_mark_may_follow_the_sentence_mark():
    draft = typed("“Stop!”")
    assert draft.due_ms is not None


def test_no_sentence_mark_no_pause():
    draft = typed("Good morning")
    assert draft.due_ms is None


def test_a_space_after_a_committed_last_word_changes_nothing():
    draft = typed("Stop.")
    draft.wake(10_000)
    assert draft.change("Stop. ", 6, 10_010) is None
    assert draft.change("Stop. G", 7, 10_020) is None
    assert draft.change("Stop. Go ", 9, 10_030) == ("Stop.", "Go")


def test_a_correction_waits_until_the_caret_leaves_the_word():
    draft = typed("I like tea ")
    assert draft.change("I lie tea ", 4, 1000) is None
    assert draft.change("I loie tea ", 4, 1010) is None
    assert draft.move(5) is None  # still in the word
    assert draft.move(11) == ("I", "loie", "tea")
    assert draft.due_ms is None


def test_a_correction_is_done_when_the_caret_goes_to_another_word():
    draft = typed("I like tea ")
    draft.change("I lie tea ", 4, 1000)
    assert draft.move(7) == ("I", "lie", "tea")


def test_a_correction_that_is_left_alone_counts_after_a_while():
    draft = typed("I like tea ")
    draft.change("I love tea ", 6, 1000)
    assert draft.wake(1000 + CORRECTION_PAUSE_MS - 1) is None
    assert draft.wake(1000 + CORRECTION_PAUSE_MS) == ("I", "love", "tea")


def test_a_correction_taken_back_changes_nothing():
    draft = typed("I like tea ")
    draft.change("I lik tea ", 5, 1000)
    assert draft.change("I like tea ", 6, 1010) is None
    assert draft.due_ms is None


def test_the_last_committed_word_can_be_corrected_too():
    draft = typed("I like tee ")
    assert draft.change("I like tee", 10, 1000) is None
    assert draft.change("I like te", 9, 1010) is None
    assert draft.change("I like tea", 10, 1020) is None
    assert draft.change("I like tea ", 11, 1030) == ("I", "like", "tea")


def test_the_last_committed_word_stays_while_it_is_corrected_slowly():
    draft = typed("I like tee ")
    draft.change("I like tea", 10, 1000)
    assert draft.wake(1000 + CORRECTION_PAUSE_MS) == ("I", "like", "tea")


def test_a_deleted_word_goes_at_once():
    draft = typed("I like tea ")
    assert draft.change("I like ", 7, 1000) == ("I", "like")


def test_an_emptied_line_has_no_words():
    draft = typed("I like tea ")
    assert draft.change("", 0, 1000) == ()


def test_a_word_inserted_before_a_last_word_without_space_keeps_that_word():
    draft = typed("Come home.")
    draft.wake(10_000)
    draft.change("Come now home.", 8, 10_010)
    assert draft.wake(20_000) == ("Come", "now", "home.")


def test_enter_commits_everything_and_what_was_held():
    draft = typed("I like tea ")
    draft.change("I love tea an", 6, 1000)
    assert draft.finish() == ("I", "love", "tea", "an")
    assert draft.due_ms is None


def test_a_new_line_begins_with_nothing():
    draft = typed("I like tea.")
    draft.begin()
    assert draft.due_ms is None
    assert draft.finish() is None


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
