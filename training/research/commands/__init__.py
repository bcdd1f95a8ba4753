"""The commands of surtitle-research; each reads its own arguments."""
