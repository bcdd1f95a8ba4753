"""The commands of ``surtitle-train``."""
