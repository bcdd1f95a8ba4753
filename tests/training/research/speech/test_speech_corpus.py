"""Corpora of speech: what a voice says, where it is cut, and parts of spectra that are hidden."""

import random
from dataclasses import replace

import numpy as np
import pytest

from engine.layout.rows import IGNORE
from engine.policy import Offline, ReadN
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.spoken import SpokenTranslator
from tests.support.direct.corpora import tones, write_tones
from tests.support.fakes import HashingModel, bare_prompt, random_pair, teach, tiny_weights
from tests.support.spoken import needs_voice
from tests.support.teacher import Teacher, word_tokens
from training.errors import CorpusError
from training.research.__main__ import main
from training.research.methods import nested_boundaries
from training.research.speech import (
    NOT_ASKED,
    Spoken,
    live_rows,
    masked,
    needed_blocks,
    offline_rows,
    spoken,
)
from training.research.speech_corpus import (
    Line,
    Request,
    Speech,
    is_here,
    known_voices,
    read_sound,
    read_table,
    said,
    write_table,
)
from training.trainer.samples import AlignedReads

BLOCK = 5120  # samples, 320 ms


def line(n_samples, **changes):
    whole = {
        "shard": "s", "first": 0, "source": "a b c", "target": "x y", "corpus": "", "voice": "",
        "needs": (1, 3), "ends_ms": (100, 320, 700),
    }  # fmt: skip
    return Line(n_samples=n_samples, **whole | changes)


def spoken_pair(rng, positions=2):
    """A pair whose source words are blocks, with a random schedule."""
    pair = random_pair(rng, first_id=100, n_ids=380)
    n_blocks = len(pair.source)
    blocks = tuple(
        tuple(-1 - positions * block - n for n in range(positions)) for block in range(n_blocks)
    )
    return Spoken(line=line(1), n_blocks=n_blocks, pair=replace(pair, source=blocks), words=())


def test_a_word_is_known_when_its_block_has_ended():
    assert needed_blocks(line(3 * BLOCK), 3, BLOCK) == (1, 3)
    assert needed_blocks(line(3 * BLOCK, needs=(2, 2)), 3, BLOCK) == (1, 1)
    assert needed_blocks(line(3 * BLOCK, ends_ms=(0, 321, 322)), 3, BLOCK) == (1, 2)


def test_every_block_has_ids_of_its_own_and_the_last_one_is_filled_up():
    tokenizer = tiny_weights().tokenizer
    one = spoken(line(2 * BLOCK + 1), tokenizer, BLOCK, 2)
    assert one.n_blocks == 3
    assert one.pair.source == ((-1, -2), (-3, -4), (-5, -6))
    assert one.words == sum((word_tokens(tokenizer, word) for word in "abc"), ())


@pytest.mark.parametrize("layout_name", ["slots", "interleaved"])
def test_the_rows_are_those_of_live_sound(layout_name):
    for seed in range(60):
        rng = random.Random(seed)
        weights = tiny_weights()
        policy = rng.choice([ReadN(rng.randint(1, 4)), Offline()])
        layout = LayoutSettings(slot_length=rng.randint(3, 16), name=layout_name)
        settings = TranslationSettings(policy=str(policy), layout=layout)
        translator = SpokenTranslator(weights, settings, capacity=64)
        translator.model = HashingModel()
        one = spoken_pair(rng)
        utterance = translator.open()
        teach(translator.model, Teacher(translator, one.pair, utterance))
        blocks = [vectors_of(block) for block in one.pair.source]
        for number, block in enumerate(blocks, start=1):
            utterance.hear([block], ended=number == len(blocks))
            list(changes(utterance))
        if isinstance(policy, Offline):
            built = offline_rows(one, utterance.prompt, layout)
        else:
            built, _ = live_rows(one, policy, utterance.prompt, layout)
        assert list(utterance.planner.rows) == list(built)


def vectors_of(block):
    return np.zeros((len(block), 64), np.float32)


@pytest.mark.parametrize("layout_name", ["slots", "interleaved"])
def test_a_write_is_right_at_the_last_block_of_a_part_and_at_each_token_of_its_translation(
    layout_name,
):
    prompt, n_mixed = bare_prompt(), 0
    for seed in range(200):
        rng = random.Random(seed)
        one, layout = spoken_pair(rng), LayoutSettings(slot_length=8, name=layout_name)
        apart = rng.choice([1, 2, 3])
        boundaries = nested_boundaries(one.pair.needs, apart)
        rows, decided = live_rows(one, AlignedReads(boundaries), prompt, layout)
        at_blocks = {
            -row.id // 2: label for row, label in zip(rows, decided, strict=True)
            if row.id < 0 and label != NOT_ASKED
        }  # fmt: skip
        ends = {*boundaries, one.n_blocks}
        assert at_blocks == {n: int(n in ends) for n in range(1, one.n_blocks + 1)}
        tokens = [
            label for row, label in zip(rows, decided, strict=True)
            if row.id >= 0 and row.label not in (IGNORE, prompt.end_of_write)
        ]  # fmt: skip
        assert tokens == [1] * sum(map(len, one.pair.target))
        others = [
            label for row, label in zip(rows, decided, strict=True)
            if row.id >= 0 and row.label in (IGNORE, prompt.end_of_write)
        ]  # fmt: skip
        assert set(others) <= {NOT_ASKED}
        n_mixed += len(set(at_blocks.values())) == 2
    assert n_mixed > 50


