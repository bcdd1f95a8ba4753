"""Journals, and the events that fill them."""

import os
from dataclasses import replace
from datetime import UTC, datetime

from app.captions.cue_recorder import CueKept
from app.captions.cues import Cue
from app.captions.journal import (
    SessionJournal,
)
from engine.events import (
    CaptionChanged,
    FedWord,
    SourceChanged,
    UtteranceEnded,
    UtteranceOpened,
)

STARTED = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def cue(number, text="Guten Morgen.\n\u2028{x} <b> & 🙂"):
    return Cue(
        start_s=number, end_s=number + 0.5, text=text, source=f"Good {number}", language="de"
    )


def kept(number, **changes):
    return CueKept(key=number, cue=replace(cue(number), **changes))


def written(folder, entries, *, close=True, replaced=None):
    journal = SessionJournal(folder, STARTED, replaced)
    for entry in entries:
        journal.write(entry)
    if close:
        journal.close()
    else:
        os.close(journal._file)
    return journal.path


def opened(record, number, source, caption, now_s):
    words = tuple(FedWord(word, committed_at_s=now_s) for word in source.split())
    events = [
        UtteranceOpened(utterance=number),
        SourceChanged(utterance=number, words=words),
        CaptionChanged(utterance=number, kept=0, text=caption, n_read=1),
    ]
    assert [record.follow(event, now_s) for event in events] == [None, None, None]


def say(keeper, number, caption):
    keeper.follow(UtteranceOpened(utterance=number))
    keeper.follow(CaptionChanged(utterance=number, kept=0, text=caption, n_read=1))
    keeper.follow(UtteranceEnded(utterance=number))
