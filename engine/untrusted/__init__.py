"""Untrusted files, names, templates and tokenizers: bounded, checked, never run."""
