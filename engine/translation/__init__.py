"""Translators, which turn source words into caption text."""
