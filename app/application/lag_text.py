"""The lag of the captions behind the speaker, as text."""

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.metrics.word_lags import StageTime


def lag_text(lags: Sequence[StageTime], n_dropped: int) -> str:
    """Return the lag of the newest words and the lost sound as text.

    Args:
        lags: of the stages.
        n_dropped: lost 16 kHz samples.
    """
    by_stage = {lag.stage: lag.median_s for lag in lags}
    whole = by_stage.get("whole", sum(by_stage.values()))
    text = QCoreApplication.translate("Lag", "lag {:.1f} s  ·  {:.2f} s of sound lost")
    return text.format(whole, n_dropped / SAMPLE_RATE_HZ)


def lag_tip(lags: Sequence[StageTime]) -> str:
    """Return the lag of each stage as text, a line each."""
    names = {
        "recognised": QCoreApplication.translate("Lag", "spoken to certain"),
        "translated": QCoreApplication.translate("Lag", "certain to translated"),
        "shown": QCoreApplication.translate("Lag", "translated to painted"),
        "whole": QCoreApplication.translate("Lag", "spoken to painted"),
    }
    line = QCoreApplication.translate("Lag", "{}: {:.2f} s (95 % within {:.2f} s)")
    return "\n".join(line.format(names[lag.stage], lag.median_s, lag.p95_s) for lag in lags)
