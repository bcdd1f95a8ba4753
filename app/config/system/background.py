"""A queue of jobs on a background thread, so that a slow disk never blocks the windows."""

import logging
import queue
import threading
from collections.abc import Callable

from app.config.system.messages import AppCode
from app.config.system.translations import error_text, worded
from engine.errors import SurtitleError

Job = Callable[[], None]

_log = logging.getLogger(__name__)


class BackgroundQueue:
    """Run jobs one after the other; ``report`` is called on the thread of the queue."""

    def __init__(self, report: Callable[[str], None]) -> None:
        """Make a queue; the first job starts its thread.

        Args:
            report: gets one sentence for each failed job.
        """
        self._report = report
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def run(self, job: Job) -> None:
        """Append a job; an error in it is reported, and the queue goes on."""
        self._jobs.put(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="surtitle-background")
            self._thread.start()

    def close(self) -> None:
        """Wait for all jobs and end the thread."""
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except SurtitleError as error:
                self._report(error_text(error))
            except Exception as error:  # noqa: BLE001  the top of this thread
                _log.exception("a job failed")
                reason = f"{type(error).__name__}: {error}"
                self._report(worded(AppCode.UNEXPECTED(reason=reason)))
