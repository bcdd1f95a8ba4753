"""The worker thread of a session: load the model, serve commands, report what goes wrong.

Other threads touch ``commands``, ``backlog_words``, ``finishing`` and ``stopping`` only.
"""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from engine.errors import FetchCancelledError, SurtitleError, first_line
from engine.events import Event, Failed, LoadProgress, Ready
from engine.messages import Code, Message
from engine.metrics.event_log import EventLog
from engine.runtime.processor import is_out_of_memory
from engine.session.command_queue import CommandQueue
from engine.session.loaded_model import LoadedModel
from engine.session.serving import Serving
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import translate_unseen

_log = logging.getLogger(__name__)


class Worker:
    """Load, then obey commands and translate until ``stopping`` or ``finishing`` is set."""

    def __init__(
        self,
        model: ModelSettings,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        log: Path | None,
    ) -> None:
        self.commands = CommandQueue()
        self.stopping = threading.Event()
        self.finishing = threading.Event()  # ends it when all commands are obeyed
        self._model = model
        self._translation = translation
        self._report = report
        self._log_path = log
        self._serving: Serving | None = None

    @property
    def backlog_words(self) -> int:
        """Committed source words that are not read yet, or wait as commands."""
        n_unread = 0 if self._serving is None else self._serving.backlog_words
        return self.commands.n_words + n_unread

    def run(self) -> None:
        """Load and serve; report any failure as one message."""
        try:
            with EventLog(self._log_path) as event_log:
                serving = self._serving = self._load(event_log)
                while not self.stopping.is_set():
                    if serving.has_work and self.commands.is_empty:
                        serving.advance()
                    elif self.finishing.is_set() and self.commands.is_empty:
                        return
                    else:
                        serving.obey_waiting(self.commands)
        except FetchCancelledError:
            _log.info("fetching was cancelled")
        except SurtitleError as error:
            self._report(Failed(message=error.message))
        except OSError as error:
            self._report(Failed(message=Code.FILE_UNUSABLE(reason=str(error))))
        except BaseException as error:  # noqa: BLE001  the top of the thread: any failure is reported
            _log.exception("the engine stopped")
            self._report(Failed(message=_unexpected(error)))

    def _load(self, event_log: EventLog) -> Serving:
        start_s = time.monotonic()
        model = LoadedModel(self._model, self._report, self.stopping.is_set)
        model.weights.share_processor()
        self._report(LoadProgress(message=Code.MAKING_CACHE(), fraction=0.8))
        serving = Serving(model, self._translation, self._report, event_log)
        translate_unseen(serving.system, "Hello.")  # so that the first real word is not slow
        serving.system.conversation.forget_sentences()
        self._report(
            Ready(
                model=model.weights.card.name,
                languages=model.languages,
                load_s=time.monotonic() - start_s,
                notices=(*model.notes, *model.resolved(self._translation).notices),
                lags=model.lags,
                makes_drafts=model.makes_drafts,
            )
        )
        if model.used is not None:
            self._report(model.adapters_changed)
        serving.report_source()
        return serving


def _unexpected(error: BaseException) -> Message:
    code = Code.OUT_OF_MEMORY if is_out_of_memory(error) else Code.ENGINE_STOPPED
    return code(reason=first_line(error))
