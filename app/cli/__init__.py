"""The commands that work in a terminal: translate, listen, score, check, devices, adapters."""
