"""The computer that translates: this one or another."""
