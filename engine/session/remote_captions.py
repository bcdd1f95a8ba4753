"""Caption by the model of another computer; see ``engine.remote``."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Never

from engine.commands import Command, LoadAdapter, UnloadAdapter, UseAdapter
from engine.errors import ServerError
from engine.events import Event, Notice, Ready, Refused
from engine.messages import Code, Message
from engine.remote.captioner import RemoteCaptioner
from engine.remote.service import Service
from engine.session.serving import Serving
from engine.settings import ServerSettings, TranslationSettings


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
    captioner = RemoteCaptioner(Service(server), translation)
    with contextlib.closing(captioner):
        opened = captioner.opened
        report(
            Ready(
                model=opened.model,
                languages=dict(opened.languages),
                load_s=time.monotonic() - start_s,
                notices=opened.notices,
                makes_drafts=opened.makes_drafts,
            )
        )
        serving = RemoteCaptions(captioner, report, wake)
        serving.report_source()
        yield serving


def _has_no_model() -> Never:
    raise ServerError(Code.SERVER_HAS_ONE_LANGUAGE())


class RemoteCaptions(Serving):
    """The passages of all lanes, captioned by a server."""

    def __init__(
        self,
        captioner: RemoteCaptioner,
        report: Callable[[Event], None],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """Start without words; ``wake`` as for ``Languages``."""
        super().__init__(captioner, captioner.settings, report, wake, _has_no_model)
        self._captioner = captioner
        captioner.notify = lambda message: report(Notice(message=message))

    def interrupt(self) -> None:
        self._captioner.interrupt()

    def _obey(self, command: Command) -> None:
        if isinstance(command, LoadAdapter | UseAdapter | UnloadAdapter):
            self._report(Refused(message=Code.SERVER_HAS_ITS_ADAPTER()))
        else:
            super()._obey(command)

    def _use(self, translation: TranslationSettings) -> Iterable[Message]:
        self._captioner.configure(translation)
        return self._captioner.opened.notices
