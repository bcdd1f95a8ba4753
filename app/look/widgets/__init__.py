"""Widgets and texts that several windows share."""
