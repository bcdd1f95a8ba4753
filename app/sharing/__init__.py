"""Captions for browsers: one server, the page for OBS and the page for an audience; no Qt."""
