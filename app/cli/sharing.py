"""Captions of a terminal command for the phones in a room: ``--share``."""

import argparse
import contextlib
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from app.captions.further import (
    MOST_READ,
    further_language,
    offers_here,
    wanted_languages,
    ways_here,
)
from app.captions.models import MachineReport, known_offers
from app.cli.exit_codes import UsageError
from app.config.system.text_io import TextError
from app.sharing.grace import Grace
from app.sharing.networks import LOOPBACK, networks
from app.sharing.room_feed import CAPTION, SOURCE
from engine.commands import Command, FurtherLanguage, UseLanguages
from engine.errors import message_of
from engine.events import LanguageFailed, LanguagesChanged
from engine.files import bytes_text
from engine.settings import TranslationSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareSettings:
    """How captions are shared.

    Attributes:
        address: of this computer in the network whose phones may read.
        with_pin: each reader types a PIN.
        further: languages that a reader may choose beside those of the command.
    """

    address: str
    with_pin: bool = False
    further: tuple[FurtherLanguage, ...] = ()


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
    parser.add_argument(
        "--share-language",
        dest="share_languages",
        action="append",
        default=[],
        metavar="CODE",
        help="a further language that readers may choose, given as often as there are such; each "
        f"is computed only while it is read, {MOST_READ} at most at once",
    )


def share_settings(arguments: argparse.Namespace) -> ShareSettings | None:  # noqa: TID251  an entry point's
    """Check the options; None where captions are not shared."""
    if not arguments.share:
        if arguments.share_at is not None or arguments.share_pin or arguments.share_languages:
            msg = (
                "--share-at, --share-pin and --share-language say how captions are shared: "
                "add --share"
            )
            raise UsageError(msg)
        return None
    known = {one.address: f"{one.address} ({one.name})" for one in networks()}
    listed = ", ".join(known.values()) or "none"
    address = arguments.share_at
    if address is None:
        if len(known) != 1:
            msg = (
                f"this computer is in {len(known)} networks ({listed}): choose one with --share-at"
            )
            raise UsageError(msg)
        (address,) = known
    if address not in (*known, LOOPBACK):
        msg = f"--share-at is an address of this computer ({listed}), got {address!r}"
        raise UsageError(msg)
    return ShareSettings(address=address, with_pin=arguments.share_pin)


def named_languages(
    arguments: argparse.Namespace,  # noqa: TID251  an entry point's
    translation: TranslationSettings,
    own: Collection[str],
) -> tuple[FurtherLanguage, ...]:
    """Return how the languages of ``--share-language`` are captioned.

    Args:
        arguments: of the command.
        translation: its settings.
        own: codes that the model in use knows.

    Raises:
        UsageError: one is shared already, or no model on this computer knows it.
    """
    codes, library = arguments.share_languages, arguments.model_library
    spoken, target = translation.source_language, translation.target_language
    report = MachineReport()
    ways = ways_here(own, spoken, offers_here(library), report, codes) if codes else {}
    for code in codes:
        if code in (spoken, target):
            msg = f"{code} is shared in any case: --share-language names a further language"
            raise UsageError(msg)
        if code not in ways:
            offer = report.recommended(known_offers(), code, spoken)
            way = "" if offer is None else f", for example by surtitle translate --to {code} "
            named = "" if offer is None else f"--model {offer.name} ({bytes_text(offer.n_bytes)})"
            msg = (
                f"--share-language is a language that a model on this computer knows, got "
                f"{code!r}: fetch one first{way}{named}"
            )
            raise UsageError(msg)
    return tuple(
        further_language(code, way, library, arguments.device) for code, way in ways.items()
    )


class SharedRoom:
    """A room, and the further languages that its readers choose: a session computes those.

    Its methods may be called from any thread.

    Attributes:
        room: where the captions are shown.
    """

    def __init__(self, settings: ShareSettings, languages: tuple[str, str]) -> None:
        """Begin to share.

        Raises:
            OSError: as ``Room`` does.
        """
        from app.sharing.room import Room  # noqa: PLC0415  slow to import, and rarely used

        self._ways = {one.code: one for one in settings.further}
        self._usual = dict(zip((SOURCE, CAPTION), languages, strict=True))
        self._read = Grace()
        self._told: tuple[FurtherLanguage, ...] = ()
        self._ready, self._full = tuple[str, ...](), tuple[str, ...]()
        self._send: Callable[[Command], None] = lambda _command: None
        self._timer: threading.Timer | None = None
        self._is_over = False
        self._guard = threading.RLock()  # of all of these
        with self._guard:  # the first reader may come at once
            self.room = Room(
                settings.address,
                self._offered,
                with_pin=settings.with_pin,
                readers_changed=self._follow,
            )

    @property
    def _offered(self) -> dict[str, str]:
        return self._usual | {code: code for code in self._ways}

    @property
    def has_further(self) -> bool:
        """Whether there is a language that only readers choose."""
        return bool(self._ways)

    @property
    def is_asking(self) -> bool:
        """Whether one of them is read, or was so a moment ago."""
        return bool(self._told)

    def ask(self, send: Callable[[Command], None]) -> None:
        """Ask a session for the further languages that are read, by its ``send``."""
        with self._guard:
            self._send, self._told = send, ()
            self._follow()

    def take(self, event: LanguagesChanged | LanguageFailed) -> None:
        """Follow which further languages the session captions."""
        with self._guard:
            match event:
                case LanguagesChanged(languages=languages):
                    self._ready = languages
                    self.room.show_ready(self._ready, self._full)
                case LanguageFailed(language=code):
                    self._ways.pop(code, None)
                    self.room.show_languages(self._offered)
                    self._follow()

    def _follow(self) -> None:
        """Send the session what is read now, or was a moment ago."""
        with self._guard:
            if self._is_over:
                return
            self._read.follow(self.room.read)
            read = [code for code in self._read.languages if code in self._ways]
            self._follow_again(self._read.ends_in_s)
            wanted = wanted_languages("", read, self._ways)
            if wanted != self._told:
                self._told = wanted
                self._send(UseLanguages(wanted))
            full = tuple({*read} - {one.code for one in wanted})
            if full != self._full:
                self._full = full
                self.room.show_ready(self._ready, full)

    def _follow_again(self, in_s: float | None) -> None:
        """Look again then, and not before."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if in_s is not None:
            self._timer = threading.Timer(in_s, self._follow)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """End every connection and stop listening."""
        with self._guard:
            self._is_over = True
            self._follow_again(None)
        self.room.close()


@contextlib.contextmanager
def shared_room(
    settings: ShareSettings | None, languages: tuple[str, str], tell: Callable[[str], None]
) -> Iterator[SharedRoom | None]:
    """Share captions while the block runs, and show the way on standard error.

    Raises:
        TextError: nothing can be shared there.
    """
    if settings is None:
        yield None
        return
    try:
        shared = SharedRoom(settings, languages)
    except OSError as error:
        msg = f"nothing could be shared at {settings.address}: {message_of(error)}"
        raise TextError(msg) from error
    try:
        room = shared.room
        if sys.stderr.isatty():
            _show_code(room.link)
        pin = f", PIN {room.access.pin}" if room.access.pin else ""
        tell(f"phones in this network can read along: {room.link}{pin}")
        yield shared
    finally:
        shared.close()


def _show_code(link: str) -> None:
    import segno  # noqa: PLC0415  rarely used

    segno.make(link, error="m", micro=False).terminal(out=sys.stderr, compact=True)
