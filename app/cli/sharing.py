"""Captions of a terminal command for the phones in a room: ``--share``."""

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.captions.model import UtteranceView
from app.cli.exit_codes import UsageError
from app.config.system.text_io import TextError
from app.sharing.networks import LOOPBACK, networks
from app.sharing.room_feed import CAPTION, MOST_ROWS, SOURCE
from engine.errors import message_of

if TYPE_CHECKING:
    from app.sharing.room import Room


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareSettings:
    """How captions are shared.

    Attributes:
        address: of this computer in the network whose phones may read.
        with_pin: each reader types a PIN.
    """

    address: str
    with_pin: bool = False


def add_share_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that ``share_settings`` reads."""
    parser.add_argument(
        "--share",
        action="store_true",
        help="let phones in your network read along in their browsers, until the command ends",
    )
    parser.add_argument(
        "--share-at",
        metavar="ADDRESS",
        help="the network, by the address of this computer in it (the only one there is)",
    )
    parser.add_argument(
        "--share-pin", action="store_true", help="readers also type a PIN that is shown here"
    )


def share_settings(arguments: argparse.Namespace) -> ShareSettings | None:  # noqa: TID251  an entry point's
    """Check the options; None where captions are not shared.

    Raises:
        UsageError: the network is not clear.
    """
    if not arguments.share:
        if arguments.share_at or arguments.share_pin:
            msg = "--share-at and --share-pin say how captions are shared: add --share"
            raise UsageError(msg)
        return None
    known = {one.address: f"{one.address} ({one.name})" for one in networks()}
    listed = ", ".join(known.values()) or "none"
    address = arguments.share_at or next(iter(known), "")
    if arguments.share_at is None and len(known) != 1:
        msg = f"this computer is in {len(known)} networks ({listed}): choose one with --share-at"
        raise UsageError(msg)
    if address not in (*known, LOOPBACK):
        msg = f"--share-at is an address of this computer ({listed}), got {address!r}"
        raise UsageError(msg)
    return ShareSettings(address=address, with_pin=arguments.share_pin)


@contextlib.contextmanager
def shared_room(
    settings: ShareSettings | None, languages: tuple[str, str], tell: Callable[[str], None]
) -> "Iterator[Room | None]":
    """Share captions while the block runs, and show the way on standard error.

    Raises:
        TextError: nothing can be shared there.
    """
    if settings is None:
        yield None
        return
    from app.sharing.room import Room  # noqa: PLC0415  slow to import, and rarely used

    offered: Mapping[str, str] = dict(zip((SOURCE, CAPTION), languages, strict=True))
    try:
        room = Room(settings.address, offered, with_pin=settings.with_pin)
    except OSError as error:
        msg = f"nothing could be shared at {settings.address}: {message_of(error)}"
        raise TextError(msg) from error
    try:
        if sys.stderr.isatty():
            _show_code(room.link)
        pin = f", PIN {room.access.pin}" if room.access.pin else ""
        tell(f"phones in this network can read along: {room.link}{pin}")
        yield room
    finally:
        room.close()


def _show_code(link: str) -> None:
    import segno  # noqa: PLC0415  rarely used

    segno.make(link, error="m", micro=False).terminal(out=sys.stderr, compact=True)


class SharedLines:
    """The sentences of a text for a room, one after the other."""

    def __init__(self, room: "Room | None", language: str) -> None:
        """Show them in a room, or nowhere without one."""
        self._room, self._language = room, language
        self._views: list[UtteranceView] = []

    def show(self, source: str, caption: str, *, ended: bool) -> None:
        """Show the caption of the newest sentence so far."""
        if self._room is None:
            return
        newest = self._views[-1] if self._views else None
        if newest is None or newest.ended:
            key = 0 if newest is None else newest.key + 1
            self._views.append(UtteranceView(key=key, source=source, language=self._language))
            del self._views[:-MOST_ROWS]
        self._views[-1] = replace(self._views[-1], caption=caption, ended=ended)
        self._room.show_views(self._views)
