"""Test sets that are translated in the test's own process, where torch is imported already."""

from training.evaluation import workers


def work_here(monkeypatch):
    """Let this process be the workers of an evaluation, one after the other."""

    def work(shares):
        for share in shares:
            yield from workers._translations(share)

    monkeypatch.setattr(workers, "_from_workers", work)
