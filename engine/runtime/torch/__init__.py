"""Networks on torch."""
