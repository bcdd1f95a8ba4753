"""Run one model on one worker thread: commands go in by a queue, events come out by a callback.

The window and the speech listener use it. The worker thread (``engine.session.worker``) also loads
the model.
"""

import threading
from collections.abc import Callable
from pathlib import Path

from engine.commands import Command
from engine.events import Event
from engine.session.worker import Worker
from engine.settings import ModelSettings, TranslationSettings


class Session:
    """Call ``start``, ``send`` commands, ``stop``.

    Every method but ``stop`` returns at once, and may be called from any thread. Events are
    reported on the worker thread, in order.
    """

    def __init__(
        self,
        model: ModelSettings,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        *,
        log: Path | None = None,
    ) -> None:
        self._worker = Worker(model, translation, report, log)
        self._thread = threading.Thread(
            target=self._worker.run, name="surtitle-engine", daemon=True
        )

    def start(self) -> None:
        """Start the worker thread: it loads the model, then serves."""
        self._thread.start()

    @property
    def backlog_words(self) -> int:
        """Committed source words that are not read yet, or wait as commands."""
        return self._worker.backlog_words

    def stop(self, patience_s: float = 0.0) -> None:
        """Stop the worker thread after up to ``patience_s`` of further translation; wait for it."""
        if patience_s > 0 and self._thread.is_alive():
            self._worker.finishing.set()
            self._worker.commands.put(None)  # wakes it
            self._thread.join(patience_s)
        self._worker.stopping.set()
        self._worker.commands.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def send(self, command: Command) -> None:
        """Queue a command; ``Refused`` is reported if too many words wait already."""
        self._worker.commands.put(command)
