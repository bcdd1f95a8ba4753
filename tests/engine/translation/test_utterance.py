"""What stays of an utterance when its words change: the very rows, listed by name."""

from dataclasses import dataclass

import numpy as np
import pytest

from engine.events import n_same
from engine.policy import Action
from engine.text.prompt import word_ids
from engine.translation.feed import changes
from engine.translation.translated import SourceText
from tests.support.commands import bare
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
        """Type the words that are new one by one, translating after each."""
        words = text.split()
        for n_words in range(n_same(self.utterance.words, words) + 1, len(words)):
            self.set(" ".join(words[:n_words]))
            self.translate()
        self.set(text, ended=ended)
        self.translate()
        return self

    def set(self, text, *, ended=False):
        return self.utterance.set_source(bare(text.split(), ended=ended))

    def translate(self):
        return list(changes(self.utterance))

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


READ = "begin de user a b assistant ae bd"  # under read:2, in a slot
FIRST_SLOT = f"{READ} c {EOW} user"


@dataclass(frozen=True, kw_only=True)
class Edit:
    """An edit of a line: words, rows that stay, and the rows and caption it comes to.

    What was typed one by one is corrected at once, so what follows is read together.
    A point behind the words ends them. Rows that stay are None where nothing is taken back.
    """

    before: str
    after: str
    kept: str | None
    rows: str
    caption: str
    policy: str = "read:2"
    slot_length: int = 16


EDITS = {
    "a word in the middle": Edit(
        before="a b c d e f", after="a b h d e f", kept=READ,
        rows=f"{READ} h d e f {EOW} he de ed fh", caption="ae bd he de ed fh",
    ),
    "the second word of a chunk": Edit(
        before="a b c d", after="a b c h", kept=f"{READ} c",
        rows=f"{READ} c h {EOW} ch he", caption="ae bd ch he",
    ),
    "the first word": Edit(
        before="a b c d", after="h b c d", kept="begin de user",
        rows="begin de user h b c d assistant he bd ch de", caption="he bd ch de",
    ),
    "the last word goes": Edit(
        before="a b c d", after="a b c", kept=f"{READ} c", rows=f"{READ} c", caption="ae bd",
    ),
    "every word goes": Edit(
        before="a b c d", after="", kept="begin de user", rows="begin de user", caption="",
    ),
    "a word that waits": Edit(
        before="a b c", after="a b h", kept=None, rows=READ, caption="ae bd",
    ),
    "nothing": Edit(
        before="a b c d .", after="a b c d .", kept=None,
        rows=f"{READ} c d {EOS} {EOW} ch de", caption="ae bd ch de",
    ),
    "a word before the end": Edit(
        before="a b c d .", after="a b c h .", kept=f"{READ} c",
        rows=f"{READ} c h {EOS} {EOW} ch he", caption="ae bd ch he",
    ),
    "an end that comes late": Edit(
        before="a b c d", after="a b c d .", kept=None,
        rows=f"{READ} c d {EOW} ch de {EOS} {EOW}", caption="ae bd ch de",
    ),
    "a word after the end": Edit(
        before="a b .", after="a b c d", kept="begin de user a",
        rows="begin de user a b c d assistant ae bd ch de", caption="ae bd ch de",
    ),
    "behind an overflow": Edit(
        before="a b c d e f", after="a b c h e f", slot_length=3, kept=FIRST_SLOT,
        rows=f"{FIRST_SLOT} h e f assistant ch he ed fh", caption="ae bd ch he ed fh",
    ),
    "under wait-k": Edit(
        before="a b c d", after="a b c h .", policy="wait:2",
        kept="begin de user a b assistant c ae",
        rows=f"begin de user a b assistant c ae h {EOS} bd ch he", caption="ae bd ch he",
    ),
    "under offline": Edit(
        before="a b c .", after="a b h .", policy="offline", kept="begin de user a b",
        rows=f"begin de user a b h {EOS} assistant ae bd he", caption="ae bd he",
    ),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_keeps_the_rows_that_did_not_depend_on_its_words(edit):
    line = Line(edit.policy, edit.slot_length)
    line.type(edit.before.removesuffix(" ."), ended=edit.before.endswith("."))
    before, ended = line.rows, edit.after.endswith(".")
    assert line.set(edit.after.removesuffix(" ."), ended=ended) == (edit.kept is not None)
    assert line.rows == (before if edit.kept is None else edit.kept)
    line.translate()
    assert (line.rows, line.caption, line.utterance.finished) == (edit.rows, edit.caption, ended)


def test_an_end_that_is_taken_back_takes_only_the_marker():
    line = Line().type("a b c d")
    before = line.rows
    line.type("a b c d", ended=True)
    line.set("a b c d")
    assert line.rows == before
    assert not line.utterance.finished


@pytest.mark.parametrize("policy", ["read:1", "read:2", "read:3", "wait:1", "wait:3", "offline"])
def test_a_correction_costs_only_the_rows_from_the_word_on(policy):
    line = Line(policy).type("a b c d e f g h", ended=True)
    fed = line.translator.model.tokens_fed
    probes = line.translator.counters.probes
    line.set("a b c d e f h h", ended=True)
    kept = len(line.rows.split())
    line.translate()
    counters = line.translator.counters
    n_new = len(line.rows.split()) - kept
    assert line.translator.model.tokens_fed - fed == n_new + counters.probes - probes
    assert counters.tokens_recomputed == 0


# --- the state of an utterance without a model ----------------------------------------------------


def fresh(policy="read:3"):
    return hashing_translator(policy).open()


def units(text):
    return tuple(tuple(word_ids(tiny_tokenizer(), word)) for word in text.split())


def give(utterance, text, *, ended=False):
    source = SourceText(tuple(text.split()), ended, units(text), len(text.split()))
    if ended:
        read = utterance.source.units[: utterance.n_read]
        source = source.with_end(utterance.end, read, alone=False)
    return utterance.take_source(source)


def test_the_end_marker_comes_with_the_last_word_or_alone_when_that_was_read():
    marker = (fresh().prompt.end_of_source,)
    together, alone, empty = fresh(), fresh(), fresh()
    give(together, "a b", ended=True)
    assert together.source.units == (units("a")[0], units("b")[0] + marker)
    give(alone, "a b")
    alone.read()
    alone.read()
    give(alone, "a b", ended=True)
    assert alone.source.units == (*units("a b"), marker)
    give(empty, "", ended=True)
    assert empty.source.units == (marker,)


def test_an_utterance_asks_its_policy():
    utterance = fresh("read:2")
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
    utterance.set_source(bare(source.split(), ended=True))
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
