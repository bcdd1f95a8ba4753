"""The setup wizard of the first start."""
