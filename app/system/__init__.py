"""What the operating system offers: files, processes, screens, signals, languages."""
