from dataclasses import replace
from pathlib import Path

import pytest

from app.captions.models import Fit, MachineReport, ModelOffer
from app.dialogs.setup.offers import Fact, n_dots_of, quality_of, words_of
from engine.hub.catalogue import KnownModel, Score
from engine.runtime.processor import Machine

SCORE = Score(value=46.5, measure="BLEU", test_set="newstest", published="https://example.org/card")
KNOWN = KnownModel(
    name="some/model",
    download_bytes=300_000_000,
    licence="Apache-2.0",
    targets=("pl",),
    word_gflop=2.0,
    scores={("en", "pl"): SCORE},
)


def offer(known=KNOWN, **more):
    given = {"choice": Path("some/model"), "name": "some/model", "n_bytes": 300_000_000,
             "licence": "Apache-2.0", "is_here": False}  # fmt: skip
    return ModelOffer(**given | more, known=known)


def words(one, report=None, **more):
    report = report or MachineReport()
    return words_of(one, report, "en", "pl", is_best=False, **more)


def facts(one, report=None, **more):
    return [fact.text for fact in words(one, report, **more).facts]


@pytest.mark.parametrize(
    ("measure", "value", "n_dots", "grade"),
    [
        ("BLEU", 19.9, 1, "weak"),
        ("BLEU", 20.0, 2, "fair"),
        ("BLEU", 29.9, 2, "fair"),
        ("BLEU", 30.0, 3, "good"),
        ("BLEU", 40.0, 4, "very good"),
        ("chrF", 39.9, 1, "weak"),
        ("chrF", 50.0, 3, "good"),
        ("chrF", 60.0, 4, "very good"),
    ],
)
def test_a_published_score_is_one_to_four_dots_and_a_word(measure, value, n_dots, grade):
    score = replace(SCORE, measure=measure, value=value)
    assert (n_dots_of(score), quality_of(score)) == (n_dots, grade)
    shown = words(offer(replace(KNOWN, scores={("en", "pl"): score})))
    assert shown.facts[0] == Fact(f"Quality: {'●' * n_dots}{'○' * (4 - n_dots)} {grade}")
    assert f"Quality: {grade}" in shown.spoken
    assert "●" not in shown.spoken


def test_the_exact_score_and_where_it_was_published_stand_in_the_tip():
    assert "46.5 BLEU on newstest, published at https://example.org/card" in words(offer()).tip
    assert words(offer(replace(KNOWN, scores={}))).tip == ""


OF_MANY = replace(KNOWN, targets=("pl", "fr"))
MINE = {"choice": Path("/m/mine"), "name": "mine", "licence": "", "is_here": True}
QUALITY, FREE = "Quality: ●●●● very good", "Free for any use"


@pytest.mark.parametrize(
    ("one", "title", "told"),
    [
        (offer(), "English → Polish", [QUALITY, "300 MB to download", FREE]),
        (
            offer(OF_MANY, licence="of my own", is_here=True),
            "English → Polish and many more",
            [QUALITY, "300 MB on this computer"],
        ),
        (
            offer(replace(KNOWN, scores={})),
            "English → Polish",
            ["Quality not published", "300 MB to download", FREE],
        ),
        (offer(None, **MINE), "mine", ["300 MB on this computer"]),
        (
            offer(None, choice=None, is_here=True),
            "English → Polish, built in",
            ["For simple, everyday sentences", "300 MB", "Fast", FREE],
        ),
    ],
)
def test_a_card_tells_what_is_known_and_nothing_else(one, title, told):
    assert words(one).title == title
    assert facts(one) == told


def fit(**values):
    known = {"fits": True, "words": "", "needed_bytes": 1, "device": "cpu"}
    return MachineReport(fits={"some/model": Fit(**known | values)})


GPU = Machine(processor="", cores=1, memory_bytes=1, free_bytes=1, gpu="Some Graphics",
              gpu_bytes=1, gpu_free_bytes=1, trouble="")  # fmt: skip


@pytest.mark.parametrize(
    ("report", "told", "is_warning"),
    [
        (MachineReport(gflops=400.0), ["Fast enough (uses 1 % of the time)"], False),
        (MachineReport(gflops=0.5), ["Too slow for this computer"], True),
        (
            MachineReport(gflops=0.5, measures_again=True),
            ["Perhaps too slow: being measured again"],
            False,
        ),
        (MachineReport(gflops=0.5, machine=GPU), [], False),  # which computes instead
        (fit(), ["Runs (speed not known)"], False),
        (fit(device="cuda"), ["Runs on the graphics card"], False),
        (fit(fits=False, needed_bytes=4_000_000_000), ["Needs 4.0 GB of memory"], True),
    ],
)
def test_whether_a_model_keeps_up_or_has_room_here_is_told(report, told, is_warning):
    is_timed = bool(report.gflops)
    shown = words(offer(KNOWN if is_timed else replace(KNOWN, word_gflop=None)), report)
    found = shown.facts[2:-1]  # behind quality and size
    assert found == tuple(Fact(text, is_warning=is_warning) for text in told)
    is_told = is_timed and report.machine is None
    assert ("A second of speech takes about" in shown.tip) == is_told


def test_the_model_in_use_and_the_recommended_one_are_told_to_everybody():
    assert facts(offer(is_here=True), is_in_use=True)[0] == "In use now"
    assert "In use now" in words(offer(is_here=True), is_in_use=True).spoken
    best = words_of(offer(), MachineReport(), "en", "pl", is_best=True)
    assert best.is_best
    assert best.spoken.startswith("English → Polish, Recommended, Quality: very good")
    assert best.spoken.endswith("some/model · Apache-2.0")
    assert "Recommended" not in words(offer()).spoken
