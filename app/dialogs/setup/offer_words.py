"""The texts of the card of a translation model: words without numbers that need a textbook."""

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app.captions.models import Fit, MachineReport, ModelOffer
from app.config.system.translations import filled
from app.look.widgets.dialog_text import size_text
from app.look.widgets.language_names import language_name
from engine.hub.catalogue import Score
from engine.messages import tr
from engine.models.licences import allows_any_use

RECOMMENDED = tr("Recommended")

_BEST = 4  # dots
_BOUNDS = {"BLEU": (20.0, 30.0, 40.0), "chrF": (40.0, 50.0, 60.0)}
"""Scores from which a translation has its second, third and fourth dot.

Those of BLEU are Google's (https://cloud.google.com/translate/docs/advanced/automl-evaluate): from
20 the gist is clear, from 30 it is understood well, from 40 it is of high quality.
"""


@dataclass(frozen=True, slots=True)
class Fact:
    """A few words about a model; a warning says why it may be of no use here."""

    text: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferWords:
    """The texts of a card.

    Attributes:
        title: the languages, and what kind of model it is.
        facts: quality, size, speed, use.
        detail: name and licence, in small letters.
        tip: where the facts come from.
        spoken: everything, for a screen reader: dots are words.
        is_best: it is recommended.
    """

    title: str
    facts: tuple[Fact, ...]
    detail: str
    tip: str
    spoken: str
    is_best: bool


def words_of(
    offer: ModelOffer,
    report: MachineReport,
    spoken: str,
    language: str,
    *,
    is_best: bool,
    is_in_use: bool = False,
) -> OfferWords:
    """Return the texts about a model for two languages on this computer."""
    score = offer.score(spoken, language)
    title, dots, grade = _title(offer, spoken, language), "", ""
    if score is not None:
        n_dots = n_dots_of(score)
        dots = "●" * n_dots + "○" * (_BEST - n_dots)
        grade = _grade(n_dots)
    used = [Fact(_said(tr("In use now")))] if is_in_use else []
    known = [_size(offer), *_speed(offer, report), _use(offer)]
    quality = _quality(offer, f"{dots} {grade}".strip())
    aloud = _quality(offer, grade)
    recommended = [_said(RECOMMENDED)] if is_best else []
    detail = " · ".join(filter(None, (offer.name, offer.licence)))
    return OfferWords(
        title=title,
        facts=tuple(fact for fact in (*used, quality, *known) if fact.text),
        detail=detail,
        tip="\n".join(filter(None, (_source(score), _load_tip(offer, report)))),
        spoken=", ".join(
            filter(None, [title, *recommended, *_texts(used), aloud.text, *_texts(known), detail])
        ),
        is_best=is_best,
    )


def n_dots_of(score: Score) -> int:
    """Return a published quality as one to four dots."""
    return 1 + sum(score.value >= bound for bound in _BOUNDS[score.measure])


def quality_of(score: Score) -> str:
    """Return a published quality as a word."""
    return _grade(n_dots_of(score))


def _said(text: str) -> str:
    return QCoreApplication.translate("", text)


def _texts(facts: list[Fact]) -> list[str]:
    return [fact.text for fact in facts]


def _title(offer: ModelOffer, spoken: str, language: str) -> str:
    if offer.choice is not None and offer.known is None:
        return offer.choice.name
    pair = f"{language_name(spoken)} → {language_name(language)}"
    if offer.choice is None:
        return _said(tr("{}, built in")).format(pair)
    if offer.is_chat:
        return _said(tr("{}, by a chat model")).format(pair)
    if offer.is_of_many:
        return _said(tr("{} and many more")).format(pair)
    return pair


def _grade(n_dots: int) -> str:
    grades = (
        _said(tr("weak")),
        _said(tr("fair")),
        _said(tr("good")),
        _said(tr("very good")),
    )
    return grades[n_dots - 1]


def _quality(offer: ModelOffer, grade: str) -> Fact:
    if grade:
        return Fact(_said(tr("Quality: {}")).format(grade))
    if offer.choice is None:
        return Fact(_said(tr("For simple, everyday sentences")))
    return Fact(_said(tr("Quality not published")) if offer.known is not None else "")


def _size(offer: ModelOffer) -> Fact:
    size = size_text(offer.n_bytes) if offer.n_bytes else ""
    if not offer.is_here:
        return Fact(_said(tr("{} to download")).format(size))
    here = "" if offer.choice is None else _said(tr("on this computer"))
    return Fact(" ".join(filter(None, (size, here))))


def _speed(offer: ModelOffer, report: MachineReport) -> list[Fact]:
    """Return whether a model keeps up with speech here, as far as that is known."""
    load, fit = _load(offer, report), report.fits.get(offer.name)
    if offer.choice is None:
        return [Fact(_said(tr("Fast")))]
    if load is not None:
        if report.keeps_up(offer) is None:
            return [Fact(_said(tr("Perhaps too slow: being measured again")))]
        if not report.keeps_up(offer):
            return [Fact(_said(tr("Too slow for this computer")), is_warning=True)]
        fast = _said(tr("Fast enough (uses {:.0f} % of the time)"))
        return [Fact(filled(fast, 100 * load))]
    return [] if fit is None else [_fit(fit)]


def _fit(fit: Fit) -> Fact:
    if not fit.fits:
        needs = _said(tr("Needs {} of memory")).format(size_text(fit.needed_bytes))
        return Fact(needs, is_warning=True)
    is_on_cpu = fit.device == "cpu"
    return Fact(
        _said(tr("Runs (speed not known)") if is_on_cpu else tr("Runs on the graphics card"))
    )


def _use(offer: ModelOffer) -> Fact:
    return Fact(_said(tr("Free for any use")) if allows_any_use(offer.licence) else "")


def _source(score: Score | None) -> str:
    """Return the source of a published quality, with its exact score."""
    if score is None:
        return ""
    text = _said(tr("{:.1f} {} on {}, published at {}"))
    return filled(text, score.value, score.measure, score.test_set, score.published)


def _load(offer: ModelOffer, report: MachineReport) -> float | None:
    """Return the seconds that a second of speech takes on the processor, if it computes."""
    has_gpu = report.machine is not None and report.machine.gpu
    return None if has_gpu else report.load(offer)


def _load_tip(offer: ModelOffer, report: MachineReport) -> str:
    load = _load(offer, report)
    if load is None:
        return ""
    text = _said(tr("A second of speech takes about {:.1f} s of computing here, by our estimate."))
    return filled(text, load)
