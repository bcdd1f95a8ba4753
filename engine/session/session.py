"""One model on one worker thread: commands go in by an inbox, events come out by a callback.

The window and whoever listens to speech use it. The model is loaded on the worker thread too; what
happens there is told in ``engine.session.worker``.
"""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from engine.events import Event
from engine.session.worker import Worker
from engine.settings import ModelSettings, TranslationSettings


class Session:
    """Start, feed, edit, stop.

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
        self._inbox = self._worker.inbox
        self._thread = threading.Thread(
            target=self._worker.run, name="surtitle-engine", daemon=True
        )

    def start(self) -> None:
        """Start the worker thread: it loads the model, then serves."""
        self._thread.start()

    def stop(self, patience_s: float = 0.0) -> None:
        """End the worker thread and wait for it.

        Args:
            patience_s: how long it may translate what it was told; the rest stays untranslated.
        """
        if patience_s > 0 and self._thread.is_alive():
            self._inbox.put(lambda worker: worker.finish())
            self._thread.join(patience_s)
        self._worker.stopping.set()
        self._inbox.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def feed_words(self, words: Sequence[str], lane: str = "") -> None:
        """Append committed words to the passage, or to that of another lane: who speaks at once."""
        fed = tuple(words)
        self._inbox.put(lambda worker: worker.splice(None, None, fed, lane), len(fed))

    def edit_words(self, start: int, stop: int, words: Sequence[str]) -> None:
        """Replace the words [start:stop) of the passage."""
        replacement = tuple(words)
        self._inbox.put(lambda worker: worker.splice(start, stop, replacement), len(replacement))

    def set_words(self, words: Sequence[str]) -> None:
        """Make these the committed words of the passage; what changed is found out."""
        wanted = tuple(words)
        self._inbox.put(lambda worker: worker.splice(0, None, wanted), len(wanted))

    def end_utterance(self, lane: str = "") -> None:
        """Finish the passage: its last utterance ends, and edits address a new passage."""
        self._inbox.put(lambda worker: worker.end_passage(lane))

    def change(self, translation: TranslationSettings) -> None:
        """Use other settings from the next utterance on."""
        self._inbox.put(lambda worker: worker.configure(translation))

    def clear(self) -> None:
        """Forget the passage; its utterances are dropped."""
        self._inbox.put(lambda worker: worker.clear())

    def load_adapter(self, folder: Path, *, use: bool = True) -> None:
        """Load an adapter beside those that are loaded; one sentence says where it cannot be.

        Args:
            folder: the adapter's.
            use: it translates from the next utterance on.
        """
        self._inbox.put(lambda worker: worker.load_adapter(folder, use=use))

    def use_adapter(self, name: str | None) -> None:
        """Let a loaded adapter translate from the next utterance on; None for the bare model."""
        self._inbox.put(lambda worker: worker.use_adapter(name))

    def unload_adapter(self, name: str) -> None:
        """Forget an adapter that does not translate."""
        self._inbox.put(lambda worker: worker.unload_adapter(name))
