"""Sessions for tests, and whoever listens to one."""

import contextlib
import queue
import threading
from functools import partial

from engine.events import CaptionChanged, Ready, UtteranceEnded, untimed
from engine.metrics.event_log import EventLog
from engine.runtime.loader import load_weights
from engine.session.session import Session
from engine.settings import TranslationSettings
from engine.translation.factory import make_system
from engine.translation.passage import Passage
from engine.translation.targets import Targets
from tests.support.fakes import Receiver

WAIT_S = 60


class Listener:
    """Whoever receives a session's events; the test waits for them."""

    def __init__(self):
        self.events = []
        self.threads = set()
        self.receiver = Receiver()
        self._queue = queue.SimpleQueue()

    def __call__(self, event):
        self.events.append(event)
        self.threads.add(threading.current_thread())
        self.receiver(event)
        self._queue.put(event)

    def wait_for(self, kind, n_times=1, language=""):
        """Take events until the n-th of a kind; of captions, of those in a language."""
        while True:
            event = self._queue.get(timeout=WAIT_S)
            if _is(event, kind, language):
                n_times -= 1
                if n_times == 0:
                    return event

    @property
    def kinds(self):
        return [type(event) for event in self.events]

    def all_of(self, kind, language=""):
        return [event for event in self.events if _is(event, kind, language)]


def _is(event, kind, language):
    other = isinstance(event, CaptionChanged | UtteranceEnded) and event.language != language
    return isinstance(event, kind) and not other


@contextlib.contextmanager
def running(model, *, policy="read:2", language="de", translation=None, **arguments):
    """A session that has loaded; it is stopped whatever happens."""
    listener = Listener()
    settings = translation or TranslationSettings(policy=policy, target_language=language)
    session = Session(model, settings, listener, **arguments)
    session.start()
    try:
        listener.wait_for(Ready)
        yield session, listener
    finally:
        session.stop()


def at_once(model, text, *, policy="read:2", language="de", translation=None, together=None):
    """Words and captions of a text without a session, so many words together (all)."""
    settings = translation or TranslationSettings(policy=policy, target_language=language)
    weights = load_weights(model)
    system = make_system(model.system, weights, settings, capacity=model.capacity, log=EventLog())
    passage, receiver = Passage(Targets(system)), Receiver()
    words = untimed(text.split())
    together = together or len(words)
    starts = range(0, len(words), together)
    steps = [partial(passage.splice, n, None, words[n : n + together]) for n in starts]
    for step in (*steps, passage.finish):
        for event in (*step(), *iter(passage.advance, None)):
            receiver(event)
    return receiver.text
