"""The event log, its replay, and the scores computed from it."""
