import gc
import json
import random
import weakref
from dataclasses import replace

import pytest
import torch

from engine.errors import ModelError
from engine.events import n_same
from engine.layout.rows import visible
from engine.metrics.event_log import EventLog
from engine.settings import ModelSettings, TranslationSettings, UtteranceLimits
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.commands import bare
from tests.support.fakes import (
    HashingModel,
    hashing_translator,
    obey,
    random_word,
    tiny_tokenizer,
    tiny_weights,
    word_for_word,
)
from training.trainer.tokenizer import END, END_OF_WRITE

POLICIES = ["read:1", "read:2", "read:3", "wait:1", "wait:3", "offline"]


def translate(engine, words, *, ended=True):
    """Open an utterance and translate its words, given at once."""
    utterance = engine.open()
    utterance.set_source(bare(words, ended=ended))
    taken = list(changes(utterance))
    return utterance, taken


def type_words(utterance, words):
    """Give the words one by one, translating after each."""
    taken = []
    for n_words in range(1, len(words) + 1):
        utterance.set_source(bare(words[:n_words], ended=False))
        taken += changes(utterance)
    return taken


def meaning(utterance):
    """Rows without their clock: id, position, label, and who sees whom."""
    rows = utterance.fed_rows()
    position, time = (torch.tensor([row[field] for row in rows]) for field in (1, 2))
    places = [(row.id, row.position, row.label) for row in rows]
    return places, visible(position, time, position, time).tolist()


def random_words(rng, n_words):
    return [random_word(rng) for _ in range(n_words)]


def say(engine, target):
    """Let the model say these words at the end of the source, whatever it hears."""

    def next_id(utterance):
        ids = tiny_tokenizer().encode(" " + target, add_special_tokens=False)
        n_said = sum(id_ not in utterance.prompt.markers for id_ in utterance.state.chosen)
        return [*ids, utterance.prompt.end_of_write][n_said]

    obey(engine, next_id)


# --- captions and edits ---------------------------------------------------------------------------


def test_where_the_source_lacks_its_full_stop_the_caption_lacks_its_own_alone():
    for full_stop, target, caption in (
        (".", "ae. bd.", "ae. bd"),
        (".", "ae bd...", "ae bd..."),
        (".", "ae bd?", "ae bd?"),
        ("", "ae. bd.", "ae. bd."),
    ):
        engine = hashing_translator("read:3")
        say(engine, target)
        utterance = engine.open()
        utterance.set_source(bare(["a", "b"], ended=True, full_stop=full_stop))
        taken = list(changes(utterance))
        assert utterance.caption == "".join(change.text for change in taken) == caption


def test_the_log_tells_the_words_as_they_are_and_the_full_stop_beside_them(tmp_path):
    with EventLog(tmp_path / "log.jsonl") as log:
        engine = hashing_translator(log=log)
        utterance = engine.open()
        utterance.set_source(bare(["a", "b"], ended=False))
        utterance.set_source(bare(["a", "b", "c"], ended=True, full_stop="."))
    lines = map(json.loads, (tmp_path / "log.jsonl").read_text().splitlines())
    first, last = (line for line in lines if line["event"] == "source")
    assert "full_stop" not in first
    assert (last["words"], last["full_stop"]) == (["c"], ".")


@pytest.mark.parametrize("policy", POLICIES)
def test_only_captions_after_an_edit_change(policy):
    """What is kept is what was written before the changed word was read, to the character."""
    rng = random.Random(policy)
    shortened = 0
    for _ in range(12):
        engine, words = hashing_translator(policy), random_words(rng, 8)
        utterance = engine.open()
        grown = type_words(utterance, words)
        before = utterance.caption
        index = rng.randrange(2, 8)
        edited = [*words[:index], random_word(rng) + "x", *words[index + 1 :]]
        cut = utterance.set_source(bare(edited, ended=False))
        kept = "".join(change.text for change in grown if change.n_read <= index)
        assert utterance.caption == kept
        assert cut == (kept != before)
        assert all(change.kept >= len(kept) for change in changes(utterance))
        assert utterance.caption.startswith(kept)
        shortened += kept != "" and cut
    assert shortened > 0 or policy == "offline"


@pytest.mark.parametrize("policy", POLICIES)
def test_editing_back_gives_the_caption_and_rows_of_before(policy):
    rng = random.Random(policy)
    for case in range(8):
        ended = case % 2 == 0
        engine = hashing_translator(policy, slot_length=rng.randint(3, 16))
        words = random_words(rng, 7)
        utterance, _ = translate(engine, words, ended=ended)
        caption, rows = utterance.caption, meaning(utterance)
        for index in (6, 3, 0):
            changed = [*words[:index], "x", *words[index + 1 :]]
            for text in (changed, words):
                utterance.set_source(bare(text, ended=ended))
                list(changes(utterance))
            assert utterance.caption == caption
            assert meaning(utterance) == rows


# --- several utterances ---------------------------------------------------------------------------


