"""Write the pairs that the runs of ``pretrain`` have never drawn, though their corpus was in them.

    python -m benchmarks.training.unseen_pairs --data all.aligned.tsv --tokenizer MODEL \
        --run bundled=4 --run bundled-anneal=1 --most 2500 --out unseen.aligned.tsv

A corpus of weight 0.15 gives each epoch 15 of 100 pairs, drawn anew: after five epochs 44 of 100
pairs have not been seen. The draw is that of the recipe's seed and weights. A pair is left out as
well if its English (whatever its case and punctuation) or its translation stands in a pair that was
drawn, or in one that is written already; and if it has no schedule, so that every kind of training
can use it. Every epoch that was begun counts as a whole one.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from engine.text.prompt import word_ids
from engine.text.tokenizer import read_plain_tokenizer
from training.commands.recipe import read_recipe
from training.data.aligned_pairs import AlignedPair, read_aligned
from training.data.corpus import create, replacing
from training.trainer.samples.stream import epoch_order

RECIPES = Path(__file__).parents[2] / "training" / "trainer" / "pretraining" / "recipes"
AROUND = 6
"""Rows of a sample beside those of source and target, for a prompt as the bundled model's."""


def main(argv: Sequence[str] | None = None) -> None:
    """Replay the draws, choose, write, and print how many pairs of each corpus were left."""
    arguments = parse(argv)
    pairs = list(read_aligned([arguments.data]))
    seen: set[int] = set()
    for named in arguments.run:
        name, _, n_epochs = named.partition("=")
        recipe = read_recipe(name, RECIPES)
        known = short_enough(pairs, arguments.tokenizer, recipe["max_length"] - AROUND)
        seed = recipe["optimisation"]["seed"]
        for epoch in range(int(n_epochs)):
            rng = random.Random(f"{seed} epoch {epoch}")  # as ``Stream`` of padded steps has it
            order = epoch_order([pairs[at].pair for at in known], recipe["weights"], rng)
            seen.update(known[index] for index in order)
    chosen = choose(pairs, seen, arguments)
    with replacing(arguments.out) as fresh, create(fresh) as file:
        file.writelines(one.as_line().encode() for one in chosen)
    for corpus, n in Counter(one.pair.corpus for one in chosen).most_common():
        print(f"{n:7,} {corpus}")
    print(f"{len(chosen):7,} of {len(pairs):,}; {len(pairs) - len(seen):,} were never drawn")


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Find pairs that a model has not been trained on.")
    parser.add_argument("--data", type=Path, required=True, metavar="F.tsv", help="of those runs")
    parser.add_argument("--tokenizer", type=Path, required=True, metavar="DIR", help="model folder")
    parser.add_argument("--run", action="append", required=True, metavar="RECIPE=EPOCHS")
    parser.add_argument("--out", type=Path, required=True, metavar="F.tsv")
    parser.add_argument("--most", type=int, default=2500, metavar="N", help="of a corpus")
    parser.add_argument(
        "--words", type=int, nargs=2, default=(4, 20), metavar="N", help="of English"
    )
    made = ("names", "numbers", "recogniser", "disfluent", "phrases")
    parser.add_argument("--without", nargs="*", default=made, metavar="CORPUS", help="(made pairs)")
    return parser.parse_args(argv)


def short_enough(pairs: Sequence[AlignedPair], folder: Path, most: int) -> list[int]:
    """Return the indices of the pairs that a run takes, as ``tokenize`` does."""
    tokenizer = read_plain_tokenizer(folder)
    known: dict[str, int] = {}

    def n_tokens(text: str) -> int:
        for word in text.split():
            if word not in known:
                known[word] = len(word_ids(tokenizer, word))
        return sum(known[word] for word in text.split())

    return [
        at
        for at, one in enumerate(pairs)
        if n_tokens(one.pair.source) + n_tokens(one.pair.target) <= most
    ]


def choose(
    pairs: Sequence[AlignedPair], seen: set[int], arguments: argparse.Namespace
) -> list[AlignedPair]:
    """Choose unseen pairs in a random order, at most so many of a corpus."""
    taken = {text for at in seen for text in texts(pairs[at])}
    order = [at for at in range(len(pairs)) if at not in seen]
    random.Random(1).shuffle(order)
    least, most = arguments.words
    chosen, n_chosen = list[AlignedPair](), Counter[str]()
    for one in (pairs[at] for at in order):
        corpus = one.pair.corpus
        if one.needs is None or corpus in arguments.without or n_chosen[corpus] >= arguments.most:
            continue
        if not least <= len(one.pair.source.split()) <= most or taken & set(texts(one)):
            continue
        taken.update(texts(one))
        n_chosen[corpus] += 1
        chosen.append(one)
    return chosen


def texts(one: AlignedPair) -> tuple[str, str]:
    """Return what may not be seen twice: the bare words of both sides."""
    source, target = (
        " ".join(re.findall(r"[^\W_]+", text.lower()))
        for text in (one.pair.source, one.pair.target)
    )
    return f"source {source}", f"target {target}"


if __name__ == "__main__":
    main()
