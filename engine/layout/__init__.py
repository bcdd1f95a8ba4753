"""Positions, rows and masks of the slot method."""
