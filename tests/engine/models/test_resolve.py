import random
from dataclasses import replace

import pytest

from engine.errors import ModelError, PolicyError
from engine.messages import Code
from engine.models.model_card import ModelCard, ask_for
from engine.models.resolve import STANDARD_POLICY, resolve, suited_policy
from engine.policy import parse_policy
from engine.settings import SYSTEMS, LayoutSettings, TranslationSettings

TRAINED = ModelCard(
    name="trained",
    languages=ask_for(["de"]),
    end_of_source="",
    end_of_write="",
    end_of_target="",
    slot_length=32,
    policies=("read:3",),
)
PLAIN = replace(TRAINED, name="plain", slot_length=1, policies=())
APART = replace(PLAIN, name="apart", family="marian")
CARDS = (TRAINED, PLAIN, APART)

POLICIES = ("", "read:2", "wait:3", "stable:3", "offline")


def asking(policy="", layout=None):
    return TranslationSettings(policy=policy, layout=layout)


def codes(notices):
    return [notice.code for notice in notices]


@pytest.mark.parametrize(
    ("card", "system", "expected"),
    [
        (TRAINED, "auto", ("slots", STANDARD_POLICY, 32)),
        (TRAINED, "retranslate", ("retranslate", "stable:2", 32)),
        (PLAIN, "auto", ("retranslate", "stable:2", 1)),
        (PLAIN, "slots", ("slots", STANDARD_POLICY, 16)),
        (APART, "auto", ("encoder-decoder", "stable:2", 1)),
    ],
)
def test_a_model_runs_as_it_was_trained_unless_somebody_asks_otherwise(card, system, expected):
    found = resolve(card, system)
    assert (found.system, str(found.policy), found.layout.slot_length) == expected
    assert found.makes_drafts == (expected[1] == "stable:2")
    own = LayoutSettings(slot_length=5, name="gpe")
    asked = resolve(card, system, asking("wait:2", own))
    assert (asked.system, str(asked.policy), asked.layout) == (found.system, "wait:2", own)


def test_a_card_of_another_layout_is_followed():
    card = replace(TRAINED, layout="gpe")
    assert resolve(card).layout == LayoutSettings(slot_length=32, name="gpe")


def test_what_was_decided_once_is_decided_again():
    rng = random.Random(0)
    for _ in range(300):
        card, system, policy = rng.choice(CARDS), rng.choice([*SYSTEMS]), rng.choice(POLICIES)
        try:
            found = resolve(card, system, asking(policy), replaces_policy=rng.random() < 0.5)
        except (ModelError, PolicyError):
            continue
        assert found.system != "auto"
        again = resolve(card, found.system, asking(str(found.policy), found.layout))
        told = [notice for notice in found.notices if notice.code is not Code.POLICY_REPLACED]
        assert again == replace(found, notices=tuple(told))


def test_a_person_is_told_which_mode_runs_where_slots_were_not_learnt():
    assert codes(resolve(PLAIN).notices) == [Code.RETRANSLATES]
    assert codes(resolve(PLAIN, "slots").notices) == [Code.SLOTS_UNTRAINED]
    assert resolve(TRAINED).notices == resolve(APART).notices == ()


def test_a_policy_of_drafts_is_refused_or_replaced_where_there_are_none():
    with pytest.raises(PolicyError, match="stable:3 asks for drafts"):
        resolve(TRAINED, "auto", asking("stable:3"))
    found = resolve(TRAINED, "auto", asking("stable:3"), replaces_policy=True)
    assert (str(found.policy), codes(found.notices)) == (STANDARD_POLICY, [Code.POLICY_REPLACED])
    for policy in ("", "stable:3", "wait:5"):
        assert suited_policy(policy, makes_drafts=True) == policy or not policy
    assert suited_policy("stable:3", makes_drafts=False) == STANDARD_POLICY


@pytest.mark.parametrize("replaces_policy", [True, False])
def test_a_policy_that_is_written_wrongly_is_refused(replaces_policy):
    for card in CARDS:
        with pytest.raises(PolicyError, match="sometimes"):
            resolve(card, "auto", asking("sometimes"), replaces_policy=replaces_policy)


def test_two_halves_and_slots_are_never_mixed_up():
    for system in ("slots", "retranslate"):
        with pytest.raises(ModelError, match=f"as '{system}': choose 'encoder-decoder'"):
            resolve(APART, system)
    for card in (TRAINED, PLAIN):
        with pytest.raises(ModelError, match="as 'encoder-decoder': choose 'retranslate'"):
            resolve(card, "encoder-decoder")
    with pytest.raises(ValueError, match="encoder-decoder, got 'magic'"):
        resolve(TRAINED, "magic")


def test_policies_stand_as_the_engine_writes_them():
    assert resolve(TRAINED, "auto", asking("wait:3")).policy == parse_policy("wait:3")