def rows_fed(engine):
    """Record every row that the model is given, in order."""
    fed = []
    feed = engine.model.feed

    def record(rows):
        fed.extend(rows)
        return feed(rows)

    engine.model.feed = record
    return fed


def test_system_rows_are_fed_once_for_all_utterances():
    engine = hashing_translator()
    fed = rows_fed(engine)
    for index in range(5):
        utterance, _ = translate(engine, ["abc", "de", "f"], ended=index != 2)
        system = utterance.prompt.headers.system
    assert [row.id for row in fed if row.position < len(system)] == list(system)
    assert engine.model.n_rows == len(utterance.fed_rows())


def test_system_rows_are_fed_again_from_where_another_language_changes_them():
    engine = hashing_translator()
    fed = rows_fed(engine)
    systems = []
    for language in ("de", "de", "fr", "fr", "de"):
        engine.configure(TranslationSettings(target_language=language, policy="read:3"))
        utterance, _ = translate(engine, ["abc", "de"])
        systems.append(utterance.prompt.headers.system)
    same = n_same(systems[0], systems[2])
    assert same < len(systems[0])
    expected = [*systems[0], *systems[2][same:], *systems[4][same:]]
    assert [row.id for row in fed if row.position < len(systems[0])] == expected


def test_an_utterance_keeps_the_settings_it_was_opened_with():
    engine = hashing_translator("read:1")
    utterance = engine.open()
    type_words(utterance, ["abc", "de"])
    engine.configure(TranslationSettings(target_language="fr", policy="offline"))
    type_words(utterance, ["abc", "de", "f"])
    fresh = hashing_translator("read:1")
    alone = fresh.open()
    type_words(alone, ["abc", "de", "f"])
    assert utterance.caption == alone.caption


def test_going_to_an_earlier_utterance_computes_its_rows_again_and_counts_them():
    engine = hashing_translator("read:2")
    first, _ = translate(engine, ["abc", "de", "fgh", "a"])
    second = engine.open()
    type_words(second, ["bc", "d"])
    assert engine.counters.tokens_recomputed == 0
    n_system = len(first.prompt.headers.system)
    for utterance, words, n_before in (
        (first, ["abc", "de", "fgh", "ah"], 0),
        (second, ["bc", "d", "e", "f"], 2),
        (first, ["abc", "g"], 0),
    ):
        recomputed = engine.counters.tokens_recomputed
        utterance.set_source(bare(words, ended=False))
        kept = len(utterance.fed_rows())
        list(changes(utterance))
        other = hashing_translator("read:2")
        fresh = other.open()
        type_words(fresh, words[:n_before])
        fresh.set_source(bare(words, ended=False))
        list(changes(fresh))
        assert engine.counters.tokens_recomputed - recomputed == kept - n_system
        assert utterance.caption == fresh.caption
        assert meaning(utterance) == meaning(fresh)
        assert engine.model.n_rows == len(utterance.fed_rows())


def test_changing_a_word_of_an_earlier_utterance_that_waits_touches_no_cache():
    engine = hashing_translator("read:3")
    first = engine.open()
    type_words(first, ["abc", "de"])
    second, _ = translate(engine, ["fgh", "a", "b"])
    n_rows, fed = engine.model.n_rows, engine.model.tokens_fed
    first.set_source(bare(["abc", "d"], ended=False))
    assert list(changes(first)) == []
    assert (engine.model.n_rows, engine.model.tokens_fed) == (
        n_rows,
        fed,
    )
    assert list(changes(second)) == []


def test_a_card_that_leaves_no_room_for_sentences_is_refused_before_the_first():
    weights = tiny_weights()
    told = {"de": replace(weights.card.languages["de"], system="so to say " * 20)}
    long = replace(weights, card=replace(weights.card, languages=told))
    with pytest.raises(ModelError, match=r"takes \d+ rows, and the cache has 200: choose another"):
        Translator(long, TranslationSettings(), capacity=200)
    Translator(long, TranslationSettings(), capacity=2000)


def test_memory_does_not_grow_with_the_length_of_a_meeting():
    engine = Translator(tiny_weights(), TranslationSettings(policy="offline"), capacity=200)
    obey(engine, word_for_word)
    cache = engine.model._store.cache
    storage = [(layer.keys.data_ptr(), layer.values.data_ptr()) for layer in cache.layers]
    shapes = [layer.keys.shape for layer in cache.layers]
    utterances = []
    most_rows = 0
    for _ in range(200):
        utterance, _ = translate(engine, ["a"])
        most_rows = max(most_rows, engine.model.n_rows)
        utterances.append(weakref.ref(utterance))
    del utterance
    gc.collect()
    assert most_rows == 7  # two of the system, two headers, a word, its end and its translation
    assert [(layer.keys.data_ptr(), layer.values.data_ptr()) for layer in cache.layers] == storage
    assert [layer.keys.shape for layer in cache.layers] == shapes
    assert sum(reference() is not None for reference in utterances) <= 1


# --- loops ----------------------------------------------------------------------------------------


def says_for_ever(token):
    (id_,) = tiny_tokenizer().convert_tokens_to_ids([token])
    return lambda _utterance: id_


