import random

import pytest

from engine.models.model_card import Calibration
from tests.support.run_folders import translation
from training.errors import TrainingError
from training.evaluation.runs import Sentence
from training.evaluation.scores import calibrate, calibration_error

REFERENCE = "Wir treffen uns morgen um neun im großen Saal."


def sentence(log_probability, *, good):
    said = REFERENCE if good else "Xyz qqq"
    one = translation(source=("We", "meet"), hypothesis=said, log_probability=log_probability)
    return Sentence(translation=one, reference=REFERENCE)


def drawn(calibration, n, seed):
    """Captions that are good as often as a curve says."""
    rng = random.Random(seed)
    for _ in range(n):
        value = -rng.expovariate(1.0) - 0.01
        yield sentence(value, good=rng.random() < calibration.probability(value))


def test_the_curve_that_made_the_captions_is_found():
    true = Calibration(slope=3.0, offset=2.5, threshold=0.5)
    fitted = calibrate(list(drawn(true, 6000, seed=1)), 0.5)
    assert fitted.slope == pytest.approx(true.slope, rel=0.1)
    assert fitted.offset == pytest.approx(true.offset, rel=0.1)
    fresh = list(drawn(true, 3000, seed=2))
    assert calibration_error(fitted, fresh) < 0.03
    assert calibration_error(Calibration(slope=3.0, offset=0.0, threshold=0.5), fresh) > 0.2


def test_a_model_whose_likelier_captions_are_no_better_is_refused():
    captions = [sentence(-n / 50 - 0.1, good=n > 50) for n in range(100)]
    with pytest.raises(TrainingError, match="no better"):
        calibrate(captions, 0.5)


def test_a_caption_is_marked_below_the_threshold():
    curve = Calibration(slope=2.0, offset=1.0, threshold=0.5)
    assert curve.confidence(-0.51).is_low
    assert not curve.confidence(-0.49).is_low
    assert not Calibration(slope=2.0, offset=1.0, threshold=0.1).confidence(-0.51).is_low
