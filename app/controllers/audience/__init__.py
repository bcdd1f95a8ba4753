"""Show captions to a room: on its phones, and on a screen for all."""
