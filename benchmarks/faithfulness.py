"""Count what captions say that nobody said, and what they lose: numbers, names, harmful words.

Each set is translated as it is and as a recogniser might give it (hesitations; lower case without
punctuation, mostly), with the rules of ``engine.translation.constraints`` and without.
"""

import argparse
import json
import random
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.meeting_set import SETS
from engine.metrics.quality import make_bleu
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.text.sentences import committed_words, split_sentences
from engine.text.source import heard, read_source
from engine.text.written import RUN, HarmfulWords, forms, written
from engine.translation.feed import feed_sentence
from engine.translation.slot_translator import Translator
from training.data.augmentation import as_recognised, hesitate
from training.data.corpus import SentencePair

_SEED = 1
_SHORTEST_NAME = 3
_EDGES = ".,;:!?¿¡…\"'“”„‚‘’«»()[]"
_RULES = {"both": (True, False), "on": (True,), "off": (False,)}
_FORMS = {True: "as recognised", False: "as written"}


@dataclass
class Counts:
    """What the captions of one set have; shares are of what the sources hold."""

    lines: int = 0
    with_numbers: int = 0  # lines whose source has digits
    numbers_right: int = 0  # of these, lines whose caption has all of them and no other
    numbers_invented: int = 0  # in captions of any line
    names: int = 0  # words in capitals that the reference has, too
    names_kept: int = 0
    harmful: int = 0  # captions with a harmful word that the source has no counterpart of
    bleu: float = 0.0
    seconds: float = 0.0  # of the processor, so that other programs do not count

    def take(
        self, source: str, reference: str, caption: str, harmful: HarmfulWords, to: str
    ) -> None:
        """Count one caption."""
        words = source.split()
        self.lines += 1
        invented = n_invented(words, caption, to)
        self.numbers_invented += invented
        if RUN.search(source):
            self.with_numbers += 1
            self.numbers_right += not invented and not n_lost(words, caption, to)
        names = names_of(source, reference)
        self.names += len(names)
        self.names_kept += sum(name in caption for name in names)
        self.harmful += harmful.holds(caption, harmful.barred(words))


def n_invented(words: Sequence[str], caption: str, to: str) -> int:
    """Count the numbers in digits of a caption that are no form of one of its source."""
    numbers = [forms(one, to) for one in heard(" ".join(words)).numbers]
    return written(caption, numbers).n_others


def n_lost(words: Sequence[str], caption: str, to: str) -> int:
    """Count the numbers that a source has in digits, as it is read, and its caption has not."""
    read = [one for one in read_source(words, ended=True) if re.search("[0-9]", one.text)]
    numbers = [forms(number, to) for one in read for number in one.numbers]
    return len(written(caption, numbers).left)


def names_of(source: str, reference: str) -> list[str]:
    """List the words that stand in capitals, or are addresses, on both sides."""
    there = {word.strip(_EDGES) for word in reference.split()}
    there |= {re.split("['’]", word)[-1] for word in there}  # Acme of d'Acme
    words = [word.strip(_EDGES) for word in source.split()]
    return [
        word
        for n, word in enumerate(words)
        if len(word) >= _SHORTEST_NAME and word in there and _is_name(word, is_first=n == 0)
    ]


def _is_name(word: str, *, is_first: bool) -> bool:
    if re.search(r"[@_]|://|www\.", word) or (word.isupper() and not word.isdecimal()):
        return True
    return word[:1].isupper() and not is_first


def caption_of(translator: Translator, line: str) -> str:
    """Translate a line as the terminal does: each sentence an utterance that has ended."""
    captions = []
    words = committed_words(line, finished=True)
    for sentence in split_sentences(words, translator.settings.limits, finished=True):
        utterance = translator.open()
        n_words = len(sentence.words)
        for changes in feed_sentence(utterance, sentence, first=n_words):
            for _ in changes:
                pass
        captions.append(utterance.caption.strip())
    return " ".join(captions)


def recognised(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Make lines as a recogniser might give them; lines that would lose a word are left out."""
    rng = random.Random(_SEED)
    made = []
    for source, reference in pairs:
        pair = SentencePair(source, reference, "")
        heard = as_recognised(hesitate(pair, rng) or pair, rng)
        if heard is not None:
            made.append((heard.source, reference))
    return made


def read_pairs(path: Path, to: str, limit: int | None) -> list[tuple[str, str]]:
    """Read ``en-de.en`` with its translation beside it, or a TSV."""
    if path.suffix == ".tsv":
        rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
        return [(row[0], row[1]) for row in rows[:limit]]
    sides = [one.read_text("utf-8").splitlines() for one in (path, path.with_suffix(f".{to}"))]
    return list(zip(*sides, strict=True))[:limit]


def measure(translator: Translator, pairs: Sequence[tuple[str, str]], to: str) -> Counts:
    """Translate pairs and count."""
    counts, harmful = Counts(), HarmfulWords(to)
    captions = []
    for source, reference in pairs:
        start_s = time.process_time()
        caption = caption_of(translator, source)
        counts.seconds += time.process_time() - start_s
        counts.take(source, reference, caption, harmful, to)
        captions.append(caption)
    if captions:
        counts.bleu = make_bleu(to).corpus_score(captions, [[one for _, one in pairs]]).score
    return counts


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def _row(name: str, form: str, constrained: bool, policy: str, counts: Counts) -> str:  # noqa: FBT001
    shares = (
        _share(counts.numbers_right, counts.with_numbers),
        counts.numbers_invented,
        _share(counts.names_kept, counts.names),
        counts.harmful,
        f"{counts.bleu:.1f}",
        f"{1000 * counts.seconds / max(1, counts.lines):.0f}",
    )
    told = (name, form, policy, "on" if constrained else "off", counts.lines, *shares)
    return f"| {' | '.join(map(str, told))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", type=Path, default=[SETS["de"]], metavar="en-de.en")
    parser.add_argument("--model", type=Path, default=Path("assets/models/surtitle-en-de"))
    parser.add_argument("--adapter", type=Path, help="(the bare model)")
    parser.add_argument("--to", default="de")
    parser.add_argument("--policies", default="read:3")
    parser.add_argument("--rules", default="both", choices=_RULES)
    parser.add_argument("--limit", type=int, help="lines of each set")
    parser.add_argument("--out", type=Path, help="counts as JSON")
    arguments = parser.parse_args()
    model = ModelSettings(directory=arguments.model, adapter=arguments.adapter, device="cpu")
    weights = load_weights(model)
    results = []
    print(
        "| set | lines | policy | rules | n | numbers right, % | invented | names kept, % | "
        "harmful | BLEU | ms a line |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for path in arguments.sets:
        name = path.parent.name
        pairs = read_pairs(path, arguments.to, arguments.limit)
        for is_heard, form in sorted(_FORMS.items()):
            lines = recognised(pairs) if is_heard else pairs
            for policy in arguments.policies.split(","):
                for constrained in _RULES[arguments.rules]:
                    settings = TranslationSettings(
                        target_language=arguments.to, policy=policy, constrained=constrained
                    )
                    counts = measure(Translator(weights, settings), lines, arguments.to)
                    print(_row(name, form, constrained, policy, counts), flush=True)
                    setup = {"set": name, "form": form, "policy": policy, "rules": constrained}
                    results.append(setup | asdict(counts))
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
