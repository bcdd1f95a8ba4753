"""The way between windows and the engine's threads."""