WORDS = "Please open the window tomorrow.".split()


def said_by(voice, **how):
    return said(Request(text=" ".join(WORDS), voice=voice, **how))


def speech(seconds=1.0, ends=(0.5, 1.0)):
    rng = np.random.default_rng(0)
    n_samples = round(seconds * 16_000)
    return Speech(samples=rng.normal(size=n_samples).astype(np.float32) * 0.1, ends_s=ends)


@pytest.mark.parametrize("engine", ["espeak-ng", "flite"])
def test_each_engine_says_a_text_and_tells_when_words_end_if_it_can(engine):
    if not is_here(engine):
        pytest.skip(f"needs {engine}")
    one = said_by(known_voices([engine])[0])
    length_s = len(one.samples) / 16_000
    assert 1.0 < length_s < 4.0
    assert 0.02 < np.abs(one.samples).max() <= 1.0
    if engine == "flite":
        assert one.ends_s is None
    else:
        assert len(one.ends_s) == len(WORDS)
        assert list(one.ends_s) == sorted(one.ends_s)
        assert 0.1 < one.ends_s[0] < one.ends_s[-1] <= length_s
        assert one.ends_s[-1] > length_s - 0.3


def write_aligned(path, n_pairs):
    rng = random.Random(0)
    lines = {f"{rng.choice(WORDS)} {rng.choice(WORDS)} number {n}" for n in range(n_pairs)}
    path.write_text("".join(f"{one}\tx y\tnumbers\t1 3\n" for one in sorted(lines)))
    return path


def make(pairs, out, *arguments):
    command = ["speech-data", "--pairs", str(pairs), "--out", str(out), "--train", "6"]
    command += ["--dev", "2", "--test", "3", "--engines", "espeak-ng"]
    return main([*command, "--held-back", "espeak-ng/*klatt*", *arguments])


@needs_voice
@pytest.mark.slow
def test_a_corpus_has_sentences_and_voices_that_are_held_back(tmp_path):
    pairs = write_aligned(tmp_path / "pairs.tsv", 30)
    assert make(pairs, tmp_path / "one") == 0
    tables = {name: tmp_path / "one" / f"{name}.tsv" for name in ("train", "dev", "test")}
    lines = {name: read_table(table) for name, table in tables.items()}
    assert {name: len(own) for name, own in lines.items()} == {"train": 6, "dev": 2, "test": 3}
    sources = [{line.source for line in own} for own in lines.values()]
    assert len(set.union(*sources)) == sum(map(len, sources)) == 11
    assert all("klatt" in line.voice for line in lines["test"])
    assert not any("klatt" in line.voice for line in lines["train"] + lines["dev"])
    for line in lines["train"]:
        sound = read_sound(tables["train"], line)
        assert 0.15 < np.abs(sound).max() < 0.95
        assert 0 < line.ends_ms[0] < line.ends_ms[-1] <= 1000 * len(sound) / 16_000
        assert line.needs == (1, 3)


@pytest.fixture
def table(tmp_path):
    return write_tones(tmp_path / "letters.tsv", 5)


def test_what_was_written_is_read_again(table, tmp_path):
    lines = read_table(table)
    write_table(tmp_path / "again.tsv", lines)
    assert read_table(tmp_path / "again.tsv") == lines
    assert len({line.first for line in lines}) == 5
    for number, line in enumerate(lines):
        expected = tones(line.source.split(), number)
        np.testing.assert_allclose(read_sound(table, line), expected, atol=1 / 32767)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"first": "-1"}, "sound begins at 0"),
        ({"n_samples": "0"}, "has a sample"),
        ({"n_samples": "99999999"}, "too few for it"),
        ({"shard": "../letters"}, "a shard is the name of a file beside it"),
        ({"shard": ""}, "a shard is the name of a file beside it"),
        ({"shard": "other"}, "No such file"),
        ({"needs": "1"}, "as many needs"),
        ({"ends_ms": "1"}, "as many ends_ms"),
        ({"first": "x"}, "invalid literal"),
    ],
)
def test_a_line_that_is_no_utterance_is_refused_by_one_sentence(table, changes, what):
    names = ["shard", "first", "n_samples", "source", "target", "corpus", "needs", "ends_ms"]
    lines = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    for name, value in changes.items():
        lines[1][names.index(name)] = value
    table.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(CorpusError, match=f"^line 2 of .* is no utterance .*{what}"):
        read_table(table)


MEL = np.random.default_rng(0).normal(size=(64, 80)).astype(np.float32)


@pytest.mark.parametrize("n_masks", [0, 1, 3])
def test_masks_hide_stretches_of_bins_and_of_time(n_masks):
    hidden = [
        masked(MEL, np.full(80, 9, np.float32), n_masks, random.Random(seed)) == 9
        for seed in range(20)
    ]
    bins = [h.all(axis=0).sum() for h in hidden]
    frames = [h.all(axis=1).sum() for h in hidden]
    assert max(bins) <= 15 * n_masks
    assert max(frames) <= int(0.05 * 64) * n_masks
    assert (max(bins) > 0 and max(frames) > 0) == (n_masks > 0)
    for h in hidden:  # no single number: whole bins and whole frames
        np.testing.assert_array_equal(h, h.all(axis=0)[None] | h.all(axis=1)[:, None])
    assert (MEL != 9).all()
