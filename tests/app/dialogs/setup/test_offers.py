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
    assert facts(offer(replace(KNOWN, scores={})))[0] == "Quality not published"


def test_titles_tell_one_language_many_languages_folders_and_what_is_built_in():
    assert words(offer()).title == "English → Polish"
    assert (
        words(offer(replace(KNOWN, targets=("pl", "fr")))).title == "English → Polish and many more"
    )
    assert words(offer(None, choice=Path("/m/mine"))).title == "mine"
    assert words(offer(None, choice=None, is_here=True)).title == "English → Polish, built in"


def test_what_is_to_download_is_told_from_what_is_here():
    assert "300 MB to download" in facts(offer())
    assert "300 MB on this computer" in facts(offer(is_here=True))


@pytest.mark.parametrize(
    ("gflops", "told", "is_warning"),
    [(400.0, "Fast enough", False), (0.5, "Too slow for this computer", True)],
)
def test_whether_a_model_keeps_up_here_is_told(gflops, told, is_warning):
    shown = words(offer(), MachineReport(gflops=gflops))
    (fact,) = [fact for fact in shown.facts if told in fact.text]
    assert fact.is_warning is is_warning
    assert "A second of speech takes about" in shown.tip


def test_a_measure_that_may_be_too_low_is_said_to_be_one():
    report = MachineReport(gflops=0.5, measures_again=True)
    shown = words(offer(), report)
    assert Fact("Perhaps too slow: being measured again") in shown.facts
    report.measures_again = False
    assert Fact("Perhaps too slow: being measured again") not in words(offer(), report).facts


@pytest.mark.parametrize(
    ("fit", "told", "is_warning"),
    [
        (Fit(fits=True, words="", needed_bytes=1, device="cpu"), "Runs (speed not known)", False),
        (
            Fit(fits=True, words="", needed_bytes=1, device="cuda"),
            "Runs on the graphics card",
            False,
        ),
        (
            Fit(fits=False, words="", needed_bytes=4_000_000_000, device="cpu"),
            "Needs 4.0 GB of memory",
            True,
        ),
    ],
)
def test_where_the_speed_is_not_known_it_is_told_whether_a_model_has_room(fit, told, is_warning):
    one = offer(replace(KNOWN, word_gflop=None))
    shown = words(one, MachineReport(fits={"some/model": fit}))
    assert Fact(told, is_warning=is_warning) in shown.facts
    assert "A second of speech" not in shown.tip


def test_a_graphics_card_computes_so_the_processor_is_not_timed():
    machine = Machine(processor="", cores=1, memory_bytes=1, free_bytes=1, gpu="Some Graphics",
                      gpu_bytes=1, gpu_free_bytes=1, trouble="")  # fmt: skip
    shown = words(offer(), MachineReport(machine=machine, gflops=0.5))
    assert not any("slow" in fact.text for fact in shown.facts)
    assert "A second of speech" not in shown.tip


def test_a_licence_that_nobody_knows_promises_nothing():
    assert words(offer()).facts[-1] == Fact("Free for any use")
    assert "Free for any use" not in facts(offer(licence="of my own"))


def test_the_model_in_use_and_the_recommended_one_are_told_to_everybody():
    assert facts(offer(is_here=True), is_in_use=True)[0] == "In use now"
    assert "In use now" in words(offer(is_here=True), is_in_use=True).spoken
    best = words_of(offer(), MachineReport(), "en", "pl", is_best=True)
    assert best.is_best
    assert best.spoken.startswith("English → Polish, Recommended, Quality: very good")
    assert best.spoken.endswith("some/model · Apache-2.0")
    assert "Recommended" not in words(offer()).spoken


def test_of_a_folder_nothing_is_said_that_is_not_known():
    one = offer(None, choice=Path("/m/mine"), name="mine", licence="", is_here=True)
    assert facts(one) == ["300 MB on this computer"]
    assert words(one).detail == "mine"
    built_in = offer(None, choice=None, is_here=True)
    assert facts(built_in)[:3] == ["For simple, everyday sentences", "300 MB", "Fast"]
