"""Captions straight from the sound: blocks of vectors in the place of source words."""
