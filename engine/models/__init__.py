"""Cards, fingerprints and sizes of model folders, read without torch, and how a model so runs."""
