import pytest
import torch

from engine.errors import ModelError
from engine.runtime import load_plan
from engine.runtime.load_plan import pick_device


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_refused(monkeypatch, name):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(ModelError, match=f"the device {name} was asked for and torch finds none"):
        pick_device(name)


def test_a_small_model_takes_one_thread_and_a_large_one_after_it_all_again():
    before = torch.get_num_threads()
    load_plan._all_threads.cache_clear()
    torch.set_num_threads(3)
    try:
        for n_parameters, n_threads in ((7_000_000, 1), (7_000_000_000, 3), (7_000_000, 1)):
            assert load_plan.share_processor(n_parameters) == n_threads
            assert torch.get_num_threads() == n_threads
    finally:
        torch.set_num_threads(before)
        load_plan._all_threads.cache_clear()
