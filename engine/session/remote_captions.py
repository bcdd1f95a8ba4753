"""Caption by the model of another computer; see ``engine.remote``."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Never, cast

from engine.commands import Command, LoadAdapter, UnloadAdapter, UseAdapter
from engine.errors import ServerError, ServerGoneError
from engine.events import ContextChanged, Event, Notice, PaceChanged, Ready, Refused
from engine.messages import Code
from engine.remote.captioner import RemoteCaptioner
from engine.remote.service import Service
from engine.remote.wire import Offer
from engine.session.catch_up import CatchUp
from engine.session.command_queue import CommandQueue
from engine.session.further_languages import FurtherLanguages
from engine.session.serving import Serving
from engine.settings import ServerSettings, TranslationSettings
from engine.text.sentences import source_notice
from engine.translation.passage import Passage

if TYPE_CHECKING:
    from engine.translation.captioned import Captioned, Captioner

_BETWEEN_TRIES_S = 0.05  # commands are obeyed between them
_BETWEEN_LOOKS_S = 1.0  # while nothing is said


@contextlib.contextmanager
def connected(
    server: ServerSettings,
    translation: TranslationSettings,
    report: Callable[[Event], None],
    wake: Callable[[], None],
) -> "Iterator[RemoteCaptions]":
    """Open a session at a server; report that it is ready. ``wake`` as for ``FurtherLanguages``.

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
        further = FurtherLanguages(translation, report, wake, _has_no_model)
        serving = RemoteCaptions(captioner, report, further, wake)
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
        further: FurtherLanguages,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """Start without words; ``wake`` as for ``FurtherLanguages``."""
        super().__init__(self._begin_passage, report, further)
        self._wake = wake
        self._look_again: threading.Timer | None = None  # after a server that went away
        self._captioner = captioner
        self._catch_up = CatchUp()
        self._has_told = False  # that the server is gone
        captioner.has_waited = self._tell_outage

    def interrupt(self) -> None:
        """Let what is waited for fail at once; for other threads."""
        self._captioner.interrupt()

    def obey_waiting(self, commands: CommandQueue) -> None:
        """Carry out all waiting commands; wait for one if there is none."""
        super().obey_waiting(commands)
        self._keep_pace()

    def _obey(self, command: Command) -> None:
        if isinstance(command, LoadAdapter | UseAdapter | UnloadAdapter):
            self._report(Refused(message=Code.SERVER_HAS_ITS_ADAPTER()))
        else:
            super()._obey(command)

    def advance(self) -> None:
        """Do one unit of work, see ``Serving``."""
        self._captioner.has_left = False
        super().advance()

    def report_source(self) -> None:
        """Report what is to be known of the source language."""
        notice = source_notice(self._captioner.settings.source_language)
        if notice is not None:
            self._report(Notice(message=notice))

    def _begin_passage(self, lane: str) -> Passage:
        captioner = cast("Captioner[Captioned]", self._captioner)  # given what it opened
        reads_any = not self._captioner.settings.reads_english
        further = self._further.captions
        return Passage(captioner, lane, reads_any_script=reads_any, further=further)

    def _configure(self, translation: TranslationSettings) -> None:
        """Use other settings; wrong ones are refused and the old ones stay."""
        before = self._captioner.settings
        try:
            self._captioner.configure(translation)
        except ServerError as error:
            self._report(Refused(message=error.message))
            return
        self._further.configure(translation)
        for notice in self._captioner.notices:
            self._report(Notice(message=notice))
        if translation.source_language != before.source_language:
            self.report_source()
        if translation.glossary != before.glossary:
            self._report(ContextChanged(rows=self._captioner.context_rows))

    def _advance(self, passage: Passage) -> Event | None:
        try:
            event = super()._advance(passage)
        except ServerError as error:
            self._report(passage.give_up())
            return Refused(message=error.message)
        self._tell_outage()
        return event

    def _tell_outage(self) -> None:
        """Report once that no server answers, and once that one does again."""
        outage, server = self._captioner.outage, self._captioner.server
        if outage is not None and not self._has_told:
            self._has_told = True
            self._report(Notice(message=Code.SERVER_GONE(server=server, reason=outage.message)))
        elif outage is None and self._has_told:
            self._has_told = False
            self._report(Notice(message=Code.SERVER_BACK(server=server)))

    def _note(self, event: Event) -> None:
        if not isinstance(event, Refused):
            self._keep_pace()

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
        """End what loads, and what waits for the server."""
        super().close()
        if self._look_again is not None:
            self._look_again.cancel()
            self._look_again.join()

    def _finds_more(self) -> bool:
        if self._captioner.has_left:
            time.sleep(_BETWEEN_TRIES_S)
            return True
        return self._keep_pace()

    def _keep_pace(self) -> bool:
        """Read larger steps while words wait; report and return a change of the steps."""
        backlog_words = self.backlog_words = self._passages.backlog_words
        if not self._catch_up.update(backlog_words, self._captioner.settings.catch_up_words):
            return False
        factor = self._captioner.haste = self._catch_up.factor
        self._report(PaceChanged(factor=factor, backlog_words=backlog_words))
        return True
