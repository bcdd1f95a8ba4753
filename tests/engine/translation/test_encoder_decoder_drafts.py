"""Test live translation with an encoder-decoder model: what is shown stays, and it is logged."""

import itertools

import pytest

from engine.errors import ModelError
from engine.metrics.event_log import EventLog
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.factory import make_system
from engine.translation.feed import changes
from tests.support.commands import bare

POLICIES = ["stable:1", "stable:2", "stable:3", "wait:2", "read:3", "offline"]
WORDS = "the old house is green and we go".split()


@pytest.fixture(scope="module")
def weights(converted):
    loaded = {}

    def load(family="m2m100"):
        if family not in loaded:
            loaded[family] = load_weights(ModelSettings(directory=converted[family], device="cpu"))
        return loaded[family]

    return load


def system_of(weights, *, log=None, **settings):
    translation = TranslationSettings(**{"policy": "stable:2", "cut_loops": False, **settings})
    return make_system("auto", weights, translation, capacity=1, log=log or EventLog())


def speak(system, words=WORDS):
    """Feed words one by one; return the utterance and the caption after each."""
    utterance = system.open()
    captions = []
    for n in range(1, len(words) + 1):
        utterance.set_source(bare(words[:n], ended=n == len(words)))
        for change in changes(utterance):
            assert change.kept == len(captions[-1] if captions else "") or change.kept > 0
        captions.append(utterance.caption)
    return utterance, captions


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("family", ["marian", "madlad"])
def test_nothing_that_was_shown_changes(weights, policy, family):
    system = system_of(weights(family), policy=policy)
    utterance, captions = speak(system)
    assert utterance.finished
    for before, after in itertools.pairwise(captions):
        assert after.startswith(before)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_what_n_drafts_in_a_row_share_is_shown(weights, n):
    rows = []
    system = system_of(weights(), policy=f"stable:{n}", log=EventLog(rows))
    utterance = system.open()
    committed = 0
    drafts = []
    for read in range(1, len(WORDS)):
        utterance.set_source(bare(WORDS[:read], ended=False))
        list(changes(utterance))
        drafts.append(list(utterance.draft))
        assert drafts[-1][:committed] == utterance.committed[:committed]
        shared = [len(set(ids)) == 1 for ids in zip(*drafts[-n:], strict=False)]
        most = next((k for k, same in enumerate(shared) if not same), len(shared))
        if len(drafts) < n:
            most = 0
        assert committed <= len(utterance.committed) <= max(most, committed)
        committed = len(utterance.committed)
    assert [row["n_read"] for row in rows if row["event"] == "drafted"] == [*range(1, len(WORDS))]


def test_an_edit_starts_the_utterance_anew(weights):
    system = system_of(weights(), policy="stable:1")
    utterance, _ = speak(system)
    changed = ["books", *WORDS[1:]]
    assert utterance.set_source(bare(changed, ended=True))
    assert utterance.caption == ""
    list(changes(utterance))
    fresh = system_of(weights(), policy="stable:1")
    expected = fresh.open()
    expected.set_source(bare(changed, ended=True))
    list(changes(expected))
    assert utterance.finished
    assert utterance.caption == expected.caption


def test_the_log_holds_what_the_counters_count(weights):
    rows = []
    system = system_of(weights(), log=EventLog(rows))
    speak(system)
    fed = [row for row in rows if row["event"] == "fed"]
    assert [row["system"] for row in rows if row["event"] == "session"] == ["encoder-decoder"]
    assert sum(len(row["ids"]) for row in fed) == system.model.tokens_fed
    assert sum(row["n_again"] for row in fed) == system.counters.tokens_recomputed > 0
    assert sum(row["flops"] for row in fed) == system.model.flops
    assert fed[0]["n_again"] == 0
    assert all(row["n_again"] <= len(row["ids"]) for row in fed)
    assert "committed" in {row["event"] for row in rows}


@pytest.mark.parametrize("family", ["marian", "m2m100"])
def test_the_terms_of_a_glossary_are_forced(weights, family):
    for constrained in (True, False):
        system = system_of(
            weights(family),
            policy="offline",
            glossary=(("house", "maison"),),
            constrained=constrained,
        )
        utterance, _ = speak(system)
        assert ("maison" in utterance.caption.lower()) == constrained


def test_a_number_is_written_only_if_the_source_has_it(weights):
    for family in ("marian", "m2m100"):
        system = system_of(weights(family), policy="offline")
        utterance, _ = speak(system)
        assert not any(map(str.isdecimal, utterance.caption))


def test_no_marker_is_shown(weights):
    for family in ("marian", "m2m100", "nllb", "madlad"):
        system = system_of(weights(family), policy="offline", constrained=False)
        utterance, _ = speak(system)
        markers = weights(family).marker_ids
        assert not markers.intersection(utterance.committed)


def test_a_loop_is_cut_and_counted(weights):
    rows = []
    system = system_of(
        weights(), policy="offline", cut_loops=True, constrained=False, log=EventLog(rows)
    )
    cut = False
    for word in ("the", "house", "we", "green"):
        speak(system, [word, "old"])
        cut = cut or system.counters.loops_cut > 0
    assert cut == any(row["event"] == "cut" and row["why"] == "loop" for row in rows)
    assert cut


def test_adapters_are_refused_in_one_sentence(converted, tmp_path):
    settings = ModelSettings(directory=converted["marian"], adapter=tmp_path)
    with pytest.raises(ModelError, match="takes no adapter, since it is a translation model"):
        load_weights(settings)


@pytest.mark.parametrize(
    ("family", "policy"), [("marian", "stable:1"), ("m2m100", "offline"), ("madlad", "stable:1")]
)
def test_a_sentence_of_more_pieces_than_the_model_has_positions_ends_and_the_next_is_translated(
    weights, family, policy
):
    rows = []
    system = system_of(weights(family), policy=policy, log=EventLog(rows))
    long = [f"{n:010}" for n in range(30)]  # as many pieces as digits
    utterance, _ = speak(system, long)
    assert utterance.finished
    most = weights(family).positions
    if most is not None:
        fed = [len(row["ids"]) for row in rows if row["event"] == "fed"]
        assert max(fed) <= 2 * most
        assert "length" in {row["why"] for row in rows if row["event"] == "cut"}
    fresh, _ = speak(system)
    assert fresh.finished
