"""Faults that published code has in its read-n data, each shown to be absent here.

Whose they are is told beside them: Conversational SimulMT (Wang et al. 2024) and SimulMask (Raffel
et al. 2024), as their public repositories stood in 2026. The others stand where the code is
tested: schedules that take the smallest or the last link, or round down, in test_read_schedule.py;
words of a write that is cut short in test_cut_writes.py; ends of writes in test_samples.py.
"""

import random

import pytest

from engine.layout.rows import IGNORE
from engine.policy import Offline, ReadN, WaitK
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt, numbered_pair, random_word, tiny_tokenizer
from tests.support.rows import build_rows
from training.data.alignment import AlignedPair, aligner_form, ratio_needs, read_aligned
from training.data.corpus import SentencePair
from training.trainer.samples import AlignedReads, merged_boundaries, tokenize

EOS, EOW, EOT = 930, 931, 932
BLANKS = (" ", "  ", "\u00a0", "\u3000", "\u2009 ", "\x1c", "\x85")


def random_samples(n_cases):
    for seed in range(n_cases):
        rng = random.Random(seed)
        pair = numbered_pair(rng)
        aligned = AlignedReads(merged_boundaries(pair.needs, rng))
        policy = rng.choice(
            [aligned, ReadN(rng.randint(1, 4)), WaitK(rng.randint(1, 4)), Offline()]
        )
        layout = LayoutSettings(slot_length=rng.randint(3, 16))
        alone = rng.random() < 0.5
        rows = build_rows(pair, policy, bare_prompt(), layout, marker_alone=alone)
        yield pair, policy, rows


def aligned_file(path, *pairs):
    path.write_text("".join(pair.as_line() for pair in pairs), encoding="utf-8")
    return path


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


def test_a_target_never_ends_before_its_source():
    """SimulMask's end of target stops a translation whose source still comes."""
    for _, policy, rows in random_samples(300):
        marker = next(row.time for row in rows if row.id == EOS)
        ends = [row.time for row in rows if row.label == EOT]
        assert all(time >= marker for time in ends)
        assert len(ends) == (not policy.ends_writes)


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
