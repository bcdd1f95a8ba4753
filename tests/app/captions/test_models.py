import itertools
import random
from dataclasses import replace
from pathlib import Path

import pytest

from app.captions.models import (
    MachineReport,
    ModelOffer,
    bundled_offers,
    fetched_model,
    hub_name,
    known_offer,
    known_offers,
)
from engine.hub.catalogue import KNOWN_MODELS, KnownModel
from engine.speech.speed import computer_gflops, matrix_gflops
from tests.support.app.setup_services import MACHINE, fit

BUNDLED = ModelOffer(
    choice=None, name="small", n_bytes=1, licence="", is_here=True, languages=("de",)
)


def report(*lines):
    found = MachineReport()
    for line in (MACHINE, *lines):
        found.feed(line)
    return found


def test_a_report_is_what_the_lines_say():
    found = report(fit("some/model"))
    assert (found.machine.cores, found.machine.gpu) == (8, "")
    assert found.fits["some/model"].fits


def test_lines_of_another_make_are_passed_over():
    rng = random.Random(0)
    odd = (None, "text", True, 1.5, float("nan"), [], -1)
    for _ in range(300):
        line = dict(rng.choice((MACHINE, fit("some/model"))))
        line[rng.choice(list(line))] = rng.choice(odd)
        line.pop(rng.choice(list(line)))
        found = MachineReport()
        found.feed(line)
        assert found.machine is None
        assert not found.fits


def on_card(free_bytes):
    card = MACHINE | {"gpu": "some card", "gpu_bytes": 8 * 10**9, "gpu_free_bytes": free_bytes}
    return report(card, *(fit(model.name, device="cuda") for model in KNOWN_MODELS))


def test_a_translator_that_a_graphics_card_has_room_for_keeps_up_and_comes_before_chat_models():
    found, offers = on_card(6 * 10**9), known_offers()
    assert found.recommended(offers, "pl").name == "facebook/m2m100_418M"
    ranks = [offer.is_chat for offer in found.ranked(offers, "en", "pl") if found.keeps_up(offer)]
    assert ranks == sorted(ranks)
    assert True in ranks


def test_a_chat_model_is_never_recommended():
    lines = [fit(model.name, device=device) for model in KNOWN_MODELS for device in ("cpu", "cuda")]
    for gflops in (0.1, 20.0, 1000.0):
        for target in ("de", "fr", "pl", "zh"):
            best = report(*lines, computing(gflops)).recommended(known_offers(), target)
            assert best is None or best.is_dedicated


def test_without_a_card_the_bundled_model_is_recommended_for_its_language_only():
    offers = [BUNDLED, *known_offers()]
    found = report(computing(1000.0))
    assert found.recommended(offers, "de") == BUNDLED
    assert found.recommended(offers, "fr").name == "Helsinki-NLP/opus-mt-en-fr"


def test_a_bundled_model_whose_card_cannot_be_read_knows_no_language(monkeypatch, tmp_path):
    monkeypatch.setattr("app.captions.models.bundled_models", lambda: [tmp_path])
    assert [offer.languages for offer in bundled_offers()] == [()]


def test_before_the_computer_is_measured_the_first_translator_is_recommended():
    assert report().recommended(known_offers(), "fr").name == "Helsinki-NLP/opus-mt-en-fr"
    assert report().recommended([BUNDLED, *known_offers()], "de") == BUNDLED


def test_where_all_are_too_slow_the_fastest_of_published_quality_is_recommended():
    found = report(computing(0.5), *(fit(model.name) for model in KNOWN_MODELS))
    assert found.recommended(known_offers(), "pl").name == "facebook/m2m100_418M"
    assert found.recommended(known_offers(), "fr").name == "Helsinki-NLP/opus-mt-en-fr"
    for target in ("zh", "no"):  # nobody published the quality of what is for all uses
        assert found.recommended(known_offers(), target) is None


def measured(batch_s):
    """The rate of a computer of which the measures take these seconds of a thread's time."""
    times = itertools.accumulate(itertools.chain(*((0.0, seconds) for seconds in batch_s)))
    core = matrix_gflops(lambda: next(times), lambda _seconds: None)
    return report(computing(computer_gflops(measure=lambda _pause: core, kind="avx2", n_cores=4)))


