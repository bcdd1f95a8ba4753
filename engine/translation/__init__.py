"""Translators: what is read, what is written, and when."""
