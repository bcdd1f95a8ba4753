"""Adaptive policies: after each word the model says how likely a write is.

Source: EASiST (Fu et al. 2025), which writes where p > tau. ``training.research.methods.add`` puts
policy and translator beside the product's own. Our deviations: at most ``most`` words are read in a
row; without a head the model itself is asked, by the first token that it would write.

A look is a write that may be taken back, in a pass of its own for the source read so far. Where a
layout asks the source (``InterleavedPlanner``), it feeds the source alone. The log gets
``decided``: ``n_read``, ``write_probability`` (0 to 1), ``action``; its pass is the last ``fed``.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from engine.errors import PolicyError
from engine.layout.rows import Row
from engine.metrics.event_log import EventLog
from engine.policy import Action, Progress
from engine.runtime.causal_model import AnyModel, Asking, log_probability
from engine.runtime.weights import Weights
from engine.settings import TranslationSettings
from engine.translation.captioner import Change
from engine.translation.slot_translator import Translator
from engine.translation.spoken import SpokenTranslator, SpokenUtterance
from engine.translation.utterance import Utterance
from training.data.corpus import replacing
from training.errors import TrainingError

HEAD_FILE = "policy_head.safetensors"
"""Beside the card of its model."""

_FARTHEST = 700.0  # of two logits, so that no probability is 0
_WRITTEN = re.compile(r"(0|1|0?\.[0-9]{1,4})(?::([1-9][0-9]{0,3}))?")

MOST = 9
"""Words after which an adaptive policy writes in any case, where nothing else is written."""


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Write as soon as the model finds a write likely, else read on.

    With a tau of 0 it is read-1, with 1 it is read-``most``.

    Attributes:
        tau: 0 to 1: a write must be likelier; the larger, the later.
        most: words after which it writes in any case.
    """

    tau: float
    most: int = MOST
    ends_writes: bool = True

    def __post_init__(self) -> None:
        if not (0 <= self.tau <= 1 and self.most >= 1):
            msg = (
                "an adaptive policy needs a tau from 0 to 1 and at least one word, "
                f"got {self.tau} and {self.most}"
            )
            raise PolicyError(msg)

    @classmethod
    def parse(cls, text: str) -> "Adaptive":
        """Parse ``TAU[:MOST]``; raise ValueError for another text."""
        match = _WRITTEN.fullmatch(text)
        if match is None:
            raise ValueError
        return cls(float(match[1]), int(match[2] or MOST))

    def next_action(self, progress: Progress) -> Action:
        """WRITE after each word, if the model finds that likely enough; READ where it cannot."""
        n_new = progress.n_read - progress.n_read_at_write_end
        may_write = self.must_write(progress) or (n_new > 0 and not progress.reads_on(n_new))
        return Action.WRITE if may_write else Action.READ

    def must_write(self, progress: Progress) -> bool:
        """Return whether it writes whatever the model finds."""
        n_new = progress.n_read - progress.n_read_at_write_end
        return not progress.reads_on(n_new) and (progress.source_ended or n_new >= self.most)

    def __str__(self) -> str:
        return f"adaptive:{self.tau:g}" + (f":{self.most}" if self.most != MOST else "")


@dataclass(frozen=True, slots=True, eq=False)
class PolicyHead:
    """The weights of a head: a row for READ, and one for WRITE.

    Source: EASiST, p = softmax(W h), without a bias. Our deviation: h is the last layer's output,
    normed as the output layer reads it, at the newest source token of a text, not of a block of
    speech.
    """

    weight: NDArray[np.float64]  # shape (2, width)

    def probability(self, state: NDArray[np.float32]) -> float:
        """Return how likely a write is, above 0, by the state of a row, shape (width,)."""
        read, write = (self.weight @ state.astype(np.float64)).tolist()
        ahead = min(read - write, _FARTHEST)
        return math.exp(-ahead) / (1 + math.exp(-ahead)) if ahead > 0 else 1 / (1 + math.exp(ahead))


def save_head(folder: Path, name: str, direction: NDArray[np.float32]) -> None:
    """Write the head of a model, or of one with an adapter, into its folder.

    Args:
        folder: of the card.
        name: on its card.
        direction: in which a write becomes likelier, shape (width,).
    """
    weight = np.stack([-direction, direction]).astype(np.float32) / 2
    with replacing(folder / HEAD_FILE) as fresh:
        save_file({"weight": weight}, fresh, {"model": name})


def read_head(folder: Path | None, name: str, width: int) -> PolicyHead | None:
    """Read the head of a model; None if it has none, as where an adapter changes its states.

    Args:
        folder: of its card.
        name: on the card in use.
        width: of the states that the head reads.
    """
    path = None if folder is None else folder / HEAD_FILE
    if path is None or not path.exists():
        return None
    try:
        with safe_open(path, "numpy") as file:
            told, weight = file.metadata() or {}, file.get_tensor("weight")
    except (OSError, SafetensorError) as error:
        msg = f"{path} holds no policy head ({error}): train it again"
        raise TrainingError(msg) from error
    if weight.shape != (2, width) or not np.isfinite(weight).all():
        msg = f"{path} is of another model, or damaged: train the head again"
        raise TrainingError(msg)
    return PolicyHead(weight.astype(np.float64)) if told.get("model") == name else None


