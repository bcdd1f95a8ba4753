"""Corpora: cleaning, alignment, augmentation, read schedules."""
