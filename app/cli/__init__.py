"""The commands that work in a terminal: translate, listen, check, devices, adapters, serve."""
