"""Caption by the model of another computer; see ``engine.remote``."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Never

from engine.commands import Command, LoadAdapter, UnloadAdapter, UseAdapter
from engine.errors import ServerError, ServerGoneError
from engine.events import Event, Notice, Ready, Refused
from engine.messages import Code, Message
from engine.remote.captioner import RemoteCaptioner
from engine.remote.service import Service
from engine.remote.wire import Offer
from engine.session.serving import Serving
from engine.settings import ServerSettings, TranslationSettings

_BETWEEN_TRIES_S = 0.05  # commands are obeyed between them
_BETWEEN_LOOKS_S = 1.0  # while nothing is said


@contextlib.contextmanager
def connected(
    server: ServerSettings,
    translation: TranslationSettings,
    report: Callable[[Event], None],
    wake: Callable[[], None],
) -> "Iterator[RemoteCaptions]":
    """Open a session at a server; report that it is ready. ``wake`` as for ``Languages``.

    Raises:
        ServerError: the server refuses, or cannot be reached.
    """
    start_s = time.monotonic()
    service = Service(server)
    try:
        offer = service.offer()
        if server.takes_any_language:
            translation = _known(translation, offer)
        captioner = RemoteCaptioner(service, translation)
    except ServerGoneError as error:
        raise service.unreachable(error) from error
    try:
        report(
            Ready(
                model=offer.model,
                languages=dict(offer.languages),
                load_s=time.monotonic() - start_s,
                notices=(*offer.notices, *captioner.notices),
                makes_drafts=offer.makes_drafts,
            )
        )
        serving = RemoteCaptions(captioner, report, wake)
        serving.report_source()
        yield serving
    finally:
        captioner.close()


def _known(translation: TranslationSettings, offer: Offer) -> TranslationSettings:
    """Return settings with a language that the server's model knows."""
    if not offer.languages or translation.target_language in offer.languages:
        return translation
    return replace(translation, target_language=next(iter(offer.languages)))


def _has_no_model() -> Never:
    raise ServerError(Code.SERVER_HAS_ONE_LANGUAGE())


class RemoteCaptions(Serving):
    """The passages of all lanes, captioned by a server.

    While it does not answer, words wait for it; after a while new sentences are captioned by their
    own words, and what was begun is completed when a server answers again.
    """

    def __init__(
        self,
        captioner: RemoteCaptioner,
        report: Callable[[Event], None],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """Start without words; ``wake`` as for ``Languages``."""
        super().__init__(captioner, captioner.settings, report, wake, _has_no_model)
        self._wake = wake
        self._look_again: threading.Timer | None = None  # after a server that went away
        self._captioner = captioner
        self._has_told = False  # that the server is gone
        captioner.has_waited = self._tell_outage

    def interrupt(self) -> None:
        self._captioner.interrupt()

    def _obey(self, command: Command) -> None:
        if isinstance(command, LoadAdapter | UseAdapter | UnloadAdapter):
            self._report(Refused(message=Code.SERVER_HAS_ITS_ADAPTER()))
        else:
            super()._obey(command)

    def advance(self) -> None:
        self._captioner.has_left = False
        super().advance()
        self._tell_outage()

    def _use(self, translation: TranslationSettings) -> Iterable[Message]:
        self._captioner.configure(translation)
        return self._captioner.notices

    def _tell_outage(self) -> None:
        """Report once that no server answers, and once that one does again."""
        outage, server = self._captioner.outage, self._captioner.server
        if outage is not None and not self._has_told:
            self._has_told = True
            self._report(Notice(message=Code.SERVER_GONE(server=server, reason=outage.message)))
        elif outage is None and self._has_told:
            self._has_told = False
            self._report(Notice(message=Code.SERVER_BACK(server=server)))

    def _rest(self) -> None:
        """Report that all is captioned; look for a server that went away from time to time."""
        super()._rest()
        self._captioner.look()
        self._tell_outage()
        is_awaited = self._look_again is not None and self._look_again.is_alive()
        if self._captioner.outage is not None and not is_awaited:
            self._look_again = threading.Timer(_BETWEEN_LOOKS_S, self._wake)
            self._look_again.start()

    def close(self) -> None:
        super().close()
        if self._look_again is not None:
            self._look_again.cancel()
            self._look_again.join()

    def _finds_more(self) -> bool:
        if self._captioner.has_left:
            time.sleep(_BETWEEN_TRIES_S)
            return True
        return super()._finds_more()
