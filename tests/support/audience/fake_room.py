"""A room in which nobody reads: it keeps what it is shown."""

from app.sharing.access import Access


class FakeRoom:
    link = "http://room/#key"

    def __init__(self, address, languages, *, with_pin):
        self.address, self.languages, self.with_pin = address, languages, with_pin
        self.access = Access(with_pin=with_pin)
        self.shown, self.names, self.is_closed = [], set(), False

    def show_views(self, views, name_of=lambda _view: ""):
        self.shown.append([(view.source, view.caption, view.ended) for view in views])
        self.names.update(map(name_of, views))

    def close(self):
        self.is_closed = True


def fake_rooms(monkeypatch):
    """Put these in the place of rooms; return the list of those that are made."""
    made = []

    def make(*arguments, **settings):
        made.append(FakeRoom(*arguments, **settings))
        return made[-1]

    monkeypatch.setattr("app.sharing.room.Room", make)
    return made
