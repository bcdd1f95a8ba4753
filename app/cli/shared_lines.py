"""The lines of ``surtitle translate --live`` for the phones in a room, and their further languages.

The command translates on its own thread; further languages are captioned by a session of their own,
so that the command never waits for them. That session has its own copy of a model.
"""

import threading
from collections.abc import Callable
from dataclasses import replace

from app.captions.model import UtteranceView
from app.cli.sharing import SharedRoom
from app.sharing.room_feed import MOST_ROWS
from engine.commands import EndPassage, FeedWords
from engine.events import (
    Event,
    FurtherCaptionChanged,
    LanguageFailed,
    LanguagesChanged,
    UtteranceOpened,
)
from engine.session.session import Session
from engine.settings import TranslationSettings
from engine.utterances import FurtherCaption
from engine.words import untimed

_PATIENCE_S = 10.0
"""So long the command waits at its end for the further languages that are read."""


class SharedLines:
    """The sentences of a text for a room, one after the other."""

    def __init__(
        self,
        shared: SharedRoom | None,
        translation: TranslationSettings,
        tell: Callable[[str], None],
    ) -> None:
        """Show them in a room, or nowhere without one.

        Args:
            shared: the room.
            translation: settings of the captions; further languages have them, too.
            tell: receives why there are no captions in a further language.
        """
        self._shared, self._tell = shared, tell
        self._language = translation.target_language
        self._guard = threading.Lock()  # of the views
        self._views: list[UtteranceView] = []  # their keys are consecutive numbers
        self._parts: dict[int, tuple[int, dict[str, FurtherCaption]]] = {}
        # by utterance of the session, on its thread: key of the sentence, captions by language
        self._session: Session | None = None
        if shared is not None and shared.has_further:
            self._session = Session(None, translation, self._take)
            self._session.start()
            shared.ask(self._session.send)

    def show(self, source: str, caption: str, *, ended: bool) -> None:
        """Show the caption of the newest sentence so far."""
        if self._shared is None:
            return
        with self._guard:
            newest = self._views[-1] if self._views else None
            if newest is None or newest.ended:
                key = 0 if newest is None else newest.key + 1
                self._views.append(UtteranceView(key=key, source=source, language=self._language))
                del self._views[:-MOST_ROWS]
                self._caption_also(key, source)
            self._views[-1] = replace(self._views[-1], caption=caption, ended=ended)
            self._shared.room.show_views(self._views)

    def _caption_also(self, key: int, source: str) -> None:
        """Have a sentence captioned in the further languages; its lane tells its key."""
        if self._session is not None:
            self._session.send(FeedWords(untimed(source.split()), lane=str(key)))
            self._session.send(EndPassage(lane=str(key)))

    def _take(self, event: Event) -> None:
        """Receive an event on the session's thread."""
        assert self._shared is not None
        match event:
            case UtteranceOpened(utterance=number, lane=lane):
                self._parts[number] = int(lane), {}
                self._parts.pop(number - MOST_ROWS, None)
            case FurtherCaptionChanged(utterance=number, language=code) if number in self._parts:
                _, captions = self._parts[number]
                captions.setdefault(code, FurtherCaption()).grow(
                    event.kept, event.text, event.n_read
                )
                self._show_further(self._parts[number][0])
            case LanguagesChanged():
                self._shared.take(event)
            case LanguageFailed(language=code, message=message):
                self._shared.take(event)
                self._tell(f"there are no captions in {code} any more: {message}")

    def _show_further(self, key: int) -> None:
        """Show what there is of a sentence in further languages."""
        assert self._shared is not None
        parts = [captions for of, captions in self._parts.values() if of == key]
        codes = dict.fromkeys(code for captions in parts for code in captions)
        further = tuple(
            (code, " ".join(one[code].caption.strip() for one in parts if code in one))
            for code in codes
        )
        with self._guard:
            at = key - self._views[0].key
            if at >= 0:
                self._views[at] = replace(self._views[at], further=further)
                self._shared.room.show_views(self._views)

    def close(self) -> None:
        """Let the further languages that are read be completed, and end their session."""
        if self._session is not None and self._shared is not None:
            self._session.stop(_PATIENCE_S if self._shared.is_asking else 0.0)
