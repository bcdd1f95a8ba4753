"""What a computer is told to be, by drivers and files that tests stand in for."""

import os
import platform
from pathlib import Path

import pytest
import torch

from engine.runtime import processor
from engine.runtime.processor import is_out_of_memory


@pytest.fixture
def driver(monkeypatch):
    """A graphics card that torch finds; a test may change what it answers."""
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _card: (3, 8))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _card: "a card")
    return monkeypatch


@pytest.mark.parametrize(
    ("error", "ran_out"),
    [
        (MemoryError(), True),
        (torch.OutOfMemoryError("CUDA out of memory"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 8 bytes"), True),
        (RuntimeError("shapes differ"), False),
    ],
)
def test_memory_that_ran_out_is_known_by_class_or_words(error, ran_out):
    assert is_out_of_memory(error) is ran_out


def graphics():
    machine = processor.look_around()
    return machine.gpu, machine.gpu_bytes, machine.gpu_free_bytes, machine.trouble


def test_a_card_is_told_with_its_memory_and_a_driver_that_fails_with_its_reason(driver):
    assert graphics() == ("a card", 8, 3, "")

    error = RuntimeError("driver too old\nmore")

    def fail(_card):
        raise error

    driver.setattr(torch.cuda, "mem_get_info", fail)
    assert graphics() == ("", 0, 0, "driver too old")
    driver.setattr(torch.cuda, "is_available", lambda: False)
    assert graphics() == ("", 0, 0, "")
    driver.setattr(torch.backends.mps, "is_available", lambda: True)
    assert graphics() == ("Apple GPU (MPS)", 0, 0, "")
    driver.setattr("importlib.util.find_spec", lambda _name: None)
    assert graphics() == ("", 0, 0, "")


def test_linux_names_processor_cores_and_memory(driver):
    told = "flags : x\nmodel name\t: Some CPU: fast\nmodel name : Other\n"
    driver.setattr(Path, "read_text", lambda *_arguments, **_options: told)
    driver.setattr(platform, "system", lambda: "Linux")
    driver.setattr(os, "sched_getaffinity", lambda _process: {0, 5, 7}, raising=False)
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 3}
    driver.setattr(os, "sysconf", sizes.__getitem__, raising=False)
    driver.setattr(processor, "free_memory_bytes", lambda: 77)
    machine = processor.look_around()
    assert (machine.processor, machine.cores) == ("Some CPU: fast", 3)
    assert (machine.memory_bytes, machine.free_bytes) == (3 * 4096, 77)
