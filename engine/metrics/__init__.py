"""The event log, its replay, and the scores that are computed from it."""
