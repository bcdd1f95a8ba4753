import numpy as np

from engine.audio.chunks import Ring


def numbered(start, count):
    return np.arange(start, start + count, dtype=np.float32)


def test_what_is_read_waiting_and_dropped_is_what_was_written():
    rng = np.random.default_rng(0)
    for _ in range(100):
        ring, n_written, read = Ring(int(rng.integers(1, 40))), 0, []
        expected, capacity = [], len(ring._samples)
        for _ in range(60):
            if rng.random() < 0.6:
                block = numbered(n_written, int(rng.integers(0, 50)))
                room = capacity - (len(expected) - len(read))
                expected += list(block[:room])
                ring.write(block)
                n_written += len(block)
            else:
                read += list(ring.read())
                assert read == expected
        read += list(ring.read())
        assert read == expected
        assert len(read) + ring.n_dropped == n_written


def test_what_was_read_does_not_change_when_the_ring_is_written_on():
    ring = Ring(4)
    ring.write(numbered(1, 4))
    block = ring.read()
    ring.write(numbered(5, 4))
    assert list(block) == [1, 2, 3, 4]
