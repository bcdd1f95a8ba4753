"""How clearly a network chooses: no test may ask how a processor rounds."""

import contextlib
from unittest import mock

import numpy as np

from engine.runtime import causal_model
from engine.translation.retranslator import EncoderDecoderTranslator

ROUNDING = 1e-3
"""In float32 processors differ by some 1e-5 in the logits of the networks of the tests."""


def margin(logits):
    """Return by how much the likeliest id is likelier than the next, in nats; shape (V,)."""
    row = np.asarray(logits, np.float32)
    finite = row[np.isfinite(row)]
    if len(finite) < 2:
        return float("inf")
    second, first = np.partition(finite, -2)[-2:]
    return float(first - second)


@contextlib.contextmanager
def clear_choices(what):
    """Fail where a choice that a translator makes meanwhile is closer than rounding."""
    narrowest = [float("inf")]
    likeliest, follow = causal_model.likeliest, EncoderDecoderTranslator._follow

    def noted_likeliest(logits):
        narrowest[0] = min(narrowest[0], margin(logits))
        return likeliest(logits)

    def noted_follow(self, utterance, hypothesis, n_first, draft):
        rows = hypothesis.logits[n_first:]
        narrowest[0] = min(narrowest[0], *map(margin, rows), float("inf"))
        return follow(self, utterance, hypothesis, n_first, draft)

    with (
        mock.patch.object(causal_model, "likeliest", noted_likeliest),
        mock.patch.object(EncoderDecoderTranslator, "_follow", noted_follow),
    ):
        yield
    assert narrowest[0] > ROUNDING, (
        f"{what} asks a rounding: two ids are {narrowest[0]:.2g} apart; take another seed"
    )
