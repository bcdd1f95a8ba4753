"""Files, processes, screens and signals of the system."""
