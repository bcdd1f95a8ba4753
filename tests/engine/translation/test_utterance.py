"""What stays of an utterance when its words change: the very rows, listed by name."""

import numpy as np
import pytest

from engine.policy import Action
from engine.text.prompt import word_ids
from engine.translation.feed import changes
from engine.translation.source_text import SourceText
from tests.support.fakes import (
    hashing_translator,
    names,
    obey,
    tiny_tokenizer,
    word_for_word,
)

EOW, EOT, EOS = "end_of_write", "end", "end_of_source"


class Line:
    """A typed line and its caption: an utterance that a word-for-word model translates."""

    def __init__(self, policy="read:2", slot_length=16):
        self.translator = hashing_translator(policy, slot_length=slot_length)
        obey(self.translator, word_for_word)
        self.utterance = self.translator.open()

    def type(self, text, *, ended=False):
        """Set the words and translate."""
        self.set(text, ended=ended)
        self.translate()
        return self

    def set(self, text, *, ended=False):
        return self.translator.set_source(self.utterance, text.split(), ended=ended)

    def translate(self):
        return list(changes(self.translator, self.utterance))

    @property
    def rows(self):
        """Rows in the cache."""
        rows = self.utterance.fed_rows()
        assert self.translator.model.n_rows == len(rows)
        return names(rows)

    @property
    def caption(self):
        return self.utterance.caption


# --- which rows are kept --------------------------------------------------------------------------


def test_rows_stand_in_the_cache_in_the_order_of_their_arrival():
    line = Line().type("a b c d")
    assert line.rows == f"begin de user a b assistant ae bd c d {EOW} ch de"
    assert line.caption == "ae bd ch de"


def test_a_correction_in_the_middle_keeps_the_rows_that_did_not_depend_on_the_word():
    line = Line().type("a b c d e f")
    before = line.rows
    assert line.set("a b h d e f")
    assert line.rows == "begin de user a b assistant ae bd"
    assert line.caption == "ae bd"
    line.translate()
    assert line.rows == before.replace("c d", "h d").replace("ch", "he")
    assert line.caption == "ae bd he de ed fh"


def test_a_correction_of_the_second_word_of_a_chunk_keeps_the_first():
    line = Line().type("a b c d")
    assert line.set("a b c h")
    assert line.rows == "begin de user a b assistant ae bd c"
    assert line.caption == "ae bd"
    line.translate()
    assert line.rows == f"begin de user a b assistant ae bd c h {EOW} ch he"


def test_a_correction_of_the_first_word_keeps_what_stands_before_it():
    line = Line().type("a b c d")
    assert line.set("h b c d")
    assert line.rows == "begin de user"
    assert line.caption == ""
    assert line.translate()[0].text == "he"
    assert line.caption == "he bd ch de"


def test_deleting_the_last_word_keeps_its_neighbour_and_waits():
    line = Line().type("a b c d")
    assert line.set("a b c")
    assert line.rows == "begin de user a b assistant ae bd c"
    assert line.translate() == []
    assert line.caption == "ae bd"
    line.type("a b c d")
    assert line.rows == f"begin de user a b assistant ae bd c d {EOW} ch de"


def test_deleting_every_word_keeps_only_what_stands_before_them():
    line = Line().type("a b c d")
    line.type("")
    assert line.rows == "begin de user"
    assert line.caption == ""


def test_changing_a_word_that_waits_loses_nothing():
    line = Line().type("a b c")
    before = line.rows
    assert before == "begin de user a b assistant ae bd"  # c is read and waits for its neighbour
    assert not line.set("a b h")
    assert line.rows == before
    assert line.type("a b h d").caption == "ae bd he de"


def test_an_edit_after_the_end_keeps_what_stands_before_the_word():
    line = Line().type("a b c d", ended=True)
    assert line.rows == f"begin de user a b assistant ae bd c d {EOS} {EOW} ch de"
    assert line.utterance.finished
    assert line.set("a b c h", ended=True)
    assert line.rows == "begin de user a b assistant ae bd c"
    assert not line.utterance.finished
    line.translate()
    assert line.rows == f"begin de user a b assistant ae bd c h {EOS} {EOW} ch he"
    assert line.utterance.finished


def test_an_end_that_comes_late_is_a_row_of_its_own_and_keeps_all_others():
    line = Line().type("a b c d")
    before, caption = line.rows, line.caption
    assert not line.set("a b c d", ended=True)
    assert line.rows == before
    line.translate()
    assert line.rows == f"{before} {EOS} {EOW}"
    assert line.caption == caption


def test_an_end_that_is_taken_back_takes_only_the_marker():
    line = Line().type("a b c d")
    before = line.rows
    line.type("a b c d", ended=True)
    line.set("a b c d")
    assert line.rows == before
    assert not line.utterance.finished


def test_a_word_after_an_end_takes_the_marker_and_its_word_back():
    line = Line().type("a b", ended=True)
    assert line.rows == f"begin de user a b {EOS} assistant ae bd"
    line.set("a b c d")
    assert line.rows == "begin de user a"
    assert line.type("a b c d").caption == "ae bd ch de"


