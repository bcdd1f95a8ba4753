"""Two target languages at once: what the second adds in lag, computing and memory; is none lost?

    python -m benchmarks.audience.languages [--minutes 30] [--alone-minutes 5] [--word-s 0.4]
        [--model DIR] [--second DIR] [--to LANG] [--second-to LANG]

One session, as the window has it, gets our own sentences word by word; first without, then with a
second language. Without ``--second`` that is the same model, loaded once more: its captions must be
the first ones to the letter. Told are, for the first language alone, the first beside the second,
and the second: from the moment a word is sent to the event with the caption that rests on it (the
policy's waiting is in it); the seconds of processor a word takes; the memory at the end of each
part, and what it grows by within the second. Then, of the second part: sentences without a caption,
those whose captions differ though the model is one, and the files that lack a caption in either
language: the journal, and exports of every form.
"""

import argparse
import os
import platform
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from app.captions.cue_recorder import CueRecorder
from app.captions.cues import Cue
from app.captions.export import export
from app.captions.journal import SessionJournal, read_session
from benchmarks.soak import resident_mib, talk
from engine.commands import EndPassage, FeedWords, Flush, FurtherLanguage, UseLanguages
from engine.events import (
    CaptionChanged,
    Event,
    Failed,
    Flushed,
    FurtherCaptionChanged,
    FurtherCaptionEnded,
    LanguageFailed,
    LanguagesChanged,
    Ready,
    UtteranceEnded,
)
from engine.hub.bundled import bundled_models
from engine.session.session import Session
from engine.settings import ModelSettings, TranslationSettings
from engine.utterances import UtteranceTracker
from engine.words import FedWord

PATIENCE_S = 600.0
FORMS = "txt", "srt", "vtt", "jsonl"
FIRST = ""


@dataclass
class Part:
    """What was measured while the same languages were captioned.

    Attributes:
        lags_ms: by language, ``FIRST`` or its code.
        resident: MiB, one for each minute and one at the end.
    """

    lags_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    n_words: int = 0
    busy_s: float = 0.0
    resident: list[float] = field(default_factory=list)

    @property
    def busy_ms(self) -> float:
        return 1000 * self.busy_s / self.n_words


class Talk:
    """A session that is talked to; its events come on a thread of its own."""

    def __init__(self, model: Path, to: str, folder: Path) -> None:
        self.part = Part()
        self.keys = list[int]()  # of the utterances that ended in this part
        self._covered = dict[tuple[str, int], int]()  # words that a caption rests on
        self._came, self._guard = threading.Condition(), threading.Lock()
        self._events = list[Event]()  # that somebody waits for
        self._tracker = UtteranceTracker(n_ended_kept=100)
        self.record = CueRecorder(self._tracker, time.monotonic())
        self.journal = SessionJournal(folder, datetime.now().astimezone())
        settings = TranslationSettings(target_language=to)
        self.session = Session(ModelSettings(directory=model), settings, self._take)
        self.session.start()
        self.wait_for(Ready)

    def _take(self, event: Event) -> None:
        now_s = time.monotonic()
        with self._guard:
            utterance = self._tracker.take(event, now_s)
            if utterance is not None:
                entry = self.record.feed(event, utterance, now_s)
                if entry is not None:
                    self.journal.write(entry)
                self._note(event, utterance.words, now_s)
        with self._came:
            self._events.append(event)
            del self._events[:-1000]
            self._came.notify_all()

    def _note(self, event: Event, words: Sequence[FedWord], now_s: float) -> None:
        match event:
            case CaptionChanged(utterance=number, n_read=n_read):
                language = FIRST
            case UtteranceEnded(utterance=number):
                language, n_read = FIRST, len(words)
            case FurtherCaptionChanged(utterance=number, language=language, n_read=n_read):
                pass
            case FurtherCaptionEnded(utterance=number, language=language):
                n_read = len(words)
            case _:
                return
        covered = self._covered.get((language, number), 0)
        new = [1000 * (now_s - word.committed_at_s) for word in words[covered:n_read]]
        self.part.lags_ms[language] += new
        self._covered[language, number] = max(covered, n_read)

    def wait_for(self, kind: type, **values: object) -> None:
        """Wait for an event of a kind with these values."""
        until_s = time.monotonic() + PATIENCE_S
        with self._came:
            while not any(
                isinstance(one, kind)
                and all(getattr(one, name) == it for name, it in values.items())
                for one in self._events
            ):
                if any(isinstance(one, Failed | LanguageFailed) for one in self._events):
                    raise SystemExit(str(self._events[-1]))
                if not self._came.wait(max(0.0, until_s - time.monotonic())):
                    raise SystemExit(kind.__name__ + " did not come")

    def say(self, seconds: float, word_s: float, seed: int) -> Part:
        """Say words for so long, to the end of a sentence; wait until all is captioned."""
        part = self.part = Part()
        worked_s, began_s = time.process_time(), time.monotonic()
        for word in talk(round(seconds / word_s), seed=seed):
            time.sleep(max(0.0, began_s + part.n_words * word_s - time.monotonic()))
            now_s = time.monotonic()
            self.session.send(FeedWords((FedWord(word, committed_at_s=now_s),)))
            if not part.n_words % round(60 / word_s):
                part.resident.append(resident_mib())
            part.n_words += 1
        self.session.send(EndPassage())
        self.session.send(Flush(seed))
        self.wait_for(Flushed, number=seed)
        part.busy_s = time.process_time() - worked_s
        part.resident.append(resident_mib())
        return part


