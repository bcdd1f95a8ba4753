from app.captions.model import EpochClock


def test_a_time_is_the_same_each_time_until_the_time_of_day_is_set():
    now = {"epoch": 1_000_000.0, "monotonic": 50.0}
    clock = EpochClock(lambda: now["epoch"], lambda: now["monotonic"])
    assert clock(40.0) == 999_990.0
    now["epoch"] += 10.002  # clocks differ a little
    now["monotonic"] += 10.0
    assert clock(40.0) == 999_990.0
    now["epoch"] += 3600.0
    assert round(clock(40.0)) == 1_003_590
