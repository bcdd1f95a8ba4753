"""Faults that published code has in its read-n data, each shown to be absent here.

Whose they are is told beside them: Conversational SimulMT (Wang et al. 2024) and SimulMask (Raffel
et al. 2024), as their public repositories stood in 2026. That words of a write which is cut short
are carried over, none lost, is in test_cut_writes.py.
"""

import random

import pytest

from engine.layout.rows import IGNORE
from engine.policy import Offline, ReadN, WaitK
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt, numbered_pair, random_word, tiny_tokenizer
from tests.support.rows import build_rows
from training.data.aligned_pairs import AlignedPair, read_aligned
from training.data.corpus import SentencePair
from training.data.read_schedule import needed_words, ratio_needs, read_write_runs
from training.data.word_alignment import aligner_form
from training.errors import CorpusError
from training.settings import Mixture
from training.trainer.samples.mixture import AlignedReads, cut_writes, merged_boundaries
from training.trainer.samples.pairs import tokenize

EOS, EOW, EOT = 930, 931, 932
BLANKS = (" ", "  ", "\u00a0", "\u3000", "\u2009 ", "\x1c", "\x85")


def random_alignments(n_cases):
    for seed in range(n_cases):
        rng = random.Random(seed)
        n_source, n_target = rng.randint(1, 9), rng.randint(2, 9)
        n_links = rng.randint(1, n_target)
        links = [(rng.randrange(n_source), rng.randrange(n_target)) for _ in range(n_links)]
        yield rng, links, n_source, n_target


def random_samples(n_cases):
    for seed in range(n_cases):
        rng = random.Random(seed)
        pair = numbered_pair(rng)
        aligned = AlignedReads(merged_boundaries(pair.needs, rng))
        policy = rng.choice(
            [aligned, ReadN(rng.randint(1, 4)), WaitK(rng.randint(1, 4)), Offline()]
        )
        layout = LayoutSettings(slot_length=rng.randint(3, 16))
        sample = cut_writes(pair, policy, Mixture(cut_writes=0.5), rng)
        alone = rng.random() < 0.5
        rows = build_rows(sample, policy, bare_prompt(), layout, marker_alone=alone)
        yield sample, policy, rows


def aligned_file(path, *pairs):
    path.write_text("".join(pair.as_line() for pair in pairs), encoding="utf-8")
    return path


# --- schedules ------------------------------------------------------------------------------------


def test_the_first_read_reaches_the_largest_source_word_of_the_first_target_word_not_the_smallest():
    """Conversational SimulMT reads up to the smallest, and writes the word before it is known."""
    for rng, links, n_source, n_target in random_alignments(500):
        more = [*links, (rng.randrange(n_source), 0), (rng.randrange(n_source), 0)]
        first = read_write_runs(needed_words(more, n_source, n_target), n_source)[0]
        assert first.n_read == max(source for source, target in more if target == 0) + 1


def test_a_word_waits_for_its_largest_source_word_not_for_the_one_that_is_named_last():
    """Conversational SimulMT takes the last of a word's links, whatever their order."""
    for _, links, n_source, n_target in random_alignments(500):
        expected = needed_words(sorted(links), n_source, n_target)
        assert needed_words(sorted(links, reverse=True), n_source, n_target) == expected


def test_words_without_links_are_not_filled_from_the_first_link():
    """Conversational SimulMT gives two such words in a row the source word of the first link."""
    assert needed_words([(0, 0), (5, 3)], 8, 5) == (1, 6, 6, 6, 8)
    for _, links, n_source, n_target in random_alignments(500):
        needs = needed_words(links, n_source, n_target)
        linked = {target for _, target in links}
        for target in set(range(n_target)) - linked:
            after = [other for other in linked if other > target]
            assert needs[target] == (needs[min(after)] if after else n_source)


def test_no_target_word_comes_before_every_source_word():
    """Words filled from index 0 and schedules that round down would be written unread."""
    for _, links, n_source, n_target in random_alignments(300):
        assert needed_words(links, n_source, n_target)[0] >= 1
        assert ratio_needs(n_source, n_target)[0] >= 1


# --- samples --------------------------------------------------------------------------------------


