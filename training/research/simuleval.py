"""SimulEval beside our own evaluation: it drives our engine, and it scores our runs (``convert``).

``simuleval_agent.py`` is what SimulEval starts; this file needs nothing of SimulEval.

``convert`` writes a run as SimulEval 1.1.4 logs one, so that ``simuleval --score-only`` can score
it, and OmniSTEval too: ``instances.log``, a JSON object for each source line or talk, and
``config.yaml``, which declares both sides as text. ``elapsed`` follows SimulEval's convention for
speech, in source words (``engine.metrics.latency.simuleval_delays``): SimulEval itself times no
text. When it reads a log, SimulEval ignores that it is of text and computes ATD as for speech.
"""

import argparse
import json
import re
from pathlib import Path

from engine.metrics.latency import simuleval_delays
from engine.text.sentences import Sentence, word_parts
from engine.translation.captioner import Captioned  # noqa: TC001  of an attribute
from engine.translation.conversation import Conversation
from engine.translation.feed import changes
from training.data.corpus import write_lines
from training.errors import UsageError
from training.evaluation.runs import read_run

_NEWEST_WORD = re.compile(r"\S*\Z")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "convert",
        help="write a run in the format of SimulEval",
        description="Write a run so that the scorers of another program can score it.",
    )
    add = parser.add_argument
    add("--run", dest="folder", type=Path, required=True, metavar="DIR")
    add("--policy", required=True, metavar="P", help="of the run, e.g. read:3")
    add("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the two files; files of the same names are replaced."""
    policies, policy, folder = read_run(arguments.folder).policies, arguments.policy, arguments.out
    if policy not in policies:
        known = ", ".join(policies)
        msg = f"{arguments.folder} holds no run of {policy!r}: choose one of {known}"
        raise UsageError(msg)
    write_lines(folder / "config.yaml", ["source_type: text", "target_type: text"])
    rows = (
        {
            "index": own.index,
            "prediction": own.hypothesis,
            "delays": own.delays,
            "elapsed": [round(value, 6) for value in simuleval_delays(own)],
            "prediction_length": len(own.delays),
            "reference": sentence.reference,
            "source": " ".join(own.source),
            "source_length": len(own.source),
        }
        for sentence in policies[policy].sentences
        for own in (sentence.translation,)
    )
    write_lines(folder / "instances.log", (json.dumps(row, ensure_ascii=False) for row in rows))
    return 0


class WholeWords:
    """Hold back the newest word of a growing text until the next word begins or the text ends.

    The end of a write does not complete a word: after more source words the model may extend it by
    its other half, a comma, a hyphen.

    Invariant: everything ``feed`` returned, followed by ``flush``, is the text that was fed. No
    returned text ends within a word.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        """Take text; return the words that became whole, often none."""
        text = self._held + text
        newest = _NEWEST_WORD.search(text)
        assert newest is not None  # it may be empty
        self._held = newest.group()
        return text[: newest.start()]

    def flush(self) -> str:
        """Return the rest and start a new text."""
        left, self._held = self._held, ""
        return left


class WordByWord:
    """Feed a system as ``engine.translation.feed`` does, without knowing the words to come.

    Invariant: the texts that ``feed`` returned for the words of a line, joined, are its caption.
    Text is returned at once, though it may end within a word (see ``WholeWords``).

    One thing differs: a line over the engine's limits becomes several utterances.
    ``engine.translation.feed``, which knows the whole line, cuts it at sentence ends; here it is
    cut before the first word over the limit.
    """

    def __init__(self, system: Conversation) -> None:
        self._system = system
        self.reset()

    def reset(self) -> None:
        """Forget the line, whether it has ended or not."""
        self._utterance: Captioned | None = None
        self._words: list[str] = []  # of the utterance

    def feed(self, word: str, *, ended: bool) -> str:
        """Take a word without blanks; return what it adds to the caption, often nothing.

        After the end of a line the next word begins a new one.
        """
        parts = word_parts(word)
        text = "".join(self._feed_part(part) for part in parts[:-1])
        text += self._feed_part(parts[-1], ended=ended)
        if ended:
            self.reset()
        return text

    def _feed_part(self, part: str, *, ended: bool = False) -> str:
        text = ""
        if self._words and self._is_full(part):
            text = self._advance(ended=True) + " "
            self.reset()
        self._words.append(part)
        return text + self._advance(ended=ended)

    def _advance(self, *, ended: bool) -> str:
        if self._utterance is None:
            self._utterance = self._system.open()
        self._utterance.set_source(Sentence(tuple(self._words), ended=ended))
        return "".join(change.text for change in changes(self._utterance))

    def _is_full(self, part: str) -> bool:
        limits = self._system.settings.limits
        n_bytes = sum(len(word.encode()) + 1 for word in [*self._words, part])
        return len(self._words) == limits.max_words or n_bytes > limits.max_bytes
