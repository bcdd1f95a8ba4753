import random
from collections import deque

import pytest

from engine.errors import CacheFullError
from engine.layout.rows import Row
from engine.metrics.event_log import EventLog
from engine.runtime.causal_model import CausalModel, run_together
from engine.runtime.torch.torch_store import TorchStore
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import line_steps
from engine.translation.slot_translator import Translator
from tests.support.fakes import random_word, tiny_weights

LINES = [
    " ".join(random_word(random.Random(seed)) for _ in range(1 + seed % 7)) for seed in range(12)
]


def log_of(translator_of, lines, rows):
    """Translate lines one after another; keep the events but for what depends on the machine."""
    log = EventLog(rows)
    translator = translator_of(log)
    for index, line in enumerate(lines):
        yield from line_steps(translator, log, index, line)
    for row in rows:
        row.pop("at_s")
        row.pop("peak_memory_bytes", None)
        mean = row.pop("mean_log_probability", None)
        if mean is not None:
            row["mean"] = round(mean, 5)


@pytest.mark.parametrize("policy", ["read:2", "wait:2", "offline"])
def test_lines_translated_side_by_side_leave_the_log_they_leave_alone(policy):
    settings = TranslationSettings(policy=policy, layout=LayoutSettings(slot_length=4))
    weights = tiny_weights()
    shares = [LINES[start::3] for start in range(3)]
    alone, together = ([[], [], []] for _ in range(2))
    store = TorchStore(weights.network, 3, 600)

    def work(lane, model, rows):
        def translator(log):
            return Translator(weights, settings, capacity=600, log=log, model=model)

        return log_of(translator, shares[lane], rows)

    for lane in range(3):
        model = weights.new_model(600)
        model.run(work(lane, model, alone[lane]))
    works = [work(lane, CausalModel(store, lane), together[lane]) for lane in range(3)]
    n_passes = sum(1 for _ in run_together(store, works))
    assert together == alone
    n_forwards = [sum(row["event"] == "fed" for row in rows) for rows in alone]
    assert max(n_forwards) == n_passes < sum(n_forwards)


def test_what_one_work_raises_ends_the_others_and_is_raised():
    store = TorchStore(tiny_weights().network, 2, 100)
    ended = []

    def patient(model):
        try:
            for time in range(50):
                yield from model.ask([Row(1, time, time=time)])
        finally:
            ended.append(model)

    def hasty(model):
        yield from model.ask([Row(1, 0, time=0)])
        msg = "no more"
        raise ValueError(msg)

    works = [patient(CausalModel(store, 0)), hasty(CausalModel(store, 1))]
    with pytest.raises(ValueError, match="no more"):
        deque(run_together(store, works), maxlen=0)
    assert len(ended) == 1


def test_a_lane_that_is_full_fails_where_it_was_fed():
    store = TorchStore(tiny_weights().network, 2, 8)
    said = []

    def work(model, n_rows):
        try:
            yield from model.ask([Row(1, position, time=0) for position in range(n_rows)])
            said.append(model.n_rows)
        except CacheFullError as error:
            said.append(type(error))

    works = [work(CausalModel(store, lane), n_rows) for lane, n_rows in enumerate((9, 5))]
    deque(run_together(store, works), maxlen=0)
    assert said == [CacheFullError, 5]
    one = CausalModel(TorchStore(tiny_weights().network, 1, 8))
    one.run(work(one, 9))
    assert said == [CacheFullError, 5, CacheFullError]
