"""Services of the operating system: files, processes, screens, signals, languages."""
