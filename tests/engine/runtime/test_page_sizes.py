"""Large pages under memory that is in use, and none under memory that is not."""

import ctypes
import mmap
import re
import sys
from pathlib import Path

import pytest

from engine.runtime.processor import collapse_pages

SIZE = 16 << 20
PAGE = mmap.PAGESIZE


def large_pages_bytes(memory):
    """Return the bytes of the range that holds ``memory`` which are in large pages."""
    start = memory.find(b"here")
    assert start == 0
    smaps = Path("/proc/self/smaps").read_text("ascii", "replace")
    address = address_of(memory)
    for found in re.finditer(r"^([0-9a-f]+)-([0-9a-f]+) .*\n(?:[A-Z].*\n)+", smaps, re.MULTILINE):
        if int(found[1], 16) <= address < int(found[2], 16):
            return 1024 * int(re.search(r"AnonHugePages: +(\d+)", found[0])[1])
    raise AssertionError(address)


def address_of(memory):
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def private(n_written):
    """Memory of which so many bytes are written, in small pages."""
    memory = mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for place in range(0, n_written, PAGE):
        memory[place] = place // PAGE % 251
    memory[:4] = b"here"
    memory.madvise(mmap.MADV_HUGEPAGE)  # allowed from here on
    return memory


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_memory_in_use_is_laid_together_and_keeps_what_it_holds():
    memory = private(SIZE)
    before = bytes(memory)
    small = large_pages_bytes(memory)  # of neighbours: the kernel may count both as one range
    collapse_pages()
    if large_pages_bytes(memory) == small:
        pytest.skip("this kernel does not lay pages together when it is asked to")
    assert large_pages_bytes(memory) - small >= SIZE - (4 << 20)
    assert bytes(memory) == before


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_memory_that_is_hardly_used_stays_small():
    memory = private(SIZE // 4)
    small = large_pages_bytes(memory)
    collapse_pages()
    assert large_pages_bytes(memory) <= small
