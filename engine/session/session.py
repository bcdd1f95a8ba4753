"""Run one captioner on one thread: commands go in by a queue, events come out by a callback.

The window and the speech listener use it. The thread also loads the model, and imports its
libraries then; without a model the captions are the words themselves.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path

from engine.errors import SurtitleError, first_line
from engine.events import Command, Event, Failed, Ready, n_words
from engine.messages import Code, Message
from engine.runtime.processor import is_out_of_memory
from engine.session.serving import Serving
from engine.settings import ModelSettings, ServerSettings, TranslationSettings
from engine.translation.captioner import SourceCaptioner

_log = logging.getLogger(__name__)


MAX_WORDS = 20_000
"""Limit of waiting words: over two hours of talk."""


class CommandQueue:
    """A queue between senders and the worker: commands in order, and a bound on their words.

    Putting never waits; one thread takes. No word is dropped silently: a command whose words do not
    fit is refused as a whole, and its words are counted.
    """

    def __init__(self, max_words: int = MAX_WORDS) -> None:
        self.max_words = max_words
        self._waiting = deque[Command | None]()
        self._changed = threading.Condition()
        self._n_words = 0
        self._n_refused = 0

    @property
    def is_empty(self) -> bool:
        return not self._waiting

    @property
    def n_words(self) -> int:
        return self._n_words

    def put(self, command: Command | None) -> bool:
        """Append a command and return True; return False where its words are too many.

        None stands for no command, and only wakes the thread that takes.
        """
        added = 0 if command is None else n_words(command)
        with self._changed:
            if added and self._n_words + added > self.max_words:
                self._n_refused += added
                return False
            self._waiting.append(command)
            self._n_words += added
            self._changed.notify()
        return True

    def take(self) -> Command | None:
        """Remove the oldest command and return it; wait for one where there is none."""
        with self._changed:
            while not self._waiting:
                self._changed.wait()
            command = self._waiting.popleft()
            self._n_words -= 0 if command is None else n_words(command)
        return command

    def take_refused(self) -> int:
        """Return how many words were refused since the last call."""
        with self._changed:
            n_refused, self._n_refused = self._n_refused, 0
        return n_refused


class Session:
    """Call ``start``, ``send`` commands, ``stop``.

    Every method but ``stop`` returns at once, and may be called from any thread. Events are
    reported on the session's thread, in order.
    """

    def __init__(
        self,
        model: ModelSettings | ServerSettings | None,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        *,
        log: Path | None = None,
    ) -> None:
        """Prepare the thread; without a model or a server, captions are the source words."""
        self._model = model
        self._translation = translation
        self._report = report
        self._log_path = log
        self._commands = CommandQueue()
        self._stopping = threading.Event()
        self._finishing = threading.Event()  # ends it when all commands are obeyed
        self._serving: Serving | None = None
        self._thread = threading.Thread(target=self._run, name="surtitle-engine", daemon=True)

    def start(self) -> None:
        """Start the thread: it loads the model, then serves."""
        self._thread.start()

    @property
    def backlog_words(self) -> int:
        """Committed source words that are not read yet, or wait as commands."""
        n_unread = 0 if self._serving is None else self._serving.backlog_words
        return self._commands.n_words + n_unread

    def send(self, command: Command) -> None:
        """Queue a command; ``Refused`` is reported if too many words wait already."""
        self._commands.put(command)

    def stop(self, patience_s: float = 0.0) -> None:
        """Stop the thread after up to ``patience_s`` of further translation; wait for it."""
        if patience_s > 0 and self._thread.is_alive():
            self._finishing.set()
            self._commands.put(None)  # wakes it
            self._thread.join(patience_s)
        self._stopping.set()
        self._commands.put(None)
        if self._serving is not None:
            self._serving.interrupt()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        """Load and serve; report any failure as one message."""
        try:
            with self._opened() as serving, closing(serving):
                self._serving = serving
                while not self._stopping.is_set():
                    if serving.has_work and self._commands.is_empty:
                        serving.advance()
                    elif self._finishing.is_set() and self._commands.is_empty:
                        return
                    else:
                        serving.obey_waiting(self._commands)
        except SurtitleError as error:
            if not self._stopping.is_set():  # else a download or a server was waited for
                self._report(Failed(message=error.message))
        except OSError as error:
            self._report(Failed(message=Code.FILE_UNUSABLE(reason=str(error))))
        except BaseException as error:  # noqa: BLE001  the top of the thread: any failure is reported
            _log.exception("the engine stopped")
            self._report(Failed(message=_unexpected(error)))

    def _opened(self) -> AbstractContextManager[Serving]:
        if self._model is None:
            self._report(Ready(model="", languages={}, load_s=0.0))
            captioner = SourceCaptioner(self._translation)
            return nullcontext(Serving(captioner, captioner.settings, self._report, self._wake))
        if isinstance(self._model, ServerSettings):
            return _connected(self._model, self._translation, self._report, self._wake)
        from engine.session.loaded_model import loaded  # noqa: PLC0415  model libraries take seconds

        cancelled = self._stopping.is_set
        log = self._log_path
        return loaded(self._model, self._translation, self._report, log, cancelled, self._wake)

    def _wake(self) -> None:
        self._commands.put(None)


@contextmanager
def _connected(
    server: ServerSettings,
    translation: TranslationSettings,
    report: Callable[[Event], None],
    wake: Callable[[], None],
) -> Iterator[Serving]:
    """Open a session at a server; report that it is ready. ``wake`` as for ``Languages``.

    Raises:
        ServerError: the server refuses, or cannot be reached.
    """
    from engine.remote.captioner import RemoteCaptioner  # noqa: PLC0415  rarely used
    from engine.remote.service import Service  # noqa: PLC0415  as above

    start_s = time.monotonic()
    with closing(RemoteCaptioner(Service(server), translation)) as captioner:
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
        serving = Serving(captioner, captioner.settings, report, wake, captioner)
        serving.report_source()
        yield serving


def _unexpected(error: BaseException) -> Message:
    code = Code.OUT_OF_MEMORY if is_out_of_memory(error) else Code.ENGINE_STOPPED
    return code(reason=first_line(error))
