"""Training a small model from nothing."""
