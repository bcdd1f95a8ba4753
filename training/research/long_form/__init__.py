"""Whole talks: evaluation, segmenters, scores."""
