"""The captions over everything else on the screen."""
