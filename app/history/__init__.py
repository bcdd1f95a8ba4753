"""The stored form of a session: journals, cues, subtitles, the browser page."""
