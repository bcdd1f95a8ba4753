"""Looking, to decide between READ and WRITE, leaves no trace: guards planner, marks and decisions.

The same words are read with looks and without, in one go and after edits.
"""

import random
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
import torch

from engine.errors import PolicyError
from engine.events import n_same
from engine.layout.planner import make_planner
from engine.layout.rows import visible
from engine.metrics.event_log import EventLog
from engine.policy import parse_policy
from engine.runtime.torch.torch_store import slot_model
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import changes
from tests.support.commands import bare
from tests.support.fakes import bare_prompt, hashing_translator, random_word, tiny_weights
from tests.support.networks import ALIBI, N_IDS, TerseModel, masked_output, tiny_network
from tests.support.rows import ghost
from training.research.adaptive import (
    Adaptive,
    AdaptiveTranslator,
    PolicyHead,
    probability_of_others,
)
from training.research.methods import LAYOUTS

APPENDING = [
    layout for layout in ("slots", *LAYOUTS) if layout not in ("recomputed", "source-apart")
]
"""In ``source-apart`` the last token of a closed phase stands behind all source in the order of
sight, so it sees the words that are fed with it; after a look fewer are.
"""


def cells(rows):
    """Who sees whom, a cell for each pair of rows."""
    position, time = (np.array([row[field] for row in rows]) for field in (1, 2))
    return visible(position, time, position, time)


def small(rows):
    return [row._replace(id=row.id % N_IDS) for row in rows]


class Reader:
    """A planner and a model that feeds its rows; with looks or without."""

    def __init__(self, layout, headers, network):
        self.planner = make_planner(headers, layout)
        self.model = slot_model(network, 400)
        self.model.use(layout)

    def look(self):
        look = getattr(self.planner, "look", None)  # where the source is asked
        if look is not None:
            self.model.feed(small(look()))
            return
        self.model.feed(small(self.planner.write()))
        self.model.truncate(self.planner.take_back(keeps_time=True))

    def write(self):
        return self.model.feed(small(self.planner.write()))


@pytest.mark.parametrize("layout_name", APPENDING)
def test_reading_in_looks_changes_no_mask_cell_and_no_logit(layout_name):
    network = tiny_network(min(ALIBI) if layout_name == "simulmask" else "llama")
    n_looks = n_written = 0
    for seed in range(4):
        rng = random.Random(seed)
        layout = LayoutSettings(slot_length=rng.randint(3, 16), name=layout_name)
        headers = bare_prompt(*(rng.randint(1, 3) for _ in range(3))).headers
        looking, plain = (Reader(layout, headers, network) for _ in range(2))
        for _ in range(rng.randint(2, 5)):
            for _ in range(rng.randint(1, 4)):
                word = [rng.randrange(370) for _ in range(rng.randint(1, 3))]
                looking.planner.read(word)
                plain.planner.read(word)
                if rng.random() < 0.7:
                    looking.look()
                    n_looks += 1
            for _ in range(rng.randint(1, 4)):
                torch.testing.assert_close(looking.write(), plain.write(), rtol=0, atol=1e-9)
                id_ = rng.randrange(370)
                looking.planner.choose(id_)
                plain.planner.choose(id_)
                n_written += 1
        rows, twins = (
            [row._replace(time=0) for row in one.planner.rows] for one in (looking, plain)
        )
        assert rows == twins
        n_fed = looking.planner.n_fed
        assert (cells(looking.planner.rows[:n_fed]) == cells(plain.planner.rows[:n_fed])).all()
        assert looking.model.n_rows == plain.model.n_rows == n_fed == plain.planner.n_fed
    assert n_looks > 15
    assert n_written > 15


HASHING_HEAD = PolicyHead(np.array([[0.0], [6.0]]))


def looking(policy, *, head=None, **settings):
    """A translator that asks a head, or the model itself."""
    made = hashing_translator(policy, kind=AdaptiveTranslator, **settings)
    made.head = head
    return made


