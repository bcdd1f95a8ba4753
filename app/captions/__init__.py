"""The captions of a session and how they break into lines. Plain Python."""
