"""Write a run as simulstream 1.0.0 logs runs, so that its scorers and OmniSTEval can score it.

Text has no clock, so one is assumed: each source word lasts ``word_ms``. The folder gets

* ``metrics.jsonl``: for each recording (a line of a test set, or a talk) an object with its name,
  then an object for each source word: ``total_audio_processed`` (s) when it had arrived, the
  ``computation_time`` (s) after it, the ``generated_tokens`` that were committed then.
* ``segments.yaml``, ``reference.txt``: times of the segments on that clock (s), and their texts.
* ``eval.yaml``: how tokens make text. A token is a target unit: a word, or, in a script without
  blanks, a character with the blanks before it; simulstream counts those blanks as characters of
  their own.

``deleted_tokens`` is always empty: the run folder has the final text, and the number of units that
were taken away again, but not the units.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

from engine.metrics.real_time import WORD_MS
from engine.metrics.units import is_spaced
from training.data.corpus import write_lines
from training.errors import TrainingError
from training.evaluation.run_record import read_record


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A line of a test set or a talk, which simulstream treats as an audio file.

    Attributes:
        translation: its text.
        delays: for each target unit, source words that had arrived when it was committed.
        ms: for each source word, milliseconds of computing after it arrived.
        lengths: source words of each segment.
        references: text of each segment.
    """

    translation: str
    delays: tuple[int, ...]
    ms: tuple[float, ...]
    lengths: tuple[int, ...]
    references: tuple[str, ...]


def convert_run(run: Path, policy: str, folder: Path) -> None:
    """Write the translations of a run of ``evaluate`` or ``long-form`` under a policy.

    Arguments as for ``write_simulstream_log``.

    Raises:
        CorpusError: a file cannot be written.
        TrainingError: the run has no such policy, or cannot be read.
    """
    language = read_record(run).language
    write_simulstream_log(folder, read_recordings(run, policy), language)


def read_recordings(run: Path, policy: str) -> list[Recording]:
    """Read the translations of a policy from a run folder."""
    path = run / f"{policy}.jsonl"
    try:
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        return [
            Recording(
                translation=row["hypothesis"],
                delays=tuple(row["delays"]),
                ms=tuple(row["ms"]),
                # a line of a test set is its own only segment
                lengths=tuple(row["lengths"]) if "lengths" in row else (len(row["source"]),),
                references=tuple(row["references"] if "references" in row else [row["reference"]]),
            )
            for row in map(json.loads, lines)
        ]
    except FileNotFoundError as error:
        msg = f"{path} is missing: name a policy that was run, and let the run finish"
        raise TrainingError(msg) from error
    except (OSError, ValueError, TypeError, KeyError) as error:
        msg = f"{path} cannot be read ({error}): run again into another folder"
        raise TrainingError(msg) from error


def write_simulstream_log(
    folder: Path, recordings: Sequence[Recording], language: str, word_ms: float = WORD_MS
) -> None:
    """Write the four files.

    Args:
        folder: created if missing.
        recordings: in the order of the references.
        language: two-letter code of the target.
        word_ms: assumed milliseconds of a source word.
    """
    word_s = word_ms / 1000
    named = [(f"{number:06d}", one) for number, one in enumerate(recordings, start=1)]
    spaced = is_spaced(language)
    events = (event for name, one in named for event in _events(name, one, word_s, spaced=spaced))
    segments = (segment for name, one in named for segment in _segments(name, one, word_s))
    references = (text for one in recordings for text in one.references)
    unit = "word" if spaced else "char"
    write_lines(folder / "metrics.jsonl", map(_json, events))
    write_lines(folder / "segments.yaml", (f"- {_json(segment)}" for segment in segments))
    write_lines(folder / "reference.txt", references)
    write_lines(folder / "eval.yaml", ["detokenizer_type: simuleval", f"latency_unit: {unit}"])


def _events(
    name: str, recording: Recording, word_s: float, *, spaced: bool
) -> Iterator[dict[str, object]]:
    """Yield the objects of one recording; at least one step, even without source words."""
    yield {"id": int(name), "metadata": {"wav_name": f"{name}.wav"}}
    tokens = (
        recording.translation.split() if spaced else re.findall(r"\s*\S", recording.translation)
    )
    timed = list(zip(recording.delays, tokens, strict=True))
    steps = list(enumerate(recording.ms, start=1)) or [(0, 0.0)]
    for n_words, ms in steps:
        yield {
            "id": int(name),
            "total_audio_processed": _seconds(n_words * word_s),
            "computation_time": _seconds(ms / 1000),
            "generated_tokens": [token for delay, token in timed if delay == n_words],
            "deleted_tokens": [],
        }


def _segments(name: str, recording: Recording, word_s: float) -> Iterator[dict[str, object]]:
    ends = (_seconds(n * word_s) for n in accumulate(recording.lengths, initial=0))
    for start, end in pairwise(ends):
        # The difference is not rounded: simulstream subtracts the same numbers and compares them
        # to find whether a word came before the segment's end or with it.
        yield {"wav": f"{name}.wav", "offset": start, "duration": end - start}


def _seconds(value: float) -> float:
    return round(value, 6)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
