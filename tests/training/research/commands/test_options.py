"""Options of the commands that train, and the settings that they stand for."""

import argparse

import pytest

from training.research.commands import seqpo, speech_train

BOTH = (
    "out recipe data base rate=optimisation.rate seed=optimisation.seed device pass-tokens "
    "checkpoint-steps stop-after=stop_after_steps "
)
SPEECH = (
    "method parts=speech.parts losses=speech.losses policy-weight=speech.policy_weight "
    "masks=speech.masks warp=speech.warp encoder=speech.pretrained width=speech.encoder.width "
    "layers=speech.encoder.layers heads=speech.encoder.heads "
    "feed-forward=speech.encoder.feed_forward warm-up=optimisation.warm_up_steps "
    "fall=optimisation.fall epochs=optimisation.epochs batch=optimisation.batch_pairs precision"
)
SEQPO = (
    "name start=seqpo.start all-weights=seqpo.all_weights rank=lora.rank steps=seqpo.steps "
    "policies=seqpo.policies sources=seqpo.sources group=seqpo.group lanes=seqpo.lanes "
    "temperature=seqpo.temperature quality=seqpo.quality reward=seqpo.reward "
    "truncation=seqpo.truncation balance=seqpo.balance lag-weight=seqpo.lag_weight "
    "divergence-price=seqpo.divergence_price dev=dev.sets dev-policies=dev.policies "
    "dev-limit=dev.limit every=dev.every_steps"
)


@pytest.mark.parametrize(("command", "options"), [(speech_train, SPEECH), (seqpo, SEQPO)])
def test_each_option_stands_for_its_setting(command, options):
    subparsers = argparse.ArgumentParser().add_subparsers()
    command.add_parser(subparsers)
    (parser,) = subparsers.choices.values()
    found = {one.option_strings[-1][2:]: one.dest for one in parser._actions if one.dest != "help"}
    pairs = [one.partition("=") for one in (BOTH + options).split()]
    assert found == {name: path or name.replace("-", "_") for name, _, path in pairs}
    assert parser.get_default("run") is command.run
