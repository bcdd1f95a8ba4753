"""Controllers that connect windows, session and files."""
