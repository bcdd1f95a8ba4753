"""Hear speech without recognising it."""
