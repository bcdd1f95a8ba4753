from training.data.align_report import Report


def filled(min_agreement=0.5):
    report = Report(min_agreement)
    report.count_scheduled("talks", [1, 2, 3], 3)
    report.count_scheduled("talks", [2, 2, 2, 9], 9)
    report.count_dropped("talks", "too long")
    report.count_dropped("chat", "no agreement")
    report.count_dropped("chat", "no agreement")
    return report


def test_pairs_are_those_with_a_schedule_and_those_dropped_by_reason_and_corpus():
    told = filled().as_json()
    assert (told["pairs"], told["scheduled"]) == (5, 2)
    assert list(told["dropped"].items()) == [("no agreement", 2), ("too long", 1)]
    assert told["corpora"] == {
        "talks": {"pairs": 3, "scheduled": 2},
        "chat": {"pairs": 2, "scheduled": 0},
    }
    assert told["aligner"] == "eflomal"


def test_the_table_tells_the_same_numbers_and_what_words_wait_for():
    table = filled().as_table()
    rows = [row.split(maxsplit=1) for row in table.splitlines()]
    assert rows[:5] == [
        ["5", "pairs"],
        ["2", "have a read-n schedule"],
        ["3", "have none, and train the other policies only"],
        ["2", "no agreement"],
        ["1", "too long"],
    ]
    texts = {text: number for number, text in rows}
    assert texts["words read before the first is written"] == "1.50"
    (read,) = [text for text in texts if text.startswith("words read at a stretch")]
    assert "6+: " in read
    assert read.count("%") >= 3


def test_without_an_aligner_nothing_is_said_of_links():
    report = filled(min_agreement=None)
    told = report.as_json()
    assert (told["aligner"], told["links"]) == (None, None)
    assert "link" not in report.as_table()
    assert "agreement of the two directions" in filled().as_table()


def test_where_no_pair_got_a_schedule_there_are_no_averages():
    report = Report(0.5)
    report.count_dropped("chat", "too long")
    assert "at a stretch" not in report.as_table()
    assert "nan" not in report.as_table()
