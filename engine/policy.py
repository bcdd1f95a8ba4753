"""Policies: when to READ a source word and when to WRITE a target token. They have no state.

A policy maps a ``Progress`` to the next action. The translator and the training builder use the
same objects, so a policy is trained exactly as it is run.
"""

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from engine.errors import PolicyError
from engine.messages import Code

POLICY_FORMS = "read:N[:FIRST], wait:K, stable:N"
"""How policies are written, besides ``offline``."""


class Action(enum.Enum):
    """The two actions of simultaneous translation."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of an utterance.

    Attributes:
        n_read: source words read.
        n_written: target words that were begun and count as complete.
        n_read_at_write_end: ``n_read`` when the last write ended with the end-of-write token.
        n_waiting: source words that came together with the newest one that was read, and are not.
        exhausted: the target has nothing to add to the source that was read (the model proposed
            end-of-target too early, or the training pair has no more target words).
        source_ended: the end-of-source marker has been read.
    """

    n_read: int = 0
    n_written: int = 0
    n_read_at_write_end: int = 0
    n_waiting: int = 0
    exhausted: bool = False
    source_ended: bool = False

    def reads_on(self, n_more: int) -> bool:
        """Return whether the rest of words that came together is read before the next write.

        It costs no time: a recogniser commits words in bursts, typed text comes by the sentence. Of
        words that come one by one nothing waits, and a policy does as its paper says.

        Args:
            n_more: words read that the target does not follow yet.
        """
        return self.n_waiting > 0 and n_more < MOST_AT_ONCE


MOST_AT_ONCE = 16
"""Words that are read at once where they came together: half a slot of the bundled models."""


class Policy(Protocol):
    """The choice between READ and WRITE."""

    @property
    def ends_writes(self) -> bool:
        """Whether a write ends with the end-of-write token (else the target is one write)."""

    def next_action(self, progress: Progress) -> Action:
        """Return the next action."""


@dataclass(frozen=True, slots=True)
class WaitK:
    """Stay ``k`` source words ahead (Ma et al. 2019, STACL, https://aclanthology.org/P19-1289).

    g(j) = min(k + j - 1, number of source words): target word j is begun when g(j) words are read.
    """

    k: int
    ends_writes: bool = False

    def __post_init__(self) -> None:
        if self.k < 1:
            msg = f"wait-k needs a k of at least 1, got {self.k}"
            raise PolicyError(msg)

    def next_action(self, progress: Progress) -> Action:
        """A target that is complete too early reads on instead of inventing text."""
        n_ahead = progress.n_read - progress.n_written
        behind = n_ahead < self.k or progress.exhausted or progress.reads_on(n_ahead - self.k)
        return Action.READ if behind and not progress.source_ended else Action.WRITE

    def __str__(self) -> str:
        return f"wait:{self.k}"


@dataclass(frozen=True, slots=True)
class ReadN:
    """Read ``n`` words, then write until the model says end-of-write.

    Before its first write it may read ``first`` words: most sentences of talk are hardly longer
    and are read whole then, which gives more than the wait costs (docs/results.md, Seconds).

    Source: read-n with incremental decoding (Wang et al. 2024, Conversational SimulMT; ExPosST
    section 2.1). Our deviation: the end of a write is a token the model learns, never a vote of
    beams.
    """

    n: int
    first: int = 0
    ends_writes: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        if self.n < 1:
            msg = f"read-n needs an n of at least 1, got {self.n}"
            raise PolicyError(msg)
        if self.first and self.first <= self.n:
            msg = f"read-n reads more words at first than later or none, got {self.first}"
            raise PolicyError(msg)

    def next_action(self, progress: Progress) -> Action:
        n_new = progress.n_read - progress.n_read_at_write_end
        least = self.n if progress.n_read_at_write_end else self.first or self.n
        short = n_new < least or progress.reads_on(n_new)
        return Action.READ if short and not progress.source_ended else Action.WRITE

    def __str__(self) -> str:
        return f"read:{self.n}" + (f":{self.first}" if self.first else "")


@dataclass(frozen=True, slots=True)
class Offline:
    """Read the whole utterance first: the upper bound of quality, and of delay."""

    ends_writes: bool = False

    def next_action(self, progress: Progress) -> Action:
        return Action.WRITE if progress.source_ended else Action.READ

    def __str__(self) -> str:
        return "offline"


@dataclass(frozen=True, slots=True)
class Stable:
    """Draft at each word, and show what the ``n`` newest drafts share (stable n).

    It is local agreement (``engine.translation.retranslator``) of more drafts than two, for systems
    that re-translate; slots have no drafts.
    """

    n: int
    ends_writes: bool = False

    def __post_init__(self) -> None:
        if self.n < 1:
            msg = f"stable n needs an n of at least 1, got {self.n}"
            raise PolicyError(msg)

    def next_action(self, progress: Progress) -> Action:
        n_new = progress.n_read - progress.n_read_at_write_end
        is_news = (n_new > 0 or progress.source_ended) and not progress.reads_on(n_new)
        return Action.WRITE if is_news else Action.READ

    def __str__(self) -> str:
        return f"stable:{self.n}"


def hurried(policy: Policy, factor: int) -> Policy:
    """Return the policy with ``factor`` times larger steps, for catching up."""
    match policy:
        case ReadN(n, first):
            return ReadN(n * factor, first * factor)
        case WaitK(k):
            return WaitK(k * factor)
        case _:
            return policy


POLICIES: dict[str, Callable[[str], Policy]] = {
    "read": lambda text: ReadN(*map(_number, text.split(":", 1))),
    "wait": lambda k: WaitK(_number(k)),
    "stable": lambda n: Stable(_number(n)),
}
"""What makes a policy of the text behind its name; research adds to them."""


def _number(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,3}", text, re.ASCII):
        raise ValueError
    return int(text)


def parse_policy(text: str) -> Policy:
    """Parse ``read:N[:FIRST]``, ``wait:K``, ``stable:N``, ``offline``, or one of research.

    Raises:
        PolicyError: it is another text.
    """
    if text == "offline":
        return Offline()
    name, _, rest = text.partition(":")
    try:
        return POLICIES[name](rest)
    except (KeyError, ValueError) as error:
        raise PolicyError(Code.BAD_POLICY(text=text, forms=POLICY_FORMS)) from error


def family(policy: str) -> str:
    """Return what a model must know for a policy: ``read``, ``wait`` or ``offline``."""
    return "read" if parse_policy(policy).ends_writes else policy.partition(":")[0]


def parse_slot_policy(text: str) -> Policy:
    """Parse a policy of slots, which have no drafts: ``stable:N`` is none of them."""
    policy = parse_policy(text)
    if isinstance(policy, Stable):
        raise PolicyError(Code.POLICY_OF_DRAFTS(text=text))
    return policy