def percentiles(values: Sequence[float]) -> str:
    cuts = statistics.quantiles(values, n=100)
    return f"{cuts[49]:.0f} / {cuts[94]:.0f} / {cuts[98]:.0f}"


def faults_of_files(cues: Sequence[Cue], journal: Path, code: str, folder: Path) -> list[str]:
    """Name the files that lack a caption of a cue in either language."""
    kept = {_texts(cue) for cue in read_session(journal).cues}
    faults = [] if kept >= {_texts(cue) for cue in cues} else [journal.name]
    for form in FORMS:
        for content in ("captions", code):
            path = folder / f"{content}.{form}"
            export(path, cues, form, content)
            text, at = path.read_text(encoding="utf-8"), 0
            captions = [cue.text if content == "captions" else cue.further[0].text for cue in cues]
            for word in " ".join(captions).split():  # between the times of subtitles
                at = text.find(word.replace('"', '\\"') if form == "jsonl" else word, at)
                if at < 0:
                    faults.append(path.name)
                    break
                at += 0 if form == "jsonl" else len(word)
    return faults


def _texts(cue: Cue) -> tuple[object, ...]:
    return cue.source, cue.text, tuple((one.language, one.text) for one in cue.further)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, default=bundled_models()[0], metavar="DIR")
    parser.add_argument("--second", type=Path, metavar="DIR", help="(the same model once more)")
    parser.add_argument("--to", default="de", metavar="LANG", help="(%(default)s)")
    parser.add_argument("--second-to", default="de", metavar="LANG", help="(%(default)s)")
    parser.add_argument("--minutes", type=float, default=30.0, help="(%(default)s)")
    parser.add_argument("--alone-minutes", type=float, default=5.0, help="(%(default)s)")
    parser.add_argument("--word-s", type=float, default=0.4, metavar="S", help="(%(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measure(arguments, Path(name))


def measure(arguments: argparse.Namespace, folder: Path) -> None:
    code, is_one = arguments.second_to, arguments.second is None
    one = Talk(arguments.model, arguments.to, folder / "sessions")
    alone = one.say(60 * arguments.alone_minutes, arguments.word_s, seed=1)
    n_alone = len(one.record.cues)
    second = ModelSettings(directory=arguments.second or arguments.model, is_second=True)
    one.record.further = (code,)
    one.session.send(UseLanguages((FurtherLanguage(code, second),)))
    one.wait_for(LanguagesChanged, languages=(code,))
    both = one.say(60 * arguments.minutes, arguments.word_s, seed=2)
    one.session.stop(PATIENCE_S)
    one.journal.close()
    cues = one.record.cues
    said = cues[n_alone:]
    lacking = [cue for cue in said if not cue.text or not cue.further or not cue.further[0].text]
    other = [cue for cue in said if is_one and cue.further and cue.further[0].text != cue.text]
    n_said = sum(len(cue.source.split()) for cue in said)
    whole = [cue for cue in said if cue not in lacking]
    assert one.journal.path is not None
    faults = faults_of_files(whole, one.journal.path, code, folder)
    cells = {
        "date": date.today().isoformat(),
        "machine": f"{os.cpu_count()} x {platform.machine()}, one run",
        "minutes: alone / both": f"{arguments.alone_minutes:g} / {arguments.minutes:g}",
        "words": f"{alone.n_words} / {both.n_words}",
        "lag ms, p50 / p95 / p99: alone": percentiles(alone.lags_ms[FIRST]),
        "beside the second": percentiles(both.lags_ms[FIRST]),
        "the second": percentiles(both.lags_ms[code]),
        "processor, ms a word: alone / both": f"{alone.busy_ms:.0f} / {both.busy_ms:.0f}",
        "MiB: alone / both": f"{alone.resident[-1]:.0f} / {both.resident[-1]:.0f}",
        "growth MiB, after a minute": f"{max(both.resident[1:]) - both.resident[1]:.1f}",
        "sentences": len(said),
        "words lost": both.n_words - n_said,
        "without a caption": len(lacking),
        "other captions": len(other) if is_one else "",
        "faulty files": ", ".join(faults) or 0,
    }
    for row in (cells, ["---"] * len(cells), cells.values()):
        print(f"| {' | '.join(map(str, row))} |")


if __name__ == "__main__":
    main()
