import copy
import json
import random
import shutil
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from engine.runtime.causal_model import Computed
from engine.runtime.rows import RowBook
from engine.settings import LayoutSettings, ModelSettings, TranslationSettings
from engine.text.prompt import make_prompt, word_ids
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.fakes import (
    WORD_FOR_WORD,
    random_word,
    tiny_tokenizer,
    tiny_weights,
)
from tests.support.training_runs import pair_lines, write_pairs
from training.data.corpus import write_lines
from training.errors import TrainingError, UsageError
from training.research import when_to_write as stability
from training.research.__main__ import main
from training.research.adaptive import HEAD_FILE
from training.research.when_to_write import (
    Owner,
    Stability,
    build_decisions,
    find_stability,
    keep_stability,
    read_sources,
)
from training.trainer.samples import AlignedReads

WEIGHTS = tiny_weights()
PROMPT = make_prompt(WEIGHTS.tokenizer, WEIGHTS.card, "de")
OWNER = Owner(model="1", adapter="", prompt=(1, 2), layout="slots", slot_length=16)


def ids(text):
    return tuple(id_ for word in text.split() for id_ in word_ids(tiny_tokenizer(), word))


def found(sources, weights=WEIGHTS, *, layout="slots", slot_length=5, n_lanes=3):
    settings = LayoutSettings(slot_length=slot_length, name=layout)
    every = find_stability(weights, PROMPT, settings, sources, max_tokens=60, n_lanes=n_lanes)
    return {one.source: one for one in every}


class ModelByHand:
    """In the place of ``TorchStore``: translates word for word by rules, by the rows it keeps.

    ``b c`` becomes ``ch bd``, so a ``b`` alone is told too early; ``e`` waits for the next word;
    ``h`` is never done.
    """

    max_positions = 1 << 20
    arithmetic = SimpleNamespace(flops=lambda *_: 0)
    fed_sources = 0

    def __init__(self, _network, n_lanes, capacity):
        self.book = RowBook(n_lanes, capacity)
        self._rows = [[] for _ in range(n_lanes)]

    def use(self, layout):
        assert layout.name == "slots"

    compute = None

    def feed(self, asked):
        self.book.begin([(ask.lane, ask.rows) for ask in asked])
        answers = []
        for lane, rows, *_ in asked:
            self._rows[lane][self.book.n_rows[lane] :] = rows
            logits = torch.zeros(384)
            logits[self._next(self._rows[lane])] = 1
            answers.append(Computed(logits))
        self.book.commit()
        return answers

    def _next(self, rows):
        (header,) = PROMPT.headers.assistant
        n_before = [row.id for row in rows].index(header)
        source = [row.id for row in rows[:n_before]]
        source = source[len(PROMPT.headers.system) + len(PROMPT.headers.first) :]
        ended = source[-1] == PROMPT.end_of_source
        words = tiny_tokenizer().decode(source[: len(source) - ended]).split()
        target = self._translation(words, ended=ended)
        n_written = len(rows) - n_before - 1
        return ids(target)[n_written] if n_written < len(ids(target)) else PROMPT.end_of_write

    @staticmethod
    def _translation(words, *, ended):
        words = list(words)
        if words[-1] == "e" and not ended:
            words.pop()
        told = [WORD_FOR_WORD[word] for word in words]
        for index in range(1, len(words)):
            if words[index - 1 : index + 1] == ["b", "c"]:
                told[index - 1 : index + 1] = ["ch", "bd"]
        return " ".join(told + ["he"] * 50 * ("h" in words))


@pytest.mark.parametrize(
    ("source", "target", "stable"),
    [
        ("a b c e f", "ae ch bd ed fh", (1, 0, 3, 3)),
        ("b c", "ch bd", (0,)),
        ("e f", "ed fh", (0,)),  # an empty write
        ("b d e", "bd de ed", (1, 2)),
        ("f b", "fh bd", (1,)),
        ("a h a", "", (0, 0)),  # a translation without an end says nothing
    ],
)
def test_a_word_is_stable_where_what_is_written_there_begins_the_translation_of_the_sentence(
    monkeypatch, source, target, stable
):
    monkeypatch.setattr(stability, "TorchStore", ModelByHand)
    others = ["c c c c c", "d d"]  # in the lanes beside it
    every = found([source, *others])
    assert every[source] == Stability(source, ids(target), stable)
    assert every["d d"] == Stability("d d", ids("de de"), (1,))


def test_a_word_in_several_tokens_is_read_whole(monkeypatch):
    long = next(
        word for word in map(random_word, map(random.Random, range(99))) if len(ids(word)) > 1
    )
    fed = []

    class Noting(ModelByHand):
        def feed(self, asked):
            fed.extend(row.id for ask in asked for row in ask.rows)
            return super().feed(asked)

        def _next(self, _rows):
            return PROMPT.end_of_write

    monkeypatch.setattr(stability, "TorchStore", Noting)
    source = f"a {long} b"
    assert found([source], n_lanes=1)[source] == Stability(source, (), (0, 0))
    assert [id_ for id_ in fed if id_ in ids(source)] == list(ids(source)), "each is fed once"


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


SOURCES = ["a b", "b c d", "a"]


def find(sources):
    return [Stability(one, (7, 8), (1,) * (len(one.split()) - 1)) for one in reversed(sources)]


def none_left(sources):
    raise AssertionError(sources)


