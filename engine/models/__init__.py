"""Cards, fingerprints and sizes of model folders, read without torch."""
