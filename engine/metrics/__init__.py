"""Measures of latency and quality."""
