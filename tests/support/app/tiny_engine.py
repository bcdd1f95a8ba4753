"""Real sessions for the whole program, with a tiny model that knows German and French."""

from engine.session.session import Session


class TinyEngine:
    """Makes sessions, and keeps them for the test to look at."""

    def __init__(self):
        self.sessions = []

    def make(self, *arguments):
        self.sessions.append(Session(*arguments))
        return self.sessions[-1]