def random_turns(rng, most=8):
    """Versions of a text that is typed and edited, the last of which ends it."""
    words, turns = [], []
    for _ in range(rng.randint(2, most)):
        words = [*words, *(random_word(rng) for _ in range(rng.randint(1, 3)))]
        turns.append(words)
        if rng.random() < 0.5:  # an edit: a word is changed or taken away
            index = rng.randrange(len(words))
            news = [random_word(rng)] if rng.random() < 0.7 else []
            words = [*words[:index], *news, *words[index + 1 :]]
            turns.append(words)
    return turns


def typed(engine, turns, *, ended=True):
    """Type each version word by word from where it differs: words together ask for no look."""
    utterance, before = engine.open(), []
    for number, words in enumerate(turns, start=1):
        same = n_same(before, words)
        for n_words in range(min(same + 1, len(words)), len(words) + 1):
            ends = ended and number == len(turns) and n_words == len(words)
            utterance.set_source(bare(words[:n_words], ended=ends))
            list(changes(utterance))
        before = words
    return utterance


@pytest.mark.parametrize("layout", ["slots", "interleaved"])
@pytest.mark.parametrize(
    ("adaptive", "fixed", "head"),
    [
        ("adaptive:0", "read:1", None),
        ("adaptive:0", "read:1", HASHING_HEAD),
        ("adaptive:1:1", "read:1", None),
        ("adaptive:1:3", "read:3", None),
    ],
)
def test_the_ends_of_tau_are_a_fixed_schedule_to_the_mask_cell(adaptive, fixed, head, layout):
    for seed in range(6):
        rng = random.Random(seed)
        turns, settings = random_turns(rng), {"slot_length": rng.randint(3, 16), "layout": layout}
        asking = looking(adaptive, head=head, **settings)
        utterance = typed(asking, turns)
        twin = typed(hashing_translator(fixed, **settings), turns)
        rows, expected = utterance.fed_rows(), twin.fed_rows()
        assert [row._replace(time=0) for row in rows] == [row._replace(time=0) for row in expected]
        assert (cells(rows) == cells(expected)).all()
        assert utterance.caption == twin.caption
        assert utterance.finished
        assert layout == "slots" or asking.counters.probes == 0


def decisions(events):
    """The decisions that stand: after how many words, how likely a write was, and what was done."""
    standing = []
    for event in events:
        if event["event"] == "rewound":
            standing = [one for one in standing if one[0] <= event["n_read"]]
        elif event["event"] == "decided":
            standing.append((event["n_read"], event["write_probability"], event["action"]))
    return standing


@pytest.mark.parametrize("layout", ["slots", "interleaved"])
def test_after_a_rewind_to_any_word_decisions_are_those_of_a_fresh_run(layout):
    actions = {"read": 0, "write": 0}
    for seed in range(20):
        rng, head = random.Random(seed), HASHING_HEAD if seed % 2 else None
        slot_length, tau = rng.randint(3, 16), rng.choice([0.2, 0.5, 0.8])
        if layout == "interleaved" and head is None:
            continue  # the model that hashes finds no end of a read likely
        words = [random_word(rng) for _ in range(rng.randint(2, 9))]
        index = rng.randrange(len(words))
        edited = [*words[:index], random_word(rng), *words[index + 1 :]][: rng.randint(1, 9)]
        found = []
        for turns in ([words, edited], [edited[:n] for n in range(1, len(edited) + 1)]):
            events = []
            log = EventLog(events)
            engine = looking(
                f"adaptive:{tau}", slot_length=slot_length, log=log, head=head, layout=layout
            )
            utterance = typed(engine, turns, ended=False)
            found.append((decisions(events), utterance))
        (rewound, utterance), (fresh, twin) = found
        assert rewound == fresh
        assert utterance.caption == twin.caption
        for _, _, action in fresh:
            actions[action] += 1
    assert min(actions.values()) > 6, actions