class AdaptiveUtterance(Utterance):
    """An utterance that remembers how likely a write was after each word."""

    def _begin_anew(self) -> int:
        self.likely = dict[int, float]()  # by the units read
        return super()._begin_anew()

    def _rewind(self, n_units: int) -> int:
        self.likely = {n_read: one for n_read, one in self.likely.items() if n_read <= n_units}
        return super()._rewind(n_units)

    def next_action(self, haste: int = 1) -> Action:
        """READ also where the model was asked and found a write unlikely."""
        action, policy = super().next_action(haste), self.policy
        if action is Action.READ or not isinstance(policy, Adaptive):
            return action
        declined = self.likely.get(self.n_read, math.inf) <= policy.tau
        return Action.READ if declined and not policy.must_write(self.progress) else action


class AdaptiveTranslator(Translator):
    """A translator of slots that also knows adaptive policies; under others it is the usual one.

    Attributes:
        head: says when to write; None where the model itself says it.
    """

    def __init__(
        self,
        weights: Weights,
        settings: TranslationSettings,
        *,
        capacity: int = 2048,
        log: EventLog | None = None,
        model: AnyModel | None = None,
    ) -> None:
        """See ``Conversation``; the head is that beside the card of the weights."""
        super().__init__(weights, settings, capacity=capacity, log=log, model=model)
        self._n_rows = 0  # of the planner, after the newest pass
        self.head = read_head(weights.card_folder, weights.card.name, weights.width)

    def open(self) -> AdaptiveUtterance:
        return AdaptiveUtterance(self)

    def asks(self, utterance: Utterance) -> bool:
        """Return whether the model must say whether to write."""
        policy, likely = utterance.policy, cast("AdaptiveUtterance", utterance).likely
        return (
            isinstance(policy, Adaptive)
            and utterance.n_read not in likely
            and not policy.must_write(utterance.progress)
        )

    def _write(self, utterance: Utterance, id_: int | None = None) -> Asking[Change | None]:
        if id_ is None and self.asks(utterance):
            return (yield from self._look(cast("AdaptiveUtterance", utterance)))
        return (yield from super()._write(utterance, id_))

    def _look(self, utterance: AdaptiveUtterance) -> Asking[Change | None]:
        """Ask whether to write; unless the source is asked, the first token comes of that pass."""
        planner, policy = utterance.planner, cast("Adaptive", utterance.policy)
        end_of_read: int | None = getattr(planner, "end_of_read", None)
        n_rows, n_fed, id_ = len(planner.rows), planner.n_fed, None
        self._keeps_states = self.head is not None
        if end_of_read is None:
            id_ = yield from self._predict(utterance)
        else:
            yield from self._ask_source(utterance)
        self._keeps_states = False
        # after an edit the newest source row may have been fed before, without a look
        source = n_rows - self._n_rows - 1 if n_fed < n_rows else None
        likely = self._write_probability(utterance, source, end_of_read)
        utterance.likely[utterance.n_read] = likely
        writes = likely > policy.tau
        self.log.write(
            "decided",
            utterance=utterance.number,
            n_read=utterance.n_read,
            write_probability=likely,
            action=(Action.WRITE if writes else Action.READ).value,
        )
        if writes:
            return (yield from self._write(utterance, id_))
        if end_of_read is None:
            self._take_back(utterance, keeps_time=True)
        return None

    def _feed(
        self, utterance: Utterance, rows: Sequence[Row], suppressed: Sequence[int], n_again: int = 0
    ) -> Asking[int]:
        self._n_rows = len(utterance.planner.rows)  # before the oldest make room
        return super()._feed(utterance, rows, suppressed, n_again)

    def _ask_source(self, utterance: Utterance) -> Asking[None]:
        """Feed the source that was read, if there is any new, in a pass of its own."""
        yield from self._attach(utterance)
        rows = utterance.planner.look()  # type: ignore[attr-defined]
        if rows:
            yield from self._feed(utterance, rows, ())

    def _write_probability(
        self, utterance: Utterance, source: int | None, end_of_read: int | None
    ) -> float:
        """Return how likely a write is, after a look.

        By the head, from the newest source row; without one it is as likely as any token but
        end-of-write, or as the end of the read in layouts that ask the source. Where that row was
        fed before, more is read.

        Args:
            utterance: that was asked about.
            source: index of its newest source row in the last pass; None if it was fed before.
            end_of_read: the token that the source is asked for, if it is asked.
        """
        head = self.head
        if head is None and end_of_read is None:
            return probability_of_others(self.model.logits(), utterance.prompt.end_of_write)
        if source is None:
            return 0.0
        if head is None:
            return math.exp(log_probability(self.model.logits(), cast("int", end_of_read)))
        return head.probability(self.model.states()[source])


def probability_of_others(logits: NDArray[np.float32], id_: int) -> float:
    """Return how likely any id but this one is by the logits, shape (V,): 0 only if none can be.

    In float64, and summed over the others: 1 - p would be 0 where the id is nearly certain.
    """
    shares = np.exp(logits.astype(np.float64) - float(logits.max()))  # (V,)
    others = float(shares[:id_].sum() + shares[id_ + 1 :].sum())
    return others / (others + float(shares[id_]))


class AdaptiveSpokenUtterance(AdaptiveUtterance, SpokenUtterance):
    """One of sound."""


class AdaptiveSpokenTranslator(AdaptiveTranslator, SpokenTranslator):
    """The same over blocks of sound, after each of which the head decides."""

    def open(self) -> AdaptiveSpokenUtterance:
        return AdaptiveSpokenUtterance(self)
