import random
import threading
from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from engine.errors import CacheFullError
from engine.layout.rows import Row
from engine.metrics.event_log import EventLog
from engine.models.policy_head import PolicyHead
from engine.runtime.torch.torch_store import TorchStore
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import feed_line
from engine.translation.slot_translator import Translator
from tests.support.fakes import random_word, tiny_weights
from training.evaluation.lanes import run_together

LINES = [
    " ".join(random_word(random.Random(seed)) for _ in range(1 + seed % 7)) for seed in range(12)
]


def log_of(translator_of, lines):
    """Translate lines one after another; return the events but for what depends on the machine."""
    rows = []
    log = EventLog(rows)
    translator = translator_of(log)
    for index, line in enumerate(lines):
        feed_line(translator, log, index, line)
    for row in rows:
        row.pop("at_s")
        row.pop("peak_memory_bytes", None)
        mean = row.pop("mean_log_probability", None)
        if mean is not None:
            row["mean"] = round(mean, 5)
        if "write_probability" in row:
            row["write_probability"] = round(row["write_probability"], 5)
    return rows


@pytest.mark.parametrize("policy", ["read:2", "wait:2", "adaptive:0.5", "offline"])
def test_lines_translated_side_by_side_leave_the_log_they_leave_alone(policy):
    settings = TranslationSettings(policy=policy, layout=LayoutSettings(slot_length=4))
    head = PolicyHead(np.random.default_rng(3).normal(size=(2, tiny_weights().width)) * 0.3)
    weights = replace(tiny_weights(), head=head)
    shares = [LINES[start::3] for start in range(3)]
    alone = [
        log_of(lambda log: Translator(weights, settings, capacity=600, log=log), share)
        for share in shares
    ]
    together = [None] * 3

    def job(lane):
        own = replace(weights, conversations=lane.open)
        number = lane.number
        together[number] = log_of(
            lambda log: Translator(own, settings, capacity=600, log=log), shares[number]
        )

    n_passes = sum(1 for _ in run_together(TorchStore(weights.network, 3, 600), [job] * 3))
    assert together == alone
    n_forwards = [sum(row["event"] == "fed" for row in rows) for rows in alone]
    assert max(n_forwards) == n_passes < sum(n_forwards)


def test_what_a_job_raises_ends_the_others_and_is_raised():
    n_before = threading.active_count()
    ended = []

    def patient(lane):
        try:
            for time in range(50):
                lane.model.feed([Row(1, time, time=time)])
        finally:
            ended.append(lane)

    def hasty(lane):
        lane.model.feed([Row(1, 0, time=0)])
        msg = "no more"
        raise ValueError(msg)

    model = TorchStore(tiny_weights().network, 2, 100)
    with pytest.raises(ValueError, match="no more"):
        deque(run_together(model, [patient, hasty]), maxlen=0)
    assert len(ended) == 1
    assert threading.active_count() == n_before


def test_a_lane_that_is_full_fails_where_it_was_fed():
    caught = []

    def job(lane):
        try:
            lane.model.feed([Row(1, position, time=0) for position in range(9)])
        except CacheFullError as error:
            caught.append(error)

    deque(run_together(TorchStore(tiny_weights().network, 1, 8), [job]), maxlen=0)
    assert len(caught) == 1
