"""Count the numbers that come out right.

python -m benchmarks.quantities --to de fr es
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from benchmarks.faithfulness import caption_of
from benchmarks.quantities.sentences import N_SENTENCES, SEED, drawn
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.slot_translator import Translator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", nargs="+", default=["de", "fr", "es"])
    parser.add_argument("--models", type=Path, default=Path("assets/models"))
    parser.add_argument("--policy", default="read:3")
    parser.add_argument("--sentences", type=int, default=N_SENTENCES)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--out", type=Path, help="each sentence as JSON")
    arguments = parser.parse_args()
    rows = []
    for to in arguments.to:
        model = ModelSettings(directory=arguments.models / f"surtitle-en-{to}", device="cpu")
        settings = TranslationSettings(target_language=to, policy=arguments.policy)
        translator = Translator(load_weights(model), settings)
        right, of = Counter[str](), Counter[str]()
        for one in drawn(to, arguments.sentences, arguments.seed):
            caption = caption_of(translator, one.source)
            is_right = one.is_right(caption)
            right[one.kind] += is_right
            of[one.kind] += 1
            rows.append({"to": to, "kind": one.kind, "source": one.source, "caption": caption,
                         "right": is_right})  # fmt: skip
            if not is_right:
                print(f"{to} {one.kind}: {one.source} -> {caption}", flush=True)
        shares = ", ".join(f"{kind} {right[kind]}/{n}" for kind, n in of.items())
        print(f"{to}: {sum(right.values())} of {sum(of.values())} right ({shares})", flush=True)
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
