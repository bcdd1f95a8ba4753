import random
from pathlib import Path

from app.library.models import MachineReport, ModelOffer, known_offer, known_offers
from engine.hub.catalogue import KNOWN_MODELS, KnownModel
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
    found.feed(
        {"kind": "forecast", "n_words": 9, "load": 1, "median_s": 2.5, "p95_s": 3, "computing_s": 1}
    )
    assert (found.forecast.median_s, found.forecast.load) == (2.5, 1.0)


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


def test_the_largest_that_a_graphics_card_has_room_for_is_recommended():
    names = [model.name for model in KNOWN_MODELS]
    lines = [fit(name, device="cuda") for name in names[:4]]
    lines += [fit(name, fits=False, device="cuda") for name in names[4:]]
    best = report(*lines).recommended([BUNDLED, *known_offers()], "de")
    assert best.name == names[3]


def test_what_its_owner_must_be_asked_for_is_never_recommended():
    lines = [fit(model.name, device="cuda") for model in KNOWN_MODELS]
    best = report(*lines).recommended(known_offers(), "de")
    assert not best.is_gated
    assert best.n_bytes == max(it.n_bytes for it in known_offers() if not it.is_gated)


def test_without_a_card_the_bundled_model_is_recommended_for_its_language_only():
    offers = [BUNDLED, *known_offers()]
    found = report(*(fit(model.name) for model in KNOWN_MODELS))
    assert found.recommended(offers, "de") == BUNDLED
    assert found.recommended(offers, "fr").choice == Path(KNOWN_MODELS[0].name)


def test_where_nothing_is_known_or_fits_nothing_but_the_bundled_model_is_recommended():
    assert report().recommended(known_offers(), "fr") is None
    assert report().recommended([BUNDLED], "de") == BUNDLED
    none = report(*(fit(model.name, fits=False) for model in KNOWN_MODELS))
    assert none.recommended(known_offers(), "fr") is None


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


def test_what_is_not_for_all_uses_comes_later_and_is_not_recommended():
    free = offer("a/free", word_gflop=10.0, size=9)
    bound = offer("a/bound", word_gflop=10.0, licence="CC-BY-NC-4.0")
    found = report(computing(1000.0))
    assert named(found.ranked([bound, free], "en", "pl")) == ["a/free", "a/bound"]
    assert found.recommended([bound], "pl") is None


def test_only_models_of_the_two_languages_are_offered():
    offers = [BUNDLED, *known_offers()]
    found = report(computing(1000.0))
    for target in ("de", "fr", "pl"):
        names = named(found.ranked(offers, "en", target))
        assert ("small" in names) is (target == "de")
        assert ("Helsinki-NLP/opus-mt-en-fr" in names) is (target == "fr")
        assert "facebook/m2m100_418M" in names
    assert "Helsinki-NLP/opus-mt-de-en" in named(found.ranked(offers, "de", "en"))
    assert found.recommended(offers, "fr").name == "Helsinki-NLP/opus-mt-en-fr"
    assert found.recommended(offers, "pl").name == "facebook/m2m100_418M"
    assert named(found.ranked(offers, "en", "de"))[0] == "small"
