"""Say which runs are held against each other, and which of their policies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from training.errors import UsageError
from training.evaluation.runs import PolicyRun, Run, read_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A run as it was named.

    Attributes:
        name: in tables and pictures, unlike the others'.
        run: what was read.
        policy: the one that was picked; None where all take part.
    """

    name: str
    run: Run
    policy: str | None = None

    @property
    def policies(self) -> dict[str, PolicyRun]:
        """Those that take part."""
        if self.policy is None:
            return self.run.policies
        return {self.policy: self.run.policies[self.policy]}


Row: TypeAlias = tuple[PolicyRun | None, ...]
"""What is compared: for each contender what it did under one policy, None where it lacks that."""


def read_contenders(names: Sequence[str]) -> list[Contender]:
    """Read runs that can be compared.

    Args:
        names: ``FOLDER`` for all policies of a run, or ``FOLDER:POLICY`` for one.

    Raises:
        TrainingError: a folder holds no run, or a garbled one.
        UsageError: there are fewer than two, or they cannot be compared.
    """
    if len(names) < 2:
        msg = f"compare needs at least two runs, got {len(names)}: name two folders of evaluate"
        raise UsageError(msg)
    contenders = [_read(*_split(name)) for name in names]
    if len({contender.policy is None for contender in contenders}) > 1:
        msg = "a policy must be named for all runs or for none: write FOLDER:POLICY for each"
        raise UsageError(msg)
    for other in contenders[1:]:
        _check_comparable(contenders[0].run, other.run)
    return _told_apart(contenders)


def rows(contenders: Sequence[Contender]) -> list[Row]:
    """Line up policies of the same name, or the picked ones; those that all have come first."""
    if contenders[0].policy is not None:
        return [tuple(one for each in contenders for one in each.policies.values())]
    names = dict.fromkeys(name for each in contenders for name in each.policies)
    lined_up = [tuple(each.policies.get(name) for each in contenders) for name in names]
    return sorted(lined_up, key=lambda row: None in row)


def _split(name: str) -> tuple[Path, str | None]:
    """Take the policy off; a folder's own name may hold colons."""
    if not Path(name).is_dir():
        for place, letter in enumerate(name):
            if letter == ":" and Path(name[:place]).is_dir():
                return Path(name[:place]), name[place + 1 :]
    return Path(name), None


def _read(folder: Path, policy: str | None) -> Contender:
    run = read_run(folder)
    if policy is None:
        return Contender(name=run.name, run=run)
    if policy not in run.policies:
        msg = f"{folder} has no policy {policy!r}: choose one of {', '.join(run.policies)}"
        raise UsageError(msg)
    return Contender(name=f"{run.name}:{policy}", run=run, policy=policy)


def _check_comparable(first: Run, other: Run) -> None:
    for what, mine, its in (
        ("target language", first.record.language, other.record.language),
        ("source file", first.record.source_sha256, other.record.source_sha256),
        ("reference file", first.record.reference_sha256, other.record.reference_sha256),
        ("number of lines", str(first.n_sentences), str(other.n_sentences)),
    ):
        if mine != its:
            # of a hash the start is enough to see the difference
            msg = (
                f"runs over the same test set were expected, but the {what} of {first.folder} and "
                f"of {other.folder} differ ({mine[:8]}, {its[:8]}): evaluate both on the same lines"
            )
            raise UsageError(msg)


def _told_apart(contenders: Sequence[Contender]) -> list[Contender]:
    """Give those of equal name that of their whole path."""
    names = [contender.name for contender in contenders]
    named = [
        replace(one, name=f"{one.run.folder}:{one.policy}" if one.policy else str(one.run.folder))
        if names.count(one.name) > 1
        else one
        for one in contenders
    ]
    for index, one in enumerate(named):
        if one.name in [other.name for other in named[:index]]:
            msg = f"{one.name} is named twice: name different runs, or different policies of one"
            raise UsageError(msg)
    return named
