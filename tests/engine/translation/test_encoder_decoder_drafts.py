"""Test live translation with an encoder-decoder model: what is shown stays, and it is logged."""

import itertools
import shutil
from dataclasses import replace

import numpy as np
import pytest

from engine.errors import ModelError, PolicyError
from engine.messages import Code
from engine.metrics.event_log import EventLog
from engine.models.encoder_decoder.record import save_calibration
from engine.models.model_card import Calibration
from engine.runtime.ctranslate2.encoder_decoder_loader import Hypothesis
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.factory import make_system
from engine.translation.feed import changes, translate_lines
from tests.support.fakes import tiny_weights

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
        utterance.set_source(words[:n], ended=n == len(words))
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
        utterance.set_source(WORDS[:read], ended=False)
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


def test_a_draft_goes_on_from_what_is_committed(weights):
    system = system_of(weights(), policy="stable:1")
    utterance = system.open()
    utterance.set_source(WORDS[:2], ended=False)
    list(changes(utterance))
    shown = list(utterance.committed)
    assert shown
    other = system_of(weights(), policy="offline")
    free = other.open()
    free.set_source(WORDS[:5], ended=True)
    list(changes(free))
    utterance.set_source(WORDS[:5], ended=True)
    list(changes(utterance))
    assert utterance.committed[: len(shown)] == shown
    assert free.committed[: len(shown)] != shown or free.committed == utterance.committed


def test_an_edit_starts_the_utterance_anew(weights):
    system = system_of(weights(), policy="stable:1")
    utterance, _ = speak(system)
    changed = ["books", *WORDS[1:]]
    assert utterance.set_source(changed, ended=True)
    assert utterance.caption == ""
    list(changes(utterance))
    fresh = system_of(weights(), policy="stable:1")
    expected = fresh.open()
    expected.set_source(changed, ended=True)
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


def test_a_replayed_log_has_the_caption_and_no_erasure(weights):
    system_made = []

    def make(log):
        system_made.append(system_of(weights(), log=log))
        return system_made[0]

    words = [*WORDS[:-1], f"{WORDS[-1]}."]  # an end that the last word shows
    (line,) = translate_lines(make, [(0, " ".join(words))])
    assert line.n_erased == 0
    _, captions = speak(system_of(weights()), words)
    assert line.hypothesis == " ".join(captions[-1].split())
    assert line.log_probability < 0


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


def test_a_draft_that_is_too_long_is_not_cut_inside_a_number(weights, monkeypatch):
    ids = weights().vocabulary.ids
    found = set()
    for n_letters in range(15, 45):
        system = system_of(weights(), policy="offline")
        said = [ids["▁the"], ids["▁Haus"]] * 50
        said[n_letters:n_letters] = [ids[piece] for piece in ("▁12", "12", "12")]
        firsts = []

        def translate(_source, prefix, most, said=said, firsts=firsts):
            firsts.append(len(prefix))
            target = [*(ids[token] for token in prefix), *said[len(prefix) - firsts[0] :]][:most]
            logits = np.full((len(target), len(ids)), -50, np.float32)
            logits[np.arange(len(target)), target] = 0
            return Hypothesis(target, logits)

        monkeypatch.setattr(system.model, "translate", translate)
        utterance, _ = speak(system, ["old", "121212"])
        assert utterance.finished
        found.add("".join(filter(str.isdecimal, utterance.caption)))
    assert found == {"", "121212"}


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


def test_a_pair_that_the_model_does_not_know_is_refused_and_changes_nothing(weights):
    system = system_of(weights("marian"))
    for settings, error in (
        (TranslationSettings(target_language="fr"), "translates to de"),
        (TranslationSettings(source_language="pl"), "translates from en"),
    ):
        with pytest.raises(ModelError, match=error):
            system.configure(settings)
    assert system.settings.target_language == "de"


def test_slots_and_an_encoder_decoder_are_never_mixed_up(weights):
    translation = TranslationSettings()
    for name in ("slots", "retranslate"):
        with pytest.raises(ModelError, match=f"cannot be run as '{name}': choose 'encoder-dec"):
            make_system(name, weights("marian"), translation, capacity=9, log=EventLog())
    with pytest.raises(ModelError, match="cannot be run as 'encoder-decoder'"):
        make_system("encoder-decoder", tiny_weights(), translation, capacity=64, log=EventLog())


def test_slots_make_no_drafts_to_agree():
    settings = TranslationSettings(policy="stable:2")
    with pytest.raises(PolicyError) as caught:
        make_system("slots", tiny_weights(), settings, capacity=64, log=EventLog())
    assert caught.value.message.code is Code.POLICY_OF_DRAFTS


def test_a_calibrated_model_says_how_sure_it_is(weights):
    plain = system_of(weights())
    utterance, _ = speak(plain)
    assert utterance.confidence is None
    loaded = weights()
    calibration = Calibration(slope=1.0, offset=3.0, threshold=0.5)
    known = system_of(loaded.with_card(replace(loaded.card, calibration=calibration)))
    utterance, _ = speak(known)
    confidence = utterance.confidence
    assert confidence == calibration.confidence(utterance.mean_log_probability)
    assert utterance.mean_log_probability < 0


def test_a_calibration_is_kept_beside_the_converted_weights(converted, tmp_path):
    folder = shutil.copytree(converted["m2m100"] / "ctranslate2-float16", tmp_path / "m2m100")
    calibration = Calibration(slope=2.0, offset=1.0, threshold=0.25)
    save_calibration(folder, calibration)
    assert load_weights(ModelSettings(directory=folder)).card.calibration == calibration


def test_adapters_are_refused_in_one_sentence(converted, tmp_path):
    settings = ModelSettings(directory=converted["marian"], adapter=tmp_path)
    with pytest.raises(ModelError, match="takes no adapter, since it is a translation model"):
        load_weights(settings)


@pytest.mark.parametrize("family", ["marian", "m2m100", "madlad"])
@pytest.mark.parametrize("policy", ["stable:1", "offline"])
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