def test_a_stopped_search_goes_on_where_it_was(tmp_path):
    path, asked = tmp_path / "labels.jsonl", []

    def stops(sources):
        yield from find(sources)[:2]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        keep_stability(path, OWNER, SOURCES, stops)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"source": "a b", "tar')  # the process was killed

    def rest(sources):
        asked.extend(sources)
        return find(sources)

    every = keep_stability(path, OWNER, SOURCES, rest)
    assert asked == ["a b"]
    assert [one.source for one in every] == SOURCES
    assert keep_stability(path, OWNER, SOURCES[::-1], none_left) == every[::-1]
    assert keep_stability(path, OWNER, [*SOURCES, "x y"], find)[:3] == every, "more may be found"


@pytest.mark.parametrize(
    ("name", "value"), [("model", "2"), ("prompt", (1,)), ("slot_length", 8), ("layout", "gpe")]
)
def test_labels_of_another_model_are_refused(tmp_path, name, value):
    path = tmp_path / "labels.jsonl"
    keep_stability(path, OWNER, SOURCES, find)
    before = path.read_bytes()
    with pytest.raises(UsageError, match=f"of another {name.replace('_', ' ')}: choose another"):
        keep_stability(path, replace(OWNER, **{name: value}), SOURCES, find)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        '{"source": "a b c", "target": [7], "stable": [1]}',
        '{"source": "a b", "target": [7], "stable": [2]}',
        '{"source": "a b", "target": [7], "stable": [-1]}',
        '{"source": "a b", "target": "7", "stable": [1]}',
        "[]",
        "{",
    ],
)
def test_a_garbled_file_of_labels_is_refused(tmp_path, line):
    path = tmp_path / "labels.jsonl"
    keep_stability(path, OWNER, SOURCES, find)
    first, *others = path.read_text(encoding="utf-8").splitlines()
    write_lines(path, [first, line, *others])
    with pytest.raises(TrainingError, match=r"holds no labels of stability \(.+\): name another"):
        keep_stability(path, OWNER, SOURCES, find)


def test_sources_are_the_first_column_of_whatever_lines_there_are(tmp_path):
    path = tmp_path / "lines"
    write_lines(path, ["a  b", "c d\tx y", "", "alone", "e f\tz\tcorpus\t1 2", "a b c d e f g h"])
    found = list(read_sources(path, tiny_tokenizer(), 4))
    assert found == ["a b", "c d", "e f"]


@pytest.fixture
def base(plain_model, tmp_path):
    """The tiny model's folder to be written into."""
    return shutil.copytree(plain_model, tmp_path / "base")


def train(base, data, keep, *more):
    command = ["policy-head", "--model", str(base), "--data", f"de={data}", "--pairs", "30"]
    return main([*command, "--labels", "stability", "--keep", str(keep), *more])


def test_a_head_is_trained_on_sources_alone_and_the_same_again_from_what_was_kept(
    base, tmp_path, monkeypatch, capsys
):
    data, keep = tmp_path / "sources.en", tmp_path / "labels.jsonl"
    write_lines(data, [line.split("\t")[0] for line in pair_lines(40)])
    assert train(base, data, keep) == 0
    assert "words kept back" in capsys.readouterr().out
    head = (base / HEAD_FILE).read_bytes()
    owner, *lines = map(json.loads, keep.read_text(encoding="utf-8").splitlines())
    assert owner["layout"] == "slots"
    assert 20 < len(lines) <= 30
    monkeypatch.setattr("training.research.when_to_write.find_stability", none_left)
    assert train(base, data, keep) == 0
    assert (base / HEAD_FILE).read_bytes() == head


def test_labels_that_are_kept_belong_to_the_weights_not_to_the_head(base, tmp_path):
    settings, layout = ModelSettings(directory=base), LayoutSettings()
    before = Owner.of(settings, PROMPT, layout)
    (base / HEAD_FILE).write_bytes(b"a head")
    assert Owner.of(settings, PROMPT, layout) == before
    other = shutil.copytree(base, tmp_path / "other")
    content = bytearray((other / "model.safetensors").read_bytes())
    content[-1] ^= 1
    (other / "model.safetensors").write_bytes(content)
    assert Owner.of(ModelSettings(directory=other), PROMPT, layout).model != before.model


def test_a_translation_that_never_ends_teaches_nothing(base, tmp_path, monkeypatch, capsys):
    def endless(_weights, _prompt, _layout, sources, **_others):
        return [Stability(one, (), (0,) * (len(one.split()) - 1)) for one in sources]

    monkeypatch.setattr("training.research.when_to_write.find_stability", endless)
    data = write_pairs(tmp_path / "pairs.tsv", 20)
    assert train(base, data, tmp_path / "labels.jsonl") == 1
    assert "too few pairs with a translation and two source words" in capsys.readouterr().err


def test_a_head_learns_the_labels(base, tmp_path, monkeypatch, capsys):
    for n_stable, share in ((2, "100%"), (0, "0%")):

        def find(_weights, _prompt, _layout, sources, n=n_stable, **_others):
            return [Stability(one, (300, 301), (n,) * (len(one.split()) - 1)) for one in sources]

        monkeypatch.setattr("training.research.when_to_write.find_stability", find)
        data = write_pairs(tmp_path / "pairs.tsv", 20, aligned=False)
        assert train(base, data, tmp_path / f"{n_stable}.jsonl") == 0
        assert f"{share} at 0.3, {share} at 0.5" in capsys.readouterr().out


@pytest.mark.parametrize("more", [["--labels", "stability"], ["--keep", "labels.jsonl"]])
def test_labels_of_stability_and_their_file_are_named_together(plain_model, more, capsys):
    command = ["policy-head", "--model", str(plain_model), "--data", "de=pairs.tsv"]
    assert main([*command, *more]) == 2
    assert "--labels stability needs --keep F.jsonl" in capsys.readouterr().err
