"""Test re-translation with local agreement: against a naive version and on its promises."""

import itertools
import json
import random

import pytest

from engine.layout.rows import Row
from engine.metrics.event_log import EventLog
from engine.runtime.torch.torch_store import slot_model
from engine.settings import TranslationSettings
from engine.translation.feed import changes
from engine.translation.retranslator import Retranslator
from tests.support.commands import bare
from tests.support.fakes import (
    WORD_FOR_WORD,
    HashingModel,
    random_word,
    teach,
    tiny_tokenizer,
    tiny_weights,
)

POLICIES = ["wait:1", "wait:3", "read:2", "offline"]


def retranslator(policy="wait:1", *, log=None):
    """A re-translator that needs no network."""
    system = Retranslator(tiny_weights(), TranslationSettings(policy=policy), capacity=64, log=log)
    system.model = HashingModel()
    return system


def speak(system, drafts):
    """Let the drafts be these: texts by the number of units read; rows are fed all the same."""
    feed = system.model.feed
    state = {}

    def next_id(rows, _suppressed):
        feed(rows)
        utterance = system.current
        if state.get("n_read") != utterance.n_read:
            state.update(n_read=utterance.n_read, n=len(utterance.committed))
        ids = tiny_tokenizer().encode(" " + drafts[utterance.n_read - 1], add_special_tokens=False)
        state["n"] += 1
        return [*ids, utterance.prompt.end_of_target][min(state["n"] - 1, len(ids))]

    teach(system.model, next_id)
    open_utterance = system.open

    def remember():
        system.current = open_utterance()
        return system.current

    system.open = remember


def translate(system, words, *, ended=True):
    """Type words one by one; list the caption after each."""
    utterance = system.open()
    captions = []
    for n in range(1, len(words) + 1):
        utterance.set_source(bare(words[:n], ended=ended and n == len(words)))
        shown = utterance.caption
        for change in changes(utterance):
            assert change.text, "what shows nothing new is no change"
            assert change.kept == len(shown)
            shown += change.text
        assert shown == utterance.caption
        captions.append(shown)
    return utterance, captions


def test_where_the_source_lacks_its_full_stop_the_caption_lacks_its_own():
    system = retranslator("offline")
    speak(system, ["x", "ab. cd."])
    utterance = system.open()
    utterance.set_source(bare(["a", "b"], ended=True, full_stop="."))
    (change,) = changes(utterance)
    assert utterance.caption == change.text == "ab. cd"
    assert len(utterance.source.units[-1]) > len(utterance.source.units[0])