@pytest.mark.parametrize("token", ["Ġa", "a"], ids=["words", "one word"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_model_that_never_ends_is_ended(policy, token, tmp_path):
    with EventLog(tmp_path / "log.jsonl") as log:
        engine = hashing_translator(policy, log=log)
        obey(engine, says_for_ever(token))
        utterance = engine.open()
        type_words(utterance, ["abc", "de", "f", "g"])
        utterance.set_source(bare(["abc", "de", "f", "g"], ended=True))
        list(changes(utterance))
    assert utterance.finished
    assert 0 < len(utterance.caption) < 400
    assert '"cut"' in (tmp_path / "log.jsonl").read_text()


@pytest.mark.parametrize("policy", POLICIES)
def test_the_longest_utterance_of_a_model_that_never_ends_fits_the_default_cache(policy):
    """Else one line of emoji would end the session."""
    capacity = ModelSettings(directory=".").capacity
    limits = UtteranceLimits()
    engine = hashing_translator(policy)
    engine.configure(replace(engine.settings, cut_loops=False))
    engine.model = HashingModel(capacity)
    obey(engine, says_for_ever("Ġa"))
    for words in (
        ["🙂" * (limits.max_bytes // 4 - 1)],
        ["🙂"] * (limits.max_bytes // 5),
        ["a"] * limits.max_words,
    ):
        utterance, _ = translate(engine, words)
        assert utterance.finished


def test_a_caption_is_as_likely_as_its_tokens_without_the_markers():
    engine = hashing_translator("read:2")
    utterance, _ = translate(engine, ["abc", "de", "fgh"])
    markers, state = utterance.prompt.markers, utterance.state
    state.log_probabilities = [0.0 if id_ in markers else -2.0 for id_ in state.chosen]
    assert 0.0 in state.log_probabilities
    assert utterance.mean_log_probability == -2.0


# --- what is refused, what is logged --------------------------------------------------------------


FIELDS = {
    "session": {
        "schema", "system", "model", "parameters", "language", "policy", "slot_length",
    },
    "source": {"utterance", "kept", "words", "ended"},
    "read": {"utterance", "n_read"},
    "fed": {"utterance", "ids", "positions", "times", "n_again", "flops", "cached_rows"},
    "written": {"utterance", "id", "n_read"},
    "drafted": {"utterance", "text", "n_read"},
    "committed": {"utterance", "text", "n_read"},
    "probe": {"utterance", "n_rows"},
    "rewound": {"utterance", "n_read", "cached_rows", "kept"},
    "cut": {"utterance", "why"},
    "ended": {
        "utterance", "tokens_fed", "forwards", "tokens_recomputed", "probes", "flops",
        "cached_rows", "peak_memory_bytes", "mean_log_probability",
    },
}  # fmt: skip


def logged(path, policy):
    """A log with an edit, a change of utterance and an end."""
    with EventLog(path) as log:
        engine = hashing_translator(policy, log=log)
        first = engine.open()
        type_words(first, ["abc", "de", "fgh", "a"])
        second, _ = translate(engine, ["bc", "d", "e"])
        first.set_source(bare(["abc", "de", "f"], ended=True))
        list(changes(first))
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return engine, first, second, lines


@pytest.mark.parametrize("policy", ["read:2", "wait:2"])
def test_the_log_holds_what_its_schema_says(policy, tmp_path):
    _, _, _, lines = logged(tmp_path / "log.jsonl", policy)
    for line in lines:
        event = line.pop("event")
        assert line.pop("at_s") >= 0
        assert set(line) == FIELDS[event]
    assert lines[0]["schema"] == 2


@pytest.mark.parametrize("policy", ["read:2", "wait:2"])
def test_counters_can_be_had_from_the_log_alone(policy, tmp_path):
    engine, _, _, lines = logged(tmp_path / "log.jsonl", policy)
    fed = [line for line in lines if line["event"] == "fed"]
    n_fed = sum(len(line["ids"]) for line in fed)
    n_again = sum(line["n_again"] for line in fed)
    assert n_fed == engine.model.tokens_fed
    assert len(fed) == engine.model.forwards
    assert sum(line["flops"] for line in fed) == engine.model.flops
    assert n_again == engine.counters.tokens_recomputed > 0
    (last,) = [line for line in lines if line["event"] == "ended"][-1:]
    assert last["tokens_fed"] == engine.model.tokens_fed
    assert last["forwards"] == engine.model.forwards
    assert last["tokens_recomputed"] == engine.counters.tokens_recomputed
    assert last["probes"] == engine.counters.probes
    assert (engine.counters.probes > 0) == (policy == "wait:2")


def test_no_marker_ever_stands_in_a_caption():
    rng = random.Random(0)
    for policy in POLICIES:
        for _ in range(10):
            utterance, _ = translate(hashing_translator(policy), random_words(rng, 6))
            assert "<|" not in utterance.caption
            wrong = END if utterance.policy.ends_writes else END_OF_WRITE
            assert tiny_tokenizer().convert_tokens_to_ids(wrong) not in utterance.state.chosen
