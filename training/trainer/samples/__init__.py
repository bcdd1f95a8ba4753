"""Pairs become rows, a stream of steps, batches and a loss."""
