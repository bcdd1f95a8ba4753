"""Comparing models: paired bootstrap, COMET."""
