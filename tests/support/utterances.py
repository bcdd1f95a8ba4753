"""What follows a session by its utterances, fed with events alone."""

import time
from dataclasses import replace

from app.captions.cue_recorder import CueRecorder
from app.captions.model import Captions
from app.session.history_writer import HistoryWriter
from engine.events import UtteranceOpened
from engine.utterances import UtteranceTracker


class FedCaptions(Captions):
    """Captions of the utterances of some events."""

    def __init__(self, **settings):
        self.utterances = UtteranceTracker()
        super().__init__(self.utterances, **settings)

    def feed(self, event):
        utterance = self.utterances.take(event, 0.0)
        return utterance is not None and self.apply(event, utterance)


class FedRecord(CueRecorder):
    """A record of the utterances of some events, from English to German unless others are named."""

    def __init__(self, languages=("en", "de")):
        self.utterances = UtteranceTracker()
        self.languages = languages
        super().__init__(self.utterances)

    def follow(self, event, now_s):
        if isinstance(event, UtteranceOpened):
            event = replace(event, languages=self.languages)
        utterance = self.utterances.take(event, now_s)
        return None if utterance is None else self.feed(event, utterance, now_s)


class FedKeeper(HistoryWriter):
    """A keeper of the utterances of some events."""

    def __init__(self, folder, choices):
        self.utterances = UtteranceTracker()
        super().__init__(folder, choices, self.utterances)

    def follow(self, event):
        if isinstance(event, UtteranceOpened):
            event = replace(event, languages=("en", "de"))
        self.take(event, self.utterances.take(event, time.monotonic()))
