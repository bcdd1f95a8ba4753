"""The network at work: cache, attention mask, steps."""
