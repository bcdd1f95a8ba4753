"""How much adaptive policies lag by tau, from runs of evaluate: a rising line for a card."""

from collections.abc import Mapping, Sequence

from engine.policy import Adaptive, parse_policy
from training.errors import TrainingError
from training.evaluation.runs import Run

_LEAST = 2


def measured_lags(runs: Sequence[Run]) -> dict[str, float]:
    """Return the mean LAAL of all sentences by tau, in source words, made to rise with tau.

    Policies that are not adaptive, or have a bound of words of their own, are left out.

    Raises:
        TrainingError: fewer than two values of tau stand in all runs.
    """
    found = [_by_tau(run) for run in runs]
    taus = sorted(set.intersection(*(set(one) for one in found)), key=float)
    if len(taus) < _LEAST:
        msg = (
            f"expected runs with at least {_LEAST} policies adaptive:TAU in common, got "
            f"{len(taus)}: run evaluate with more"
        )
        raise TrainingError(msg)
    n_lines = [run.n_sentences for run in runs]
    means = [
        sum(one[tau] * n for one, n in zip(found, n_lines, strict=True)) / sum(n_lines)
        for tau in taus
    ]
    return {tau: round(lag, 2) for tau, lag in zip(taus, rising(means), strict=True)}


def rising(values: Sequence[float]) -> list[float]:
    """Return the nearest values that never fall, in the least squares (pool adjacent violators)."""
    pools = list[tuple[float, int]]()  # mean, number
    for value in values:
        mean, n = value, 1
        while pools and pools[-1][0] > mean:
            before, n_before = pools.pop()
            mean = (mean * n + before * n_before) / (n + n_before)
            n += n_before
        pools.append((mean, n))
    return [mean for mean, n in pools for _ in range(n)]


def _by_tau(run: Run) -> Mapping[str, float]:
    lags = dict[str, float]()
    for name, one in run.policies.items():
        policy = parse_policy(name)
        if isinstance(policy, Adaptive) and one.scores.laal is not None:
            tau = f"{policy.tau:g}"
            if str(policy) == f"adaptive:{tau}":
                lags[tau] = one.scores.laal
    return lags
