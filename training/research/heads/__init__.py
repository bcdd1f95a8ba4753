"""Policy heads: their labels and their training."""
