from engine.speech.pace import Pace


def test_so_many_slow_measures_in_a_row_are_a_slow_computer_and_a_quick_one_begins_anew():
    pace, told = Pace(newest_weight=1.0, slow_from=0.5, slow_after=3), []
    for computing_s in (0.6, 0.6, 0.6, 0.5, 0.6, 0.6, 0.6):
        pace.take(computing_s, speech_s=1.0)
        told.append(pace.is_slow)
    assert told == [False, False, True, False, False, False, True]


def test_the_mean_begins_with_the_first_measure_and_follows_the_newest():
    pace, means = Pace(newest_weight=0.25, slow_from=9, slow_after=1), []
    for computing_s in (2.0, 6.0, 3.0):
        pace.take(computing_s, speech_s=2.0)
        means.append(pace.factor)
    assert means == [1.0, 1.5, 1.5]
