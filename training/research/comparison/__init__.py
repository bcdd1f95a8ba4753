"""Models against each other: paired bootstrap, COMET."""
