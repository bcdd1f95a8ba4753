import sys
from pathlib import Path

import pytest
import torch

from engine.errors import ModelError
from engine.runtime import load_plan
from engine.runtime.load_plan import free_bytes, pick_device

CPU = torch.device("cpu")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux")
def test_free_memory_is_what_linux_calls_available():
    lines = Path("/proc/meminfo").read_text().splitlines()
    total = int(lines[0].removeprefix("MemTotal:").split()[0]) * 1024
    assert 0 < free_bytes(CPU) <= total


def test_where_nobody_tells_free_memory_is_not_known(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert free_bytes(CPU) is None
    assert free_bytes(torch.device("mps")) is None


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
