"""What is kept of a session and written out: journals, cues, subtitles, the browser page."""
