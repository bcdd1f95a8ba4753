"""A live session: its thread, its command queue, the model in use."""
