"""A live session: its thread, its commands, the model in use."""
