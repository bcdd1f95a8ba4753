"""Pairs become rows of tokens, batches and a loss."""
