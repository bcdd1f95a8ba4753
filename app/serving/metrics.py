"""Figures of a server as text for Prometheus; nothing in them tells what was said, or by whom.

Format: https://prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4.
"""

from collections import Counter

from engine.session.conversations import Conversations, Figures

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_QUANTILES = (0.5, 0.95, 0.99)


def metrics_text(conversations: Conversations, refused: Counter[int], n_connections: int) -> str:
    """Return all figures.

    Args:
        conversations: that translate.
        refused: requests that were refused, by the status of the answer.
        n_connections: that are open.
    """
    figures = conversations.figures
    lines = [
        *_one("sessions", "gauge", "Sessions that are open.", conversations.n_sessions),
        *_one("sessions_most", "gauge", "Sessions that can be open at once.", conversations.n_most),
        *_one("waiting_sessions", "gauge", "Sessions to compute for.", conversations.n_waiting),
        *_one("connections", "gauge", "Connections that are open.", n_connections),
        *_one("sentences_total", "counter", "Requests that were answered.", figures.sentences),
        *_one("words_total", "counter", "Words that were new in them.", figures.words),
        *_one("failed_total", "counter", "Sentences that were given up.", figures.failed),
        *_one("passes_total", "counter", "Passes of the network.", figures.passes),
        *_one("pass_sessions_total", "counter", "Sessions that they served.", figures.rows_asked),
    ]
    name = "surtitle_first_answer_seconds"
    lines += _head(name, "summary", "From a request to its first answer, of the newest thousand.")
    for quantile in _QUANTILES if figures.first_s else ():
        value = newest_quantile(figures, quantile)
        lines.append(f'{name}{{quantile="{quantile}"}} {value:.6f}')
    lines += _head("surtitle_refused_total", "counter", "Requests that were refused, by status.")
    lines += [f'surtitle_refused_total{{status="{status}"}} {n}' for status, n in refused.items()]
    return "\n".join(lines) + "\n"


def newest_quantile(figures: Figures, quantile: float) -> float:
    """Return a quantile of the seconds to the first answer, of the newest thousand; 0 of none."""
    newest = sorted(figures.first_s)
    return newest[min(len(newest) - 1, int(quantile * len(newest)))] if newest else 0.0


def _one(name: str, kind: str, text: str, value: float) -> list[str]:
    return [*_head(f"surtitle_{name}", kind, text), f"surtitle_{name} {value}"]


def _head(name: str, kind: str, text: str) -> list[str]:
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