class NotingTranslator(AdaptiveTranslator):
    """Keeps of each look, by the words read: its rows, and how likely a write is with no head."""

    def __init__(self, *arguments, **others):
        super().__init__(*arguments, **others)
        self.looks = {}

    def _predict(self, utterance):
        looks = self.asks(utterance)
        id_ = yield from super()._predict(utterance)
        if looks:
            planner, logits = utterance.planner, self.model.logits()
            likely = probability_of_others(logits, utterance.prompt.end_of_write)
            rows = list(planner.rows[: planner.n_fed])
            self.looks[utterance.n_read] = Look(rows, planner._last_write.n_rows, likely)
        return id_


class Look(NamedTuple):
    rows: list
    n_before: int  # rows that are no part of the question
    without_head: float


def in_one_pass(rows, standing, looks):
    """All rows of an utterance and of its looks, and which two of them decide.

    Each decision is made by the row that is asked for a token, or by the newest source row.
    """
    index_of = {(row.position, row.time): index for index, row in enumerate(rows)}
    together, asked, sources = list(rows), [], []
    for number, (n_read, _, action) in enumerate(standing, start=1):
        look = looks[n_read]
        source = look.rows[look.n_before - 1]
        sources.append(index_of[source.position, source.time])
        if action == "write":
            asked.append(index_of[look.rows[-1].position, look.rows[-1].time])
        else:
            together += ghost(look.rows[look.n_before :], number)
            asked.append(len(together) - 1)
    return together, asked, sources


def drawn_head():
    return PolicyHead(np.random.default_rng(3).normal(size=(2, tiny_weights().width)) * 0.3)


@pytest.mark.slow
def test_every_live_decision_has_the_probability_of_one_masked_pass():
    """With a head and without, whatever was edited and taken back before."""
    found = Counter()
    for seed in range(30):
        rng, events = random.Random(seed), []
        weights = tiny_weights()
        settings = TranslationSettings(
            policy=f"adaptive:{rng.choice([0.1, 0.3, 0.7, 0.9])}:{rng.randint(2, 9)}",
            layout=LayoutSettings(slot_length=rng.randint(3, 8)),
        )
        log, model = EventLog(events), TerseModel(weights)
        engine = NotingTranslator(weights, settings, log=log, model=model)
        engine.head = drawn_head()
        utterance = typed(engine, random_turns(rng, most=4))
        standing = decisions(events)
        rows, asked, sources = in_one_pass(utterance.fed_rows(), standing, engine.looks)
        output = masked_output(weights.network, rows, ranked=False)
        states = output.hidden_states[-1][0, sources].numpy()
        expected = [engine.head.probability(state) for state in states]
        assert [one[1] for one in standing] == pytest.approx(expected, rel=0, abs=1e-8)
        logits = output.logits[0, asked]  # (decisions, V)
        logits[:, list(utterance.suppressed)] = -torch.inf
        expected = 1 - logits.softmax(-1)[:, utterance.prompt.end_of_write]
        without = [engine.looks[one[0]].without_head for one in standing]
        assert without == pytest.approx(expected.tolist(), rel=0, abs=1e-8)
        found += Counter(action for _, _, action in standing)
        found["edited"] += any(event["event"] == "rewound" for event in events)
        found["overflowing"] += len(utterance.planner._state.phases) > 1
    names = ("read", "write", "edited", "overflowing")
    assert min(found[name] for name in names) > 5, found


@pytest.mark.parametrize(
    "policy", [Adaptive(0.0), Adaptive(0.3), Adaptive(1.0, 3), Adaptive(0.125, 12)], ids=str
)
def test_an_adaptive_policy_is_read_as_it_is_written(policy):
    assert parse_policy(str(policy)) == policy
    assert policy.ends_writes


@pytest.mark.parametrize(
    "tau", ["", "2", "1.5", "-0.1", "0.5:0", "nan", ".", "0.5:", "1e-3", "0.00001"]
)
def test_a_tau_that_is_written_wrongly_is_refused(tau):
    with pytest.raises(PolicyError, match="a policy is written"):
        parse_policy(f"adaptive:{tau}")
