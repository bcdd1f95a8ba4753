import random
from pathlib import Path

from app.library.models import MachineReport, ModelOffer, known_offers
from engine.hub.catalogue import KNOWN_MODELS
from tests.support.app.setup_services import MACHINE, fit

BUNDLED = ModelOffer(choice=None, name="small", n_bytes=1, licence="", is_here=True)


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