@pytest.mark.parametrize(
    ("policy", "drafted"),
    [("wait:1", [1, 2, 3, 4, 5]), ("wait:3", [3, 4, 5]), ("read:2", [2, 4, 5]), ("offline", [5])],
)
def test_the_policy_says_when_a_draft_is_made(policy, drafted, tmp_path):
    with EventLog(tmp_path / "log.jsonl") as log:
        translate(retranslator(policy, log=log), list("bcdef"))
    rows = [json.loads(row) for row in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [row["n_read"] for row in rows if row["event"] == "drafted"] == drafted


def random_drafts(rng, n):
    """Drafts that mostly agree at their starts, as real ones do; every word is one token."""
    words = sorted(WORD_FOR_WORD.values())
    certain = [rng.choice(words) for _ in range(n)]
    drafts = []
    for n_read in range(1, n + 1):
        tail = [rng.choice(words) for _ in range(rng.randint(0, 2))]
        drafts.append(" ".join(certain[: rng.randint(n_read // 2, n_read)] + tail) or words[0])
    return drafts


@pytest.mark.parametrize("policy", POLICIES)
def test_captions_only_grow_and_end(policy):
    rng = random.Random(5)
    n_early = 0
    for _ in range(40):
        words = [random_word(rng) for _ in range(rng.randint(1, 9))]
        system = retranslator(policy)
        speak(system, random_drafts(rng, len(words)))
        utterance, captions = translate(system, words)
        assert utterance.finished
        for before, after in itertools.pairwise(captions):
            assert after.startswith(before)
        n_early += len(set(captions[:-1]) - {""})
    assert (n_early > 0) == (policy != "offline")


def test_whole_words_that_two_drafts_share_and_no_more_are_committed():
    rng = random.Random(6)
    n_early = 0
    for _ in range(60):
        words = [f"b{random_word(rng)}" for _ in range(rng.randint(2, 8))]  # no "a", which waits
        drafts = random_drafts(rng, len(words))
        system = retranslator()
        speak(system, drafts)
        _, captions = translate(system, words)
        expected = [""]
        committed = []
        before = drafts[0].split()
        for draft in drafts[1:-1]:
            # a draft goes on from what is committed, so it holds all of that
            now = committed + draft.split()[len(committed) :]
            shared = 0
            while shared < min(len(now), len(before)) and now[shared] == before[shared]:
                shared += 1
            committed = now[: max(shared, len(committed))]
            before = now
            expected.append(" ".join(committed))
        assert captions[:-1] == expected
        n_early += len(set(captions[:-1]) - {""})
    assert n_early > 30


def naive_drafts(weights, prompt, words):
    """Draft after draft with a model that is new each time, from the paper's description alone."""
    committed, before, steps = [], None, []
    slot_length = weights.card.slot_length
    end = prompt.end_of_target
    suppressed = sorted(prompt.suppressed(ends_writes=False))
    tokens = tiny_tokenizer().convert_ids_to_tokens
    for n in range(1, len(words) + 1):
        ids = [
            i for w in words[:n] for i in tiny_tokenizer().encode(" " + w, add_special_tokens=False)
        ]
        if n == len(words):
            ids.append(prompt.end_of_source)
        headers = prompt.headers
        slots = -(-len(ids) // slot_length) * slot_length
        rows = [*headers.system, *headers.user, *ids]
        rows = [Row(id_, position, 0) for position, id_ in enumerate(rows)]
        start = len(headers.system) + len(headers.user) + slots
        target = [*headers.assistant, *committed]
        draft = list(committed)
        while True:
            tail = [Row(id_, start + k, 0) for k, id_ in enumerate(target)]
            model = slot_model(weights.network, 512)
            id_ = model.next_id(rows + tail, suppressed)
            if id_ == end or len(draft) > 2 * len(ids) + 16:
                break
            draft.append(id_)
            target.append(id_)
        if n == len(words):
            committed = draft
        elif before is not None:
            agreed = 0
            while agreed < min(len(before), len(draft)) and before[agreed] == draft[agreed]:
                agreed += 1
            whole = [
                k
                for k in range(len(committed), agreed + 1)
                if all(k == len(d) or tokens([d[k]])[0].startswith("Ġ") for d in (before, draft))
            ]
            committed = draft[: max(whole, default=len(committed))]
        before = draft
        steps.append((draft, committed))
    return steps


@pytest.mark.slow
def test_it_drafts_and_commits_what_a_naive_version_does_on_the_same_network():
    rng = random.Random(2)
    settings = TranslationSettings(policy="wait:1", constrained=False)
    weights = tiny_weights()
    for _ in range(4):
        words = [random_word(rng) for _ in range(5)]
        system = Retranslator(weights, settings, capacity=512)
        utterance = system.open()
        steps = []
        for n in range(1, 6):
            utterance.set_source(bare(words[:n], ended=n == 5))
            list(changes(utterance))
            steps.append((utterance.draft, list(utterance.committed)))
        assert steps == naive_drafts(weights, utterance.prompt, words)
        assert sum(map(len, (draft for draft, _ in steps))) > 5


@pytest.mark.parametrize(
    ("drafts", "again"),
    [(["a", "a b", "a b c"], [1, 2]), (["a b c", "a b d"], [2]), (["a b", "c b"], [0])],
)
def test_what_is_computed_again_is_counted(drafts, again, tmp_path):
    with EventLog(tmp_path / "log.jsonl") as log:
        system = retranslator(log=log)
        speak(system, drafts)
        utterance, _ = translate(system, list("bcd")[: len(drafts)])
    n_headers = len(utterance.prompt.headers.assistant)
    rows = [json.loads(row) for row in (tmp_path / "log.jsonl").read_text().splitlines()]
    fed = [row for row in rows if row["event"] == "fed"]
    assert sum(row["n_again"] for row in fed) == system.counters.tokens_recomputed
    assert sum(len(row["ids"]) for row in fed) == system.model.tokens_fed
    assert all(row["n_again"] <= len(row["ids"]) for row in fed)
    # from the second draft on: the header, and the words that the draft before began with, too
    assert system.counters.tokens_recomputed == sum(n_headers + n_words for n_words in again)


def test_a_whole_sentence_at_once_computes_nothing_again():
    system = retranslator("offline")
    translate(system, ["a", "b", "c"])
    assert system.counters.tokens_recomputed == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_an_edit_starts_the_utterance_anew(policy):
    system = retranslator(policy)
    utterance, _ = translate(system, ["abc", "de", "f", "gh"], ended=False)
    shown = utterance.caption
    assert utterance.set_source(bare(["abc", "b", "f", "gh"], ended=True)) == bool(shown)
    assert utterance.caption == ""
    list(changes(utterance))
    fresh = retranslator(policy)
    expected = fresh.open()
    expected.set_source(bare(["abc", "b", "f", "gh"], ended=True))
    list(changes(expected))
    assert utterance.finished
    assert utterance.caption == expected.caption


def test_a_draft_that_never_ends_is_cut(tmp_path):
    with EventLog(tmp_path / "log.jsonl") as log:
        system = retranslator(log=log)
        feed = system.model.feed
        (letter,) = tiny_tokenizer().encode(" a", add_special_tokens=False)
        teach(system.model, lambda rows, _suppressed: (feed(rows) and letter) or letter)
        utterance, _ = translate(system, ["a", "b"])
    assert utterance.finished
    assert 0 < len(utterance.caption.split()) < 60
    assert '"cut"' in (tmp_path / "log.jsonl").read_text()