@pytest.mark.parametrize("marker_alone", [False, True], ids=["with the last word", "alone"])
def test_a_sample_of_one_turn_ends_with_its_end_marker(marker_alone):
    """Conversational SimulMT leaves it out there: short sentences would never end."""
    for seed in range(100):
        pair = numbered_pair(random.Random(seed))
        for policy in (ReadN(99), AlignedReads((len(pair.source),)), Offline()):
            rows = build_rows(
                pair, policy, bare_prompt(), LayoutSettings(), marker_alone=marker_alone
            )
            labels = [row.label for row in rows if row.label != IGNORE]
            assert labels[-1] == (EOW if policy.ends_writes else EOT)
            assert sum(label in (EOW, EOT) for label in labels) >= 1


def test_every_write_of_every_sample_ends_with_a_marker_that_is_fed_or_last():
    for _, policy, rows in random_samples(300):
        if policy.ends_writes:
            assert rows[-1].label == EOW
            labelled = sum(row.label == EOW for row in rows)
            fed = sum(row.id == EOW for row in rows)
            assert labelled <= fed + 1


def test_a_target_never_ends_before_its_source():
    """SimulMask's end of target stops a translation whose source still comes."""
    for _, policy, rows in random_samples(300):
        marker = next(row.time for row in rows if row.id == EOS)
        ends = [row.time for row in rows if row.label == EOT]
        assert all(time >= marker for time in ends)
        assert len(ends) == (not policy.ends_writes)


def test_every_sub_word_sees_whole_source_words_and_no_more_than_its_word_may():
    """SimulMask's mask knows words only; here each row has a time, and words arrive whole."""
    for pair, policy, rows in random_samples(300):
        fed_at = {row.id: row.time for row in rows}
        asked_at = {row.label: row.time for row in rows}
        for word in pair.source:
            assert len({fed_at[id_] for id_ in word}) == 1
        if policy.ends_writes:
            for word, need in zip(pair.target, pair.needs, strict=True):
                for id_ in word:
                    n_read = sum(fed_at[ids[-1]] <= asked_at[id_] for ids in pair.source)
                    assert n_read >= need


# --- words and their ids --------------------------------------------------------------------------


def test_aligner_schedule_and_tokenizer_count_the_same_words(tmp_path):
    """SimulMask trains without its mask, silently, where two tokenisations differ."""
    rng = random.Random(0)

    def text():
        words = [random_word(rng) + rng.choice(["", ",", "."]) for _ in range(rng.randint(1, 8))]
        return "".join(word + rng.choice(BLANKS) for word in words)

    pairs = []
    for _ in range(200):
        source, target = text(), text()
        n_source, n_target = (len(aligner_form(side).split()) for side in (source, target))
        needs = ratio_needs(n_source, n_target)
        pairs.append(AlignedPair(SentencePair(source, target, "test"), needs))
    path = aligned_file(tmp_path / "pairs.tsv", *pairs)
    assert list(read_aligned([path])) == pairs
    tokenized = [one.pair for one in tokenize({"de": path}, tiny_tokenizer(), 240)]
    assert [pair.needs for pair in tokenized] == [pair.needs for pair in pairs]
    for pair, words in zip(tokenized, pairs, strict=True):
        assert len(pair.source) == len(words.pair.source.split())
        assert len(pair.target) == len(words.pair.target.split()) == len(pair.needs)


def test_a_schedule_that_does_not_fit_its_words_is_refused_not_left_out(tmp_path):
    """Likewise."""
    path = tmp_path / "pairs.tsv"
    path.write_text("a b\tx y z\ttest\t1 2\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="3 target words need as many numbers, got 2"):
        list(tokenize({"de": path}, tiny_tokenizer(), 240))


def test_rows_hold_the_ids_of_the_words_and_no_text_is_tokenised_again():
    """Both tokenise text anew for a prefix or a length, and get other tokens than were fed."""
    for pair, _, rows in random_samples(300):
        in_order = [row.id for row in sorted(rows, key=lambda row: row.position)]
        source, target = (
            [id_ for word in side for id_ in word] for side in (pair.source, pair.target)
        )
        assert [id_ for id_ in in_order if 1000 <= id_ < 2000] == source
        assert [id_ for id_ in in_order if id_ >= 2000] == target


def test_a_pair_that_is_too_long_is_left_out_and_never_cut(tmp_path):
    """Conversational SimulMT cuts its tokens, and keeps it in the batch without a label."""
    long = AlignedPair(SentencePair("a " * 240, "x", "test"), None)
    short = AlignedPair(SentencePair("a b", "x y", "test"), (1, 2))
    path = aligned_file(tmp_path / "pairs.tsv", long, short)
    (kept,) = tokenize({"de": path}, tiny_tokenizer(), 240)
    assert kept.pair.needs == (1, 2)
