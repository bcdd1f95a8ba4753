"""Journals of sessions: found at the start, offered, exported, deleted."""

import contextlib
import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.captions.export import CONTENTS, FORMS, export
from app.captions.journal import (
    close_session,
    delete_old,
    delete_session,
    past_sessions,
    unfinished_sessions,
)
from app.config.text_io import TextError
from tests.fuzz.sentences import check, text
from tests.support.strangers import damaged, mutated

_LINES = [
    {"event": "session", "version": 1, "started": "2026-11-21T09:30:00+01:00"},
    {"event": "cue", "key": 0, "start_s": 1.2, "end_s": 3.4, "text": "Guten Morgen.",
     "source": "Good morning.", "speaker": "", "language": "de", "source_language": "en",
     "marked": False},
    {"event": "cue", "key": 1, "start_s": 4, "end_s": 5, "text": "Ja.", "speaker": "A"},
    {"event": "withdrawn", "key": 0},
    {"event": "closed"},
]  # fmt: skip
_VALUES = [1e308, 1e999, -1e999, float("nan"), 10**400, -1, 0, True, "x", None, [], {}, "\ud800",
           "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59",
           "9999-12-31T23:59:59+00:00", "2026-11-21"]  # fmt: skip


def _cue(rng):
    line = rng.choice(_LINES)
    return line | {rng.choice(sorted(line)): rng.choice(_VALUES)}


_MAKERS = [
    lambda rng: b"[" * rng.randint(1, 200_000),
    lambda rng: rng.randbytes(rng.randint(0, 60)),
    lambda rng: b'{"event": "cue", "key": 1, "start_s": ' + b"9" * rng.randint(1, 6000) + b"}",
    lambda rng: text(rng).encode(errors="surrogatepass"),
    lambda rng: damaged(json.dumps(rng.choice(_LINES)).encode(), rng),
    lambda rng: json.dumps(mutated(rng.choice(_LINES), rng)).encode(),
    lambda rng: json.dumps(_cue(rng)).encode(),
    lambda rng: json.dumps(rng.choice(_LINES) | {"text": text(rng)}).encode(),
    lambda rng: bytes(rng.randint(1, 1_200_000)),
]


def _put(rng, path):
    path.parent.mkdir(parents=True)
    if rng.random() < 0.05:
        os.mkfifo(path)
    elif rng.random() < 0.05:
        path.mkdir()
    else:
        lines = [rng.choice(_MAKERS)(rng) for _ in range(rng.randint(0, 12))]
        path.write_bytes(b"\n".join(lines) + b"\n" * rng.randrange(2))
        if rng.random() < 0.2:
            at = rng.choice([0, -(2**40), 2**33, 2**40, 2**62])
            with contextlib.suppress(OSError, OverflowError):
                os.utime(path, (at, at))


@contextlib.contextmanager
def prepared(_folder):
    def run(rng, folder, allow):
        sessions, out = folder / "sessions", folder / "out"
        out.mkdir()
        for number in range(rng.randint(1, 3)):
            _put(rng, sessions / f"session-{number}" / "session.jsonl")
        allow(sessions, out)
        unfinished_sessions(sessions)
        for session in past_sessions(sessions):
            form, content = rng.choice(FORMS), rng.choice(CONTENTS)
            with contextlib.suppress(TextError):
                export(rng.choice([out / "a\0b", out, Path("/dev/null")]), session.cues, form)
                raise AssertionError(form)
            try:
                n_cues = export(out / "x", session.cues, form, content)
                # the lines before and after a cut have more than 42 characters together
                n_most = sum(1 + (len(cue.text) + len(cue.source)) // 42 for cue in session.cues)
                assert n_cues <= n_most
                (out / "x").read_text(encoding="utf-8")
            except TextError as error:
                check(error)
            close_session(session)
        assert unfinished_sessions(sessions) == []
        left = past_sessions(sessions)
        for _ in range(rng.randint(1, 3)):
            clock = datetime.now(UTC) + timedelta(days=rng.choice([0, 3, 365, -365]))
            delete_old(sessions, clock, rng.choice([0, 30, 10**6]))
        for session in left:
            with contextlib.suppress(OSError):
                delete_session(session)

    yield run
