"""Adapter folders, read without torch; the library of adapters."""
