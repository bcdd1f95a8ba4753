"""The captions that an audience reads: rows by number of their last change.

A reader names the last number that it has, and gets every row that changed since, in its newest
state: so each caption comes once, after any time away, and who is slow misses steps but no words.
Rows are kept for half an hour and bounded in number and length, whatever was said.
"""

import itertools
import json
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from app.captions.model import UtteranceView, dotted, n_same_views
from app.config.text_io import printable

SOURCE, CAPTION = "source", "caption"
"""A reader follows the words that are said, or their translation; else the code of a language."""

KEPT_S = 1800.0
MOST_ROWS = 1000
MOST_LETTERS = 2000
"""Of a row; of a longer one its end is shown, where it grows."""

_USUAL = frozenset((SOURCE, CAPTION))
_LONGEST_NUMBER = 15  # digits
_LONGEST = 12_000  # letters of one event, before one more row


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    changed_s: float
    text: str  # JSON


class RoomFeed:
    """Follow the views of a session; filled on one thread, read on the server's.

    Sentences that began before ``started_s`` (seconds since the epoch) are shown to nobody.
    """

    def __init__(
        self,
        languages: Mapping[str, str],
        views: Sequence[UtteranceView] = (),
        started_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Offer ``languages``: codes by ``SOURCE`` and ``CAPTION``; further ones by themselves.

        Readers get nothing of ``views``, which are shown already.
        """
        self._started_s, self._clock = started_s, clock
        self._before = {view.key for view in views}  # as long as they are there without a break
        self._guard = threading.Lock()  # of what follows
        self._languages = dict(languages)
        self._ready, self._full = frozenset[str](), frozenset[str]()
        self._seen: Sequence[UtteranceView] = ()  # the newest views, as they were last shown
        self._begin()

    def _begin(self) -> None:
        """Begin again: readers drop what they have."""
        self._run = secrets.token_hex(4)
        self._number = self._languages_number = 1
        self._order: dict[int, float] = {}
        self._rows: dict[str, dict[int, _Row]] = {name: {} for name in self._languages}
        self._gone: dict[int, int] = {}  # numbers of the changes that took rows away
        self._complete_from = 0  # a reader with less gets all again

    @property
    def further(self) -> frozenset[str]:
        """Codes of the further languages that are offered."""
        return frozenset(self._languages) - _USUAL

    def show_languages(self, languages: Mapping[str, str]) -> None:
        """Change the languages that are offered.

        Of ``SOURCE`` and ``CAPTION`` only the codes change, of those that were offered before.
        """
        with self._guard:
            usual = {name: languages.get(name, self._languages[name]) for name in self._usual}
            offered = usual | {name: languages[name] for name in languages.keys() - _USUAL}
            if offered != self._languages:
                self._languages = offered
                self._rows = {name: self._rows.get(name, {}) for name in offered}
                self._tell_languages()

    @property
    def _usual(self) -> list[str]:
        return [name for name in self._languages if name in _USUAL]

    def show_ready(self, ready: Collection[str], full: Collection[str] = ()) -> None:
        """Show which further languages are captioned now, and for which there is no room."""
        with self._guard:
            now = frozenset(ready), frozenset(full)
            if now != (self._ready, self._full):
                self._ready, self._full = now
                self._tell_languages()

    def _tell_languages(self) -> None:
        self._number += 1
        self._languages_number = self._number

    def show_views(
        self,
        views: Sequence[UtteranceView],
        name_of: Callable[[UtteranceView], str] = lambda _view: "",
    ) -> None:
        """Show the newest of these, with the names of their speakers."""
        newest = views[-MOST_ROWS:]
        with self._guard:
            n_same = n_same_views(self._seen, newest)
            was, now = self._seen[n_same:], newest[n_same:]
            self._seen = newest
            if was or now:
                self._follow(was, now, newest, name_of)
            self._forget_old()

    def _follow(
        self,
        was: Sequence[UtteranceView],
        now: Sequence[UtteranceView],
        newest: Sequence[UtteranceView],
        name_of: Callable[[UtteranceView], str],
    ) -> None:
        """Show views that stand in the place of others, at the end of the newest ones."""
        before = {view.key: view for view in was}
        lost = before.keys() - {view.key for view in now}
        self._before -= lost
        shown = [view for view in now if not self._is_older(view)]
        self._remove([key for key in before if key in lost and key in self._order], newest)
        self._place(shown, newest[: len(newest) - len(now)])
        for view in shown:
            if before.get(view.key) is not view:
                self._put(view, name_of(view))

    def _is_older(self, view: UtteranceView) -> bool:
        return view.key in self._before or 0 < view.begun_s < self._started_s

    def _remove(self, lost: Sequence[int], newest: Sequence[UtteranceView]) -> None:
        """Take rows away: those of users' deletions from the readers too, old ones from here."""
        if lost and len(lost) == len(self._order):
            self._begin()
            return
        orders = {key: self._order.pop(key) for key in lost}
        is_full = len(newest) == MOST_ROWS
        left = (self._order[view.key] for view in newest if view.key in self._order)
        first = next(left, 0.0) if lost and is_full else None
        for key, order in orders.items():
            had_text = [rows.pop(key, None) is not None for rows in self._rows.values()]
            if any(had_text) and (first is None or order > first):
                self._number += 1
                self._gone[key] = self._number  # after all others: it was not in there
        while len(self._gone) > MOST_ROWS:
            self._complete_from = self._gone.pop(next(iter(self._gone)))

    def _place(self, shown: Sequence[UtteranceView], ahead: Sequence[UtteranceView]) -> None:
        """Put each new row by a number between those of its neighbours.

        Args:
            shown: rows up to the newest.
            ahead: all before them.
        """
        following = None  # the order of the next row
        for at in range(len(shown) - 1, -1, -1):
            key = shown[at].key
            if key not in self._order:
                earlier = itertools.chain(reversed(shown[:at]), reversed(ahead))
                known = (self._order[one.key] for one in earlier if one.key in self._order)
                self._order[key] = _between(next(known, None), following)
            following = self._order[key]

    def _put(self, view: UtteranceView, speaker: str) -> None:
        """Store the texts of a view; what is the same as before keeps its number."""
        caption = self._languages.get(CAPTION, "")
        for name, rows in self._rows.items():
            text, tail, language = view.translation(name), "", name
            if name == SOURCE:
                text, tail, language = view.source, dotted(view.tail), self._languages[SOURCE]
            elif name in (CAPTION, view.language):
                text, language = view.caption, view.language or caption
            known = rows.get(view.key)
            if not (text or tail or known):
                continue
            row = {
                "key": view.key,
                "order": self._order[view.key],
                "text": _bounded(text),
                "tail": _bounded(tail),
                "ended": view.ended,
                "language": language,
                "speaker": _bounded(speaker),
            }
            told = json.dumps(row, ensure_ascii=False)
            if known is None or known.text != told:
                self._number += 1
                self._gone.pop(view.key, None)
                rows.pop(view.key, None)  # the newest change is the last
                rows[view.key] = _Row(self._number, self._clock(), told)

    def _forget_old(self) -> None:
        oldest_s = self._clock() - KEPT_S
        for rows in self._rows.values():
            while rows and next(iter(rows.values())).changed_s < oldest_s:
                del rows[next(iter(rows))]

    def since(self, seen: str, show: str) -> tuple[str, str]:
        """Return what changed after a position, at most about ``_LONGEST`` letters of it."""
        with self._guard:
            self._forget_old()
            name = self._shown_as(show)
            rows = self._rows[name]
            number = self._number_of(seen, name)
            is_whole = number < self._complete_from or not number
            number = 0 if is_whole else number
            changed, position = _part(rows, number, self._number)
            gone = [key for key, at in self._gone.items() if at > number and not is_whole]
            told = {
                "whole": is_whole,
                "languages": self._languages if self._languages_number > number else None,
                "state": self._state_of(name),
                "gone": gone,
            }
            if not changed and not gone and not is_whole and told["languages"] is None:
                return self._position(position, name), ""
            head = json.dumps(told)
            return self._position(position, name), f'{head[:-1]}, "rows": [{", ".join(changed)}]}}'

    def _shown_as(self, show: str) -> str:
        """Return what a reader gets who asked for something: what is not offered is the caption."""
        if show in self._rows:
            return show
        return CAPTION if CAPTION in self._rows else next(iter(self._rows))

    def _state_of(self, name: str) -> str:
        """Return why there are no captions in a language yet; empty where there are."""
        if name in _USUAL or name in self._ready:
            return ""
        return "full" if name in self._full else "preparing"

    def _position(self, number: int, name: str) -> str:
        return f"{self._run}-{name}.{number}"

    def _number_of(self, seen: str, name: str) -> int:
        """Return the number in a position; 0 for one of another run, or for none that is valid."""
        run, _, number = seen.partition(".")
        is_ours = run == f"{self._run}-{name}" and number.isascii() and number.isdigit()
        if not is_ours or len(number) > _LONGEST_NUMBER:
            return 0
        return int(number) if int(number) <= self._number else 0


def _part(rows: dict[int, _Row], number: int, newest: int) -> tuple[list[str], int]:
    """Return the first changed rows, and the number up to which they are complete."""
    changed = list[_Row]()
    for row in reversed(rows.values()):
        if row.number <= number:
            break
        changed.append(row)
    part, n_letters = list[str](), 0
    for row in reversed(changed):
        if n_letters > _LONGEST:
            return part, number
        part.append(row.text)
        n_letters += len(row.text)
        number = row.number
    return part, newest


def _between(before: float | None, after: float | None) -> float:
    if after is None:
        return (before or 0.0) + 1.0
    return after - 1.0 if before is None else (before + after) / 2


def _bounded(text: str) -> str:
    """Return a text without characters that steer others, and its end if it is too long."""
    text = text if len(text) <= MOST_LETTERS else "…" + text[-MOST_LETTERS:]
    return printable(text)