def test_a_correction_behind_an_overflow_keeps_what_closed_the_slot():
    line = Line(slot_length=3).type("a b c d e f")
    assert line.rows == (
        f"begin de user a b assistant ae bd c {EOW} user d assistant ch de e f {EOW} ed fh"
    )
    line.set("a b c h e f")
    assert line.rows == f"begin de user a b assistant ae bd c {EOW} user"
    line.translate()
    assert line.rows == (
        f"begin de user a b assistant ae bd c {EOW} user h assistant ch he e f {EOW} ed fh"
    )


def test_a_correction_under_wait_k_keeps_the_rows_that_did_not_depend_on_the_word():
    line = Line("wait:2").type("a b c d")
    assert line.rows == "begin de user a b assistant c ae d bd"
    assert line.caption == "ae bd ch"
    line.set("a b c h")
    assert line.rows == "begin de user a b assistant c ae"
    assert line.caption == "ae bd"
    assert line.type("a b c h", ended=True).caption == "ae bd ch he"


def test_a_correction_under_offline_starts_the_caption_anew_but_not_the_source():
    line = Line("offline").type("a b c", ended=True)
    assert line.rows == f"begin de user a b c {EOS} assistant ae bd ch"
    line.set("a b h", ended=True)
    assert line.rows == "begin de user a b"
    assert line.caption == ""
    line.translate()
    assert line.rows == f"begin de user a b h {EOS} assistant ae bd he"


@pytest.mark.parametrize("policy", ["read:1", "read:2", "read:3", "wait:1", "wait:3", "offline"])
def test_a_correction_costs_only_the_rows_from_the_word_on(policy):
    line = Line(policy).type("a b c d e f g h", ended=True)
    rows, fed = line.rows.split(), line.translator.model.tokens_fed
    probes = line.translator.counters.probes
    line.set("a b c d e f h h", ended=True)
    kept = len(line.rows.split())
    line.translate()
    counters = line.translator.counters
    assert line.translator.model.tokens_fed - fed == len(rows) - kept + counters.probes - probes
    assert counters.tokens_recomputed == 0


# --- the state of an utterance without a model ----------------------------------------------------


def bare(policy="read:3"):
    return hashing_translator(policy).open()


def units(text):
    return tuple(tuple(word_ids(tiny_tokenizer(), word)) for word in text.split())


def give(utterance, text, *, ended=False):
    source = SourceText(tuple(text.split()), ended, units(text), len(text.split()))
    if ended:
        read = utterance.source.units[: utterance.n_read]
        source = source.with_end(utterance.end, read, alone=False)
    return utterance.set_source(source)


def test_the_end_marker_comes_with_the_last_word_or_alone_when_that_was_read():
    marker = (bare().prompt.end_of_source,)
    together, alone, empty = bare(), bare(), bare()
    give(together, "a b", ended=True)
    assert together.source.units == (units("a")[0], units("b")[0] + marker)
    give(alone, "a b")
    alone.read()
    alone.read()
    give(alone, "a b", ended=True)
    assert alone.source.units == (*units("a b"), marker)
    give(empty, "", ended=True)
    assert empty.source.units == (marker,)


def test_setting_the_same_source_again_loses_nothing():
    utterance = bare()
    for ended in (False, True):
        give(utterance, "a b c", ended=ended)
        while utterance.can_read:
            utterance.read()
        assert give(utterance, "a b c", ended=ended) is None


def test_words_that_were_not_read_may_change_for_nothing():
    utterance = bare()
    give(utterance, "a b c")
    utterance.read()
    assert give(utterance, "a d") is None
    assert give(utterance, "e d") is not None


def test_an_utterance_asks_its_policy():
    utterance = bare("read:2")
    give(utterance, "a b c")
    actions = []
    while utterance.next_action() is Action.READ:
        actions.append(utterance.n_read)
        utterance.read()
    assert actions == [0, 1]
    assert not utterance.source_ended


# --- where a caption may end ----------------------------------------------------------------------


def written_by_one_who_would_rather_end(source, *, full_stop_after=2, end=3.0):
    """Return the caption of a model that likes the end best, then a full stop, then ``a``."""
    translator = hashing_translator("offline")
    a, stop = tiny_tokenizer().convert_tokens_to_ids(["Ġa", "."])
    utterance = translator.open()
    translator.set_source(utterance, source.split(), ended=True)
    while utterance.can_read:
        utterance.read()
    logits = np.full(len(tiny_tokenizer()), -100, dtype=np.float32)
    while not utterance.finished:
        utterance.planner.write()
        of_stop = 2 if utterance.n_chosen >= full_stop_after else 0
        logits[[utterance.prompt.end_of_write, stop, a]] = end, of_stop, 1
        utterance.choose(utterance.constrained(int(logits.argmax()), logits), n_begun=1)
    return utterance.caption


@pytest.mark.parametrize(("source", "caption"), [("b c.", "a a."), ("b c", ""), ("b c,", "")])
def test_no_caption_ends_within_a_sentence_where_its_source_ends_one(source, caption):
    assert written_by_one_who_would_rather_end(source) == caption


def test_a_caption_that_comes_to_no_full_stop_ends_all_the_same():
    assert written_by_one_who_would_rather_end("b c.", full_stop_after=99) == " ".join("a" * 8)


def test_a_model_that_is_sure_of_the_end_within_a_sentence_ends_there():
    assert written_by_one_who_would_rather_end("b c.", end=9.0) == ""
