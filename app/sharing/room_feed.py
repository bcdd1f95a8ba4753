"""The captions that an audience reads: rows by number of their last change.

A reader names the last number that it has, and gets every row that changed since, in its newest
state: so each caption comes once, after any time away, and who is slow misses steps but no words.
Rows are kept for half an hour and bounded in number and length, whatever was said.
"""

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.captions.model import UtteranceView, dotted
from app.config.system.text_io import printable

SOURCE, CAPTION = "source", "caption"
"""A reader follows the words that are said, or their translation."""

KEPT_S = 1800.0
MOST_ROWS = 1000
MOST_LETTERS = 2000
"""Of a row; of a longer one its end is shown, where it grows."""

_LONGEST = 12_000  # letters of one event, before one more row
_DIRECTIONS = dict.fromkeys(map(ord, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"))
# they would turn the order of letters around, beyond the row they stand in


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
        """Offer ``languages``: codes by ``SOURCE`` and ``CAPTION``, or by one of them.

        Readers get nothing of ``views``, which are shown already.
        """
        self._started_s, self._clock = started_s, clock
        self._before = {view.key for view in views}  # as long as they are there without a break
        self._guard = threading.Lock()  # of what follows
        self._languages = dict(languages)
        self._begin()

    def _begin(self) -> None:
        """Begin again: readers drop what they have."""
        self._run = secrets.token_hex(4)
        self._number = self._languages_number = 1
        self._known: dict[int, UtteranceView] = {}
        self._order: dict[int, float] = {}
        self._rows: dict[str, dict[int, _Row]] = {name: {} for name in self._languages}
        self._gone: dict[int, int] = {}  # numbers of the changes that took rows away
        self._complete_from = 0  # a reader with less gets all again

    def show_languages(self, languages: Mapping[str, str]) -> None:
        """Change the codes of the languages that are offered."""
        with self._guard:
            offered = {name: languages.get(name, code) for name, code in self._languages.items()}
            if offered != self._languages:
                self._languages = offered
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
            self._before.intersection_update(view.key for view in newest)
            shown = [view for view in newest if not self._is_older(view)]
            before, self._known = self._known, {view.key: view for view in shown}
            self._remove(before, is_full=len(newest) == MOST_ROWS)
            self._place(shown)
            for view in shown:
                if before.get(view.key) is not view:
                    self._put(view, name_of(view))
            self._forget_old()

    def _is_older(self, view: UtteranceView) -> bool:
        return view.key in self._before or 0 < view.begun_s < self._started_s

    def _remove(self, before: Mapping[int, UtteranceView], *, is_full: bool) -> None:
        """Take rows away: those of users' deletions from the readers too, old ones from here."""
        lost = [key for key in before if key not in self._known]
        if lost and len(lost) == len(before):
            self._begin_again()
            return
        first = self._order.get(next(iter(self._known), 0), 0.0) if is_full else None
        for key in lost:
            order = self._order.pop(key)
            had_text = [rows.pop(key, None) is not None for rows in self._rows.values()]
            if any(had_text) and (first is None or order > first):
                self._number += 1
                self._gone[key] = self._number  # after all others: it was not in there
        while len(self._gone) > MOST_ROWS:
            self._complete_from = self._gone.pop(next(iter(self._gone)))

    def _begin_again(self) -> None:
        known = self._known
        self._begin()
        self._known = known

    def _place(self, shown: Sequence[UtteranceView]) -> None:
        """Put each new row by a number between those of its neighbours."""
        following = None  # the order of the next row
        for at in range(len(shown) - 1, -1, -1):
            key = shown[at].key
            if key not in self._order:
                ahead = next(
                    (self._order[one.key] for one in shown[at - 1 :: -1] if one.key in self._order)
                    if at
                    else iter(()),
                    None,
                )
                self._order[key] = _between(ahead, following)
            following = self._order[key]

    def _put(self, view: UtteranceView, speaker: str) -> None:
        """Store the texts of a view; what is the same as before keeps its number."""
        doubtful = view.doubtful and not view.tail
        texts = {
            SOURCE: (view.source, dotted(view.tail), self._languages.get(SOURCE, "")),
            CAPTION: (view.caption, "", view.language or self._languages.get(CAPTION, "")),
        }
        for name, rows in self._rows.items():
            text, tail, language = texts[name]
            row = {
                "key": view.key,
                "order": self._order[view.key],
                "text": _bounded(text),
                "tail": _bounded(tail),
                "ended": view.ended,
                "language": language,
                "speaker": _bounded(speaker),
                "doubtful": doubtful and name == CAPTION,
            }
            told = json.dumps(row, ensure_ascii=False)
            known = rows.get(view.key)
            if (text or tail or known) and (known is None or known.text != told):
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
            rows = self._rows[show if show in self._rows else next(iter(self._rows))]
            number = self._number_of(seen)
            is_whole = number < self._complete_from or not number
            number = 0 if is_whole else number
            changed, position = _part(rows, number, self._number)
            gone = [key for key, at in self._gone.items() if at > number and not is_whole]
            told = {
                "whole": is_whole,
                "languages": self._languages if self._languages_number > number else None,
                "gone": gone,
            }
            if not changed and not gone and not is_whole and told["languages"] is None:
                return self._position(position), ""
            head = json.dumps(told)
            return self._position(position), f'{head[:-1]}, "rows": [{", ".join(changed)}]}}'

    def _position(self, number: int) -> str:
        return f"{self._run}.{number}"

    def _number_of(self, seen: str) -> int:
        """Return the number in a position; 0 for one of another run, or for what is none."""
        run, _, number = seen.partition(".")
        if run != self._run or not number.isascii() or not number.isdigit() or len(number) > 15:
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
    """Return a number between two, of which one may be missing."""
    if after is None:
        return (before or 0.0) + 1.0
    return after - 1.0 if before is None else (before + after) / 2


def _bounded(text: str) -> str:
    """Return a text without characters that steer others, and its end if it is too long."""
    text = text if len(text) <= MOST_LETTERS else "…" + text[-MOST_LETTERS:]
    return printable(text).translate(_DIRECTIONS)
