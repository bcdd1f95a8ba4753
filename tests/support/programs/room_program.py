"""A room in a process of its own, which a test can stop: it shows each line that it is told."""

import sys

from app.captions.model import UtteranceView
from app.sharing import room as room_module
from app.sharing.access import LOOPBACK
from app.sharing.room import Room
from app.sharing.room_feed import CAPTION, SOURCE


def main():
    """Share until there are no more lines."""
    room_module.PORT = 0
    room, views = Room(LOOPBACK, {SOURCE: "en", CAPTION: "de"}), []
    sys.stdout.write(f"{room.link}\n")
    sys.stdout.flush()
    for key, line in enumerate(sys.stdin, 1):
        views.append(UtteranceView(key=key, caption=line.strip(), ended=True, language="de"))
        room.show_views(views)
    room.close()


if __name__ == "__main__":
    main()
