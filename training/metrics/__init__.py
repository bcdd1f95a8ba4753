"""Scores of translations: quality, lagging, repetition."""
