"""Works with files on a thread of its own, so that a slow disk never holds up the windows."""

import queue
import threading
from collections.abc import Callable

from app.text_lines import TextError
from engine.errors import SurtitleError

Errand = Callable[[], None]


class Scribe:
    """Run errands one after the other. ``report`` is called on the scribe's thread."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._errands: queue.SimpleQueue[Errand | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def run(self, errand: Errand) -> None:
        """Run something soon; an error of ours in it is reported, and the next errand follows."""
        self._errands.put(errand)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="surtitle-scribe")
            self._thread.start()

    def close(self) -> None:
        """Run what is left, and wait for it."""
        if self._thread is not None:
            self._errands.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while (errand := self._errands.get()) is not None:
            try:
                errand()
            except (SurtitleError, TextError) as error:
                self._report(str(error))
