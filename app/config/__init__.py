"""Preferences, command line and window positions."""
