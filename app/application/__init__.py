"""Controllers that connect windows, engine and files."""
