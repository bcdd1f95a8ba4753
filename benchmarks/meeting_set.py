"""Score what people say in meetings: BLEU, numbers that came through, names that were kept.

``meetings/en-LANGUAGE.tsv`` hold English, German, French or Spanish, and the names of each
sentence, all our own; no training data may hold them (``surtitle-train prepare --held-out``).
"""

import argparse
import json
import re
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.metrics.quality import make_bleu
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.text import sentences as source_text
from engine.translation.feed import feed_sentence
from engine.translation.slot_translator import Translator

SETS = {it.stem.removeprefix("en-"): it for it in Path(__file__).parent.glob("meetings/en-*.tsv")}
_NUMBER = re.compile(r"\d(?:[\d.,:]*\d)?(?: \d{3}(?!\d))*")  # French parts thousands by a space
_NO_BREAK = str.maketrans("\u00a0\u202f", "  ")


@dataclass(frozen=True)
class Sentence:
    source: str
    reference: str
    names: tuple[str, ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        return numbers_in(self.reference)


@dataclass(frozen=True)
class Score:
    policy: str
    bleu: float
    numbers_right: float
    names_kept: float
    sentences: int


def numbers_in(text: str) -> tuple[str, ...]:
    return tuple(_NUMBER.findall(text.translate(_NO_BREAK)))


def read_set(language: str = "de") -> list[Sentence]:
    sentences = []
    for line in SETS[language].read_text("utf-8").splitlines():
        source, reference, names = line.split("\t")
        sentences.append(Sentence(source, reference, tuple(filter(None, names.split(",")))))
    return sentences


def translate(translator: Translator, source: str) -> str:
    """Feed a sentence word by word; return its caption."""
    text = ""
    words = source_text.Sentence(tuple(source.split()), ended=True)
    for changes in feed_sentence(translator.open(), words):
        for change in changes:
            text = text[: change.kept] + change.text
    return text.strip()


def numbers_right(sentence: Sentence, caption: str) -> bool:
    """Whether the caption has exactly the numbers of the reference, in the target's notation."""
    return sorted(numbers_in(caption)) == sorted(sentence.numbers)


def score(policy: str, sentences: list[Sentence], captions: list[str], to: str = "de") -> Score:
    pairs = list(zip(sentences, captions, strict=True))
    right = [numbers_right(one, caption) for one, caption in pairs if one.numbers]
    kept = [name in caption for one, caption in pairs for name in one.names]
    bleu = make_bleu(to).corpus_score(captions, [[one.reference for one in sentences]])
    return Score(
        policy,
        round(bleu.score, 1),
        round(100 * sum(right) / len(right), 1),
        round(100 * sum(kept) / len(kept), 1),
        len(sentences),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=Path("assets/models/surtitle-en-de"))
    parser.add_argument("--adapter", type=Path, help="(the bare model)")
    parser.add_argument("--to", choices=sorted(SETS), default="de", help="target language (de)")
    parser.add_argument("--policies", default="read:1,read:2,read:3,read:5,wait:3,wait:5,offline")
    parser.add_argument("--every", type=int, default=0, help="show every n-th caption, unpicked")
    parser.add_argument("--out", type=Path, help="scores and captions as JSON")
    arguments = parser.parse_args()
    sentences = read_set(arguments.to)
    model = ModelSettings(directory=arguments.model, adapter=arguments.adapter, device="cpu")
    weights = load_weights(model)
    results = []
    print("| policy | BLEU | numbers right, % | names kept, % | sentences |\n|---|---|---|---|---|")
    for policy in arguments.policies.split(","):
        translator = Translator(
            weights, TranslationSettings(policy=policy, target_language=arguments.to)
        )
        captions = [translate(translator, one.source) for one in sentences]
        scored = score(policy, sentences, captions, arguments.to)
        print("|", " | ".join(map(str, asdict(scored).values())), "|")
        sys.stdout.flush()
        results.append({**asdict(scored), "captions": captions})
        if arguments.every:
            for one, caption in list(zip(sentences, captions, strict=True))[:: arguments.every]:
                print(f"    {one.source}\n    -> {caption}")
    if arguments.out:
        arguments.out.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
