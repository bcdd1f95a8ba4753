"""A clock that a test sets by hand."""


class HandClock:
    """Called, it tells the seconds that were set."""

    def __init__(self, now_s=0.0):
        self.now_s = now_s

    def __call__(self):
        return self.now_s
