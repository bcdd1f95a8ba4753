"""One translator on one worker thread: commands go in by a queue, events come out by a callback.

The window and the terminal's live view use it. The model is loaded on the worker thread too.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from engine.errors import SurtitleError
from engine.event_log import EventLog
from engine.events import (
    CaptionChanged,
    Event,
    Failed,
    LoadProgress,
    Ready,
    Refused,
    Statistics,
    UtteranceOpened,
)
from engine.loading import load_weights
from engine.mode import mode_notice, suited_system
from engine.passage import Passage
from engine.settings import ModelSettings, TranslationSettings
from engine.system import make_system

_log = logging.getLogger(__name__)

_Command = Callable[["_Worker"], None]


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
        self._commands: queue.SimpleQueue[_Command | None] = queue.SimpleQueue()
        self._worker = _Worker(model, translation, report, log, self._commands)
        self._thread = threading.Thread(
            target=self._worker.run, name="surtitle-engine", daemon=True
        )

    def start(self) -> None:
        """Start the worker thread: it loads the model, then serves."""
        self._thread.start()

    def stop(self) -> None:
        """End the worker thread and wait for it; what is not translated yet stays so."""
        self._worker.stopping.set()
        self._commands.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def feed_words(self, words: Sequence[str], lane: str = "") -> None:
        """Append committed words to the passage, or to that of another lane: who speaks at once."""
        fed = tuple(words)
        self._commands.put(lambda worker: worker.splice(None, None, fed, lane))

    def edit_words(self, start: int, stop: int, words: Sequence[str]) -> None:
        """Replace the words [start:stop) of the passage."""
        replacement = tuple(words)
        self._commands.put(lambda worker: worker.splice(start, stop, replacement))

    def set_words(self, words: Sequence[str]) -> None:
        """Make these the committed words of the passage; what changed is found out."""
        wanted = tuple(words)
        self._commands.put(lambda worker: worker.splice(0, None, wanted))

    def end_utterance(self, lane: str = "") -> None:
        """Finish the passage: its last utterance ends, and edits address a new passage."""
        self._commands.put(lambda worker: worker.end_passage(lane))

    def change(self, translation: TranslationSettings) -> None:
        """Use other settings from the next utterance on."""
        self._commands.put(lambda worker: worker.configure(translation))

    def clear(self) -> None:
        """Forget the passage; its utterances are dropped."""
        self._commands.put(lambda worker: worker.clear())


class _Worker:
    """What runs on the worker thread; nobody else touches it, but for ``stopping``."""

    def __init__(
        self,
        model: ModelSettings,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        log: Path | None,
        commands: "queue.SimpleQueue[_Command | None]",
    ) -> None:
        self._model = model
        self._translation = translation
        self._report = report
        self._log_path = log
        self._commands = commands
        self._waiting_since_s: float | None = None  # the oldest command not yet translated
        self.stopping = threading.Event()

    def run(self) -> None:
        """Load, serve, and turn whatever goes wrong into one sentence."""
        try:
            with EventLog(self._log_path) as log:
                self._load(log)
                self._serve()
        except SurtitleError as error:
            self._report(Failed(message=str(error)))
        except OSError as error:
            self._report(Failed(message=f"a file could not be used: {error}"))
        except Exception as error:  # noqa: BLE001  the one place where anything becomes a message
            _log.exception("the engine stopped")
            self._report(Failed(message=f"the engine stopped unexpectedly: {error}"))

    def _load(self, log: EventLog) -> None:
        start_s = time.monotonic()
        self._report(LoadProgress(stage="Loading the model", fraction=0.2))
        weights = load_weights(self._model)
        self._report(LoadProgress(stage="Making the cache", fraction=0.8))
        self._translator = make_system(
            self._model.system, weights, self._translation, capacity=self._model.capacity, log=log
        )
        self._passages: list[Passage] = []  # that are not translated, or can still change
        self._current: dict[str, Passage] = {}  # of these the one of each lane that words go to
        self._warm_up()
        mode = mode_notice(weights.card, suited_system(self._model.system, weights.card))
        languages = {code: entry.name for code, entry in weights.card.languages.items()}
        self._report(
            Ready(
                model=weights.card.name,
                languages=languages,
                load_s=time.monotonic() - start_s,
                notices=(*weights.report.notes, *((mode,) if mode else ())),
            )
        )

    def _warm_up(self) -> None:
        """Translate one word unseen, so that the first real one does not pay for first use."""
        utterance = self._translator.open()
        self._translator.set_source(utterance, ["Hello."], ended=True)
        for _ in self._translator.advance(utterance):
            pass

    def _serve(self) -> None:
        """Obey commands; translate between them, and stop translating when one comes."""
        while not self.stopping.is_set():
            command = self._commands.get()
            if self._waiting_since_s is None:
                self._waiting_since_s = time.monotonic()
            while command is not None:
                command(self)
                command = None if self._commands.empty() else self._commands.get()
            self._translate()

    def _translate(self) -> None:
        changed_s: float | None = None
        for passage in self._passages:
            for event in passage.advance():
                self._report(event)
                if isinstance(event, CaptionChanged):
                    changed_s = time.monotonic()
                if not self._commands.empty():
                    return
        self._passages = list(self._current.values())  # finished ones cannot be edited any more
        if changed_s is not None and self._waiting_since_s is not None:
            self._report_statistics(changed_s - self._waiting_since_s)
        self._waiting_since_s = None

    def _report_statistics(self, seconds: float) -> None:
        model, counters = self._translator.model, self._translator.counters
        self._report(
            Statistics(
                tokens_fed=model.tokens_fed,
                forwards=model.forwards,
                tokens_recomputed=counters.tokens_recomputed,
                probes=counters.probes,
                cached_rows=model.n_rows,
                ms_per_word=seconds * 1000,
                loops_cut=counters.loops_cut,
            )
        )

    def splice(
        self, start: int | None, stop: int | None, words: Sequence[str], lane: str = ""
    ) -> None:
        """Replace a part of the passage's words; None stands for its end."""
        if lane not in self._current:
            self._current[lane] = Passage(self._translator)
            self._passages.append(self._current[lane])
        passage = self._current[lane]
        place = passage.n_words if start is None else start
        for event in passage.splice(place, stop, words):
            self._report(replace(event, lane=lane) if isinstance(event, UtteranceOpened) else event)

    def end_passage(self, lane: str = "") -> None:
        """Finish the passage; the next words begin a new one."""
        passage = self._current.pop(lane, None)
        for event in passage.finish() if passage else ():
            self._report(event)

    def configure(self, translation: TranslationSettings) -> None:
        """Take other settings; wrong ones are told and the old ones stay."""
        try:
            self._translator.configure(translation)
        except SurtitleError as error:
            self._report(Refused(message=str(error)))

    def clear(self) -> None:
        """Drop the passage of every lane."""
        for passage in self._current.values():
            for event in passage.drop():
                self._report(event)
