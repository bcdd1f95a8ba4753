"""A small model from nothing; recipes/."""
