import copy
import random
import shutil
from dataclasses import replace

import pytest
import torch

from engine.settings import LayoutSettings, TranslationSettings
from engine.text.prompt import make_prompt, word_ids
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.fakes import (
    random_word,
    tiny_tokenizer,
    tiny_weights,
)
from tests.support.training_runs import pair_lines
from training.data.corpus import write_lines
from training.research.__main__ import main
from training.research.adaptive import HEAD_FILE
from training.research.when_to_write import (
    Stability,
    build_decisions,
    find_stability,
    read_sources,
)
from training.trainer.samples import AlignedReads

WEIGHTS = tiny_weights()
PROMPT = make_prompt(WEIGHTS.tokenizer, WEIGHTS.card, "de")


def ids(text):
    return tuple(id_ for word in text.split() for id_ in word_ids(tiny_tokenizer(), word))


def found(sources, weights=WEIGHTS, *, layout="slots", slot_length=5, n_lanes=3):
    settings = LayoutSettings(slot_length=slot_length, name=layout)
    every = find_stability(weights, PROMPT, settings, sources, max_tokens=60, n_lanes=n_lanes)
    return {one.source: one for one in every}


def steady_weights():
    """The tiny model, whose next token is decided by the newest one more than by all others."""
    weights = tiny_weights(seed=1)
    network = copy.deepcopy(weights.network)
    with torch.no_grad():
        for layer in network.model.layers:
            layer.self_attn.o_proj.weight *= 0.1
    return replace(weights, network=network)


def written(weights, words, *, ended):
    """What the translator says right after these words, and whether it had to be stopped."""
    settings = TranslationSettings(
        layout=LayoutSettings(slot_length=5), cut_loops=False, constrained=False
    )
    translator = Translator(weights, settings)
    translator.policy = AlignedReads(() if ended else (len(words),))
    utterance = translator.open()
    utterance.set_source(words, ended=ended)
    list(changes(utterance))
    n_asked = sum(row.label >= 0 for row in utterance.planner.rows)
    return tuple(utterance.target), n_asked < utterance.n_chosen


@pytest.mark.slow
def test_what_is_stable_is_what_the_translator_writes():
    rng, weights = random.Random(4), steady_weights()
    sources = [" ".join(random_word(rng) for _ in range(rng.randint(2, 4))) for _ in range(30)]
    every, n_stable, n_not = found(sources, weights), 0, 0
    for source in sources:
        words, one = source.split(), every[source]
        whole, stopped = written(weights, words, ended=True)
        assert one.target == (() if stopped else whole)
        expected = []
        for n_read in range(1, len(words)):
            caption, stopped = written(weights, words[:n_read], ended=False)
            is_stable = not stopped and caption == one.target[: len(caption)]
            expected.append(len(caption) if is_stable else 0)
            n_stable += len(caption) > 0 and is_stable
            n_not += len(caption) > 0 and not is_stable
        assert one.stable == tuple(expected)
    assert min(n_stable, n_not) > 3, (n_stable, n_not)


@pytest.mark.parametrize("layout", ["slots", "gpe", "conversational", "source-apart"])
def test_sentences_side_by_side_are_as_stable_as_alone(layout):
    rng = random.Random(5)
    sources = [" ".join(random_word(rng) for _ in range(rng.randint(2, 6))) for _ in range(9)]
    assert found(sources, layout=layout) == found(sources, layout=layout, n_lanes=1)


def test_each_token_is_laid_out_after_the_first_word_at_which_it_is_stable():
    words = [ids(word) for word in "a b c d".split()]
    one = Stability("a b c d", ids("ae bd ch de"), (0, 2, 1))
    assert one.labels == (0.0, 1.0, 1.0)
    pair = one.pair(words)
    assert pair.target == tuple((id_,) for id_ in one.target)
    assert pair.needs == (2, 2, 4, 4)
    decisions = build_decisions(pair, PROMPT, LayoutSettings(), level=0, labels=one.labels)
    assert [decisions.rows[index].id for index in decisions.asked] == [
        word[-1] for word in words[:3]
    ]
    assert decisions.labels == one.labels
    read = [row.time for row in decisions.rows if row.id in words[1]]
    told = [row.time for row in decisions.rows if row.id == one.target[0]]
    assert told == [read[0] + 1], "the first token is chosen in the pass of the second word"


def test_sources_are_the_first_column_of_whatever_lines_there_are(tmp_path):
    path = tmp_path / "lines"
    write_lines(path, ["a  b", "c d\tx y", "", "alone", "e f\tz\tcorpus\t1 2", "a b c d e f g h"])
    found = list(read_sources(path, tiny_tokenizer(), 4))
    assert found == ["a b", "c d", "e f"]


@pytest.fixture
def base(plain_model, tmp_path):
    """The tiny model's folder to be written into."""
    return shutil.copytree(plain_model, tmp_path / "base")


def test_a_head_is_trained_on_sources_alone(base, tmp_path, capsys):
    data = tmp_path / "sources.en"
    write_lines(data, [line.split("\t")[0] for line in pair_lines(40)])
    command = ["policy-head", "--model", str(base), "--data", f"de={data}", "--pairs", "30"]
    assert main([*command, "--labels", "stability"]) == 0
    assert "words kept back" in capsys.readouterr().out
    assert (base / HEAD_FILE).exists()
