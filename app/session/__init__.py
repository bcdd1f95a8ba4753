"""Connects the windows with the engine's threads."""
