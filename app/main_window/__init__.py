"""The main window: control panel, transcript, input line, status bar."""