def test_idle_and_busy_computers_get_the_same_recommendation():
    rng = random.Random(0)
    for _ in range(30):
        idle_s = rng.uniform(0.05, 2)
        slowed = [idle_s * rng.uniform(1, 20) for _ in range(3)]  # what else runs, runs in bursts
        busy = rng.sample([idle_s] * 4 + slowed, 7)
        idle_found, busy_found = measured([idle_s] * 7), measured(busy)
        for target in ("de", "fr", "pl", "es"):
            offers = [BUNDLED, *known_offers()]
            assert idle_found.recommended(offers, target) == busy_found.recommended(offers, target)


def test_a_measure_that_may_be_too_low_decides_nothing_and_a_lower_one_takes_back_nothing():
    offers = [offer("small", word_gflop=20.0), offer("large", word_gflop=40.0, size=2)]
    now = report(computing(1.0))
    now.measures_again = True
    assert [now.keeps_up(one) for one in offers] == [None, None]
    assert now.recommended(offers, "pl").name == "small"
    now.feed(computing(1e6))
    now.feed(computing(1.0))
    now.measures_again = False
    assert [now.keeps_up(one) for one in offers] == [True, True]
    slow = report(computing(1.0))
    assert [slow.keeps_up(one) for one in offers] == [False, False]


def named(offers):
    return [offer.name for offer in offers]


def computing(gflops):
    return {"kind": "computing", "gflops": gflops}


def offer(name, *, word_gflop=None, licence="MIT", size=1, **more):
    known = KnownModel(
        name=name,
        download_bytes=size,
        licence=licence,
        targets=("pl",),
        word_gflop=word_gflop,
        scores={},
        **more,
    )
    return known_offer(known, is_here=False)


def test_what_does_not_keep_up_here_is_never_first_and_never_recommended():
    quick, slow = offer("a/quick", word_gflop=10.0, size=2), offer("a/slow", word_gflop=90.0)
    unknown = offer("a/unknown")
    for gflops, expected in (
        (100.0, ["a/quick", "a/unknown", "a/slow"]),
        (1000.0, ["a/slow", "a/quick", "a/unknown"]),
        (10.0, ["a/unknown", "a/slow", "a/quick"]),
    ):
        found = report(computing(gflops))
        offers = [slow, unknown, quick]
        assert named(found.ranked(offers, "en", "pl")) == expected
        best = found.recommended(offers, "pl")
        assert (best and best.name) == (None if gflops == 10.0 else expected[0])


def test_a_model_of_many_languages_is_on_offer_where_no_other_knows_the_pair_or_if_it_is_here():
    found, offers = report(computing(1000.0)), known_offers()
    (many,) = [offer for offer in offers if offer.is_of_many]
    assert many in found.ranked(offers, "en", "pl")
    assert many not in found.ranked(offers, "en", "fr")
    here = replace(many, is_here=True)
    assert here in found.ranked([*offers, here], "en", "fr")


@pytest.mark.parametrize("name", ["Qwen/Qwen2.5-7B-Instruct", "a/b", "some-one/some_model.v2"])
def test_owner_and_name_are_a_name_on_the_hub(name):
    assert hub_name(Path(name)) == name


@pytest.mark.parametrize("name", ["model", "a/b/c", "/a/b", "./a", "../a", "~/a", "a/.b", ".a/b"])
def test_what_may_be_a_folder_is_no_name(name):
    assert hub_name(Path(name)) == ""


def test_a_folder_that_is_there_is_a_folder(tmp_path, monkeypatch):
    (tmp_path / "some" / "model").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    named = Path("some/model")
    assert hub_name(named) == ""
    assert fetched_model(named, tmp_path / "models") == named


def test_how_far_a_fetch_is_goes_to_one_line_of_the_terminal(tmp_path, monkeypatch, capsys):
    def fetch(name, library, wanted):
        for done in (0, 1_000_000_000, 1_000_000_001, 2_000_000_000):
            wanted.progress(done, 2_000_000_000)
        return library / name

    monkeypatch.setattr("engine.hub.download.fetch_model", fetch)
    assert fetched_model(Path("a/b"), tmp_path) == tmp_path / "a" / "b"
    told = capsys.readouterr().err
    assert told.endswith("downloading a/b: 2.00 of 2.00 GB\n")
    assert told.count("\r") == 3
    assert told.count("\n") == 1
