"""The window that shows where the time of each word goes."""
