"""Translating test sets as a session would, and scoring them."""
