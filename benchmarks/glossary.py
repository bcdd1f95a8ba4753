"""Count the terms of a glossary that captions hold, and score the captions with it and without.

Of a set of sentence pairs those count whose source holds a term and whose reference holds its
translation.
"""

import argparse
import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import sacrebleu

from benchmarks.faithfulness import caption_of, read_pairs
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.text.glossary import read_glossary
from engine.text.terms import TermFinder
from engine.translation.slot_translator import Translator

Glossary = tuple[tuple[str, str], ...]

GLOSSARIES = {
    "tatoeba.dev": (
        "money Geld, house Haus, window Fenster, book Buch, room Zimmer, father Vater, "
        "school Schule, life Leben, idea Idee, week Woche, sister Schwester, problem Problem, "
        "egg Ei, door Tür, coffee Kaffee, truth Wahrheit, breakfast Frühstück, month Monat, "
        "wine Wein, station Bahnhof, machine Maschine, hospital Krankenhaus, guitar Gitarre, "
        "company Firma, world Welt, opinion Meinung, meat Fleisch, family Familie, night Nacht, "
        "game Spiel"
    ),
    "wmt20_chat.test": (
        "restaurant Restaurant, appointment Termin, pizza Pizza, order Bestellung, "
        "phone number Telefonnummer, moment Moment, reservation Reservierung, movie Film, "
        "crust Kruste, cheese Käse, ticket Ticket, minute Minute, ride Fahrt, size Größe, "
        "table Tisch, bacon Speck, address Adresse, option Option, oil change Ölwechsel, "
        "thank you Danke"
    ),
}
"""Terms that occur in a set, by the folder's name."""


def count(caption: str, text: str) -> int:
    """Count how often a translation begins a word of a caption."""
    return len(re.findall(rf"(?<!\w){re.escape(text)}", caption, re.IGNORECASE))


def chosen(pairs: Sequence[tuple[str, str]], glossary: Glossary) -> list[tuple[str, str]]:
    """Return the pairs that hold a term on both sides."""
    finder, kept = TermFinder(glossary), []
    for source, reference in pairs:
        wanted = Counter(finder.found(source.split()))
        if wanted and all(count(reference, text) >= n for text, n in wanted.items()):
            kept.append((source, reference))
    return kept


def unusual(glossary: Glossary) -> Glossary:
    """Put a word that no model knows in place of each translation; references have none of them."""
    return tuple((term, f"{text[:1]}ork{text[1:].lower()}") for term, text in glossary)


def row(
    name: str, captions: Sequence[str], pairs: Sequence[tuple[str, str]], glossary: Glossary
) -> str:
    """Return a row of the table about captions."""
    finder = TermFinder(glossary)
    n_wanted = n_there = n_more = 0
    for caption, (source, _) in zip(captions, pairs, strict=True):
        for text, n in Counter(finder.found(source.split())).items():
            n_written = count(caption, text)
            n_wanted += n
            n_there += min(n, n_written)
            n_more += max(0, n_written - n)
    references = [[reference for _, reference in pairs]]
    bleu = sacrebleu.corpus_bleu(captions, references).score
    chrf = sacrebleu.corpus_chrf(captions, references).score
    share = f"{100 * n_there / n_wanted:.1f} % of {n_wanted}"
    return f"{name} | {share} | {n_more} | {bleu:.2f} | {chrf:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path, metavar="en-de.en")
    parser.add_argument("--model", type=Path, default=Path("assets/models/surtitle-en-de"))
    parser.add_argument("--glossary", type=Path, metavar="FILE.tsv", help="else ours for the set")
    parser.add_argument("--to", default="de")
    parser.add_argument("--policy", default="read:3")
    parser.add_argument(
        "--unusual", action="store_true", help="ask for translations that no model knows"
    )
    parser.add_argument("--limit", type=int, help="lines with a term of each set")
    arguments = parser.parse_args()
    weights = load_weights(ModelSettings(directory=arguments.model, device="cpu"))
    print("| set | lines | glossary | terms there | too many | BLEU | chrF | time |")
    print("|---|---|---|---|---|---|---|---|")
    for path in arguments.sets:
        if arguments.glossary:
            glossary = read_glossary(arguments.glossary)
        else:
            pairs_of_words = GLOSSARIES[path.parent.name].split(", ")
            glossary = tuple(
                (one.rpartition(" ")[0], one.rpartition(" ")[2]) for one in pairs_of_words
            )
        pairs = chosen(read_pairs(path, arguments.to, None), glossary)[: arguments.limit]
        if arguments.unusual:
            glossary = unusual(glossary)
        first_s = 0.0
        for name, terms in (("off", ()), ("on", glossary)):
            settings = TranslationSettings(
                target_language=arguments.to, policy=arguments.policy, glossary=terms
            )
            translator = Translator(weights, settings)
            start_s = time.process_time()
            captions = [caption_of(translator, source) for source, _ in pairs]
            seconds = time.process_time() - start_s
            first_s = first_s or seconds
            told = row(name, captions, pairs, glossary)
            ratio = seconds / first_s
            print(f"| {path.parent.name} | {len(pairs)} | {told} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
