"""Sound into vectors that a translator reads as source rows."""
