"""The main window: panel, transcript, line for typed words, status bar."""
