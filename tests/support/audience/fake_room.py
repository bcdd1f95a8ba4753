"""A room without a network: it keeps what it is shown."""

from app.sharing.access import Access


class FakeRoom:
    link = "http://room/#key"

    def __init__(self, address, languages, *, with_pin, readers_changed):
        self.address, self.languages, self.with_pin = address, languages, with_pin
        self.readers_changed, self.read = readers_changed, ()
        self.access = Access(with_pin=with_pin)
        self.shown, self.names, self.is_closed = [], set(), False
        self.ready, self.full = (), ()

    def show_languages(self, languages):
        self.languages = languages

    def show_ready(self, ready, full):
        self.ready, self.full = ready, full

    def show_views(self, views, name_of=lambda _view: None):
        self.shown.append([(view.source, view.caption, view.ended) for view in views])
        self.names.update(map(name_of, views))

    def close(self):
        self.is_closed = True


def fake_rooms(monkeypatch, *, read=()):
    """Put these in the place of rooms, with what is read; return the list of those made."""
    made = []

    def make(*arguments, **settings):
        made.append(FakeRoom(*arguments, **settings))
        made[-1].read = read
        return made[-1]

    monkeypatch.setattr("app.sharing.room.Room", make)
    return made
