"""Choose the runs to compare, and their policies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from training.errors import UsageError
from training.evaluation.runs import PolicyRun, Run, read_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A run to compare.

    Attributes:
        name: unique, for tables and figures.
        run: the run folder.
        policy: the policy that was picked; None for all.
    """

    name: str
    run: Run
    policy: str | None = None

    @property
    def policies(self) -> dict[str, PolicyRun]:
        """Policies to compare."""
        if self.policy is None:
            return self.run.policies
        return {self.policy: self.run.policies[self.policy]}


Row: TypeAlias = tuple[PolicyRun | None, ...]
"""Runs to compare: for each contender the run of one policy, or None if it lacks the policy."""


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
    for later in contenders[1:]:
        _check_comparable(contenders[0].run, later.run)
    return _with_unique_names(contenders)


def rows(contenders: Sequence[Contender]) -> list[Row]:
    """Group policies of the same name, or the picked ones; complete groups come first."""
    if contenders[0].policy is not None:
        return [tuple(policy for each in contenders for policy in each.policies.values())]
    names = dict.fromkeys(name for each in contenders for name in each.policies)
    lined_up = [tuple(each.policies.get(name) for each in contenders) for name in names]
    return sorted(lined_up, key=lambda row: None in row)


def _split(name: str) -> tuple[Path, str | None]:
    """Split folder and policy; the name of a folder may contain colons."""
    if not Path(name).is_dir():
        for index, letter in enumerate(name):
            if letter == ":" and Path(name[:index]).is_dir():
                return Path(name[:index]), name[index + 1 :]
    return Path(name), None


def _read(folder: Path, policy: str | None) -> Contender:
    run = read_run(folder)
    if policy is None:
        return Contender(name=run.name, run=run)
    if policy not in run.policies:
        msg = f"{folder} has no policy {policy!r}: choose one of {', '.join(run.policies)}"
        raise UsageError(msg)
    return Contender(name=f"{run.name}:{policy}", run=run, policy=policy)


def _check_comparable(first: Run, later: Run) -> None:
    for name, value, later_value in (
        ("target language", first.record.language, later.record.language),
        ("source file", first.record.source_sha256, later.record.source_sha256),
        ("reference file", first.record.reference_sha256, later.record.reference_sha256),
        ("number of lines", str(first.n_sentences), str(later.n_sentences)),
    ):
        if value != later_value:
            values = f"{value[:8]}, {later_value[:8]}"  # the start of a hash is enough
            msg = (
                f"runs over the same test set were expected, but the {name} of {first.folder} and "
                f"of {later.folder} differ ({values}): evaluate both on the same lines"
            )
            raise UsageError(msg)


def _with_unique_names(contenders: Sequence[Contender]) -> list[Contender]:
    """Rename contenders of equal name by their whole path."""
    names = [contender.name for contender in contenders]
    named = [
        replace(one, name=f"{one.run.folder}:{one.policy}" if one.policy else str(one.run.folder))
        if names.count(one.name) > 1
        else one
        for one in contenders
    ]
    for index, one in enumerate(named):
        if one.name in [earlier.name for earlier in named[:index]]:
            msg = f"{one.name} is named twice: name different runs, or different policies of one"
            raise UsageError(msg)
    return named
