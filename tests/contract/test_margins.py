"""The helper that looks at margins finds choices that hang on rounding."""

import numpy as np
import pytest

from engine.runtime import causal_model
from tests.golden.margins import clear_choices, margin


def test_the_margin_is_between_the_two_likeliest_ids_that_may_be_chosen():
    logits = np.array([1.0, -np.inf, 3.5, 3.0, -2.0], np.float32)
    assert margin(logits) == 0.5
    assert margin(logits[:2]) == np.inf


def test_a_choice_between_ids_that_are_closer_than_rounding_fails():
    with (
        pytest.raises(AssertionError, match="it asks a rounding"),
        clear_choices("it"),
    ):
        causal_model.likeliest(np.array([1.0, 1.0001], np.float32))
    with clear_choices("it"):
        causal_model.likeliest(np.array([1.0, 1.1], np.float32))
