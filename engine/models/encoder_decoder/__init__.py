"""Marian, M2M-100, NLLB and MADLAD folders: recognised and read."""
