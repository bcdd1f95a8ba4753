"""One file for each system that sound comes from."""
