"""Caption by the model of another computer; see ``engine.remote``."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Never

from engine.errors import ServerError
from engine.events import Event, Notice, Ready
from engine.messages import Code
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
) -> Iterator[Serving]:
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
        serving = captions_by(captioner, report, wake)
        serving.report_source()
        yield serving


def _has_no_model() -> Never:
    raise ServerError(Code.SERVER_HAS_ONE_LANGUAGE())


def captions_by(
    captioner: RemoteCaptioner,
    report: Callable[[Event], None],
    wake: Callable[[], None] = lambda: None,
) -> Serving:
    """Return the passages of all lanes, captioned by a server; ``wake`` as for ``Languages``."""
    captioner.notify = lambda message: report(Notice(message=message))
    settings = captioner.settings
    return Serving(captioner, settings, report, wake, _has_no_model, captioner.interrupt)
