"""Positions, rows and masks of the slot method: which row sees which."""
