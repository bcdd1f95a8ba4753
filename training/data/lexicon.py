"""A bilingual lexicon: its words in short sentences, and its nouns in place of others in real ones.

So that words are known of which the pairs have few. German alone has the grammar for it so far:
which forms an article and a noun take in a sentence.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.data.corpus import SentencePair, read_lines

_ARTICLES = {"der": "m", "die": "f", "das": "n"}
_WEAK = ("ent", "ant", "ist", "oge", "and", "at", "e")
"""Endings of masculine nouns that add -n or -en in every case but the first."""

_EDGES = ".,;:!?…\"'“”„()[]"

_FORMS = {  # by gender: nominative, accusative, dative of "the"; "a new" in the accusative; "my"
    "m": ("Der", "den", "dem", "einen neuen", "Mein"),
    "f": ("Die", "die", "der", "eine neue", "Meine"),
    "n": ("Das", "das", "dem", "ein neues", "Mein"),
}
_NOUNS = (
    ("The {n} is very important.", "{the} {N} ist sehr wichtig."),
    ("Where is the {n}?", "Wo ist {the_low} {N}?"),
    ("The {n} was better last year.", "{the} {N} war letztes Jahr besser."),
    ("We need a new {n}.", "Wir brauchen {new} {NA}."),
    ("I have seen the {n}.", "Ich habe {acc} {NA} gesehen."),
    ("Please tell me more about the {n}.", "Bitte erzählen Sie mir mehr über {acc} {NA}."),
    ("What should we do with the {n}?", "Was sollen wir mit {dat} {ND} machen?"),
    ("There is a problem with the {n}.", "Es gibt ein Problem mit {dat} {ND}."),
    ("My {n} is not here.", "{my} {N} ist nicht hier."),
    ("Without the {n} it does not work.", "Ohne {acc} {NA} geht es nicht."),
    ("The word on this slide is {n}.", "Das Wort auf dieser Folie ist {N}."),
)
_VERBS = (
    ("I want to {n}.", "Ich will {N}."),
    ("We do not have to {n}.", "Wir müssen nicht {N}."),
    ("Can you {n}?", "Kannst du {N}?"),
    ("He will {n} tomorrow.", "Er wird morgen {N}."),
)
_ADJECTIVES = (
    ("This is very {n}.", "Das ist sehr {N}."),
    ("It is not {n} enough.", "Es ist nicht {N} genug."),
    ("Why is it so {n}?", "Warum ist es so {N}?"),
    ("The result was {n}.", "Das Ergebnis war {N}."),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A word or phrase and its translation.

    Attributes:
        source: English.
        target: German, without its article.
        kind: noun, verb, adjective or adverb.
        gender: ``m``, ``f`` or ``n`` of a noun; empty of others.
        confirmed: pairs have it, too.
    """

    source: str
    target: str
    kind: str
    gender: str
    confirmed: bool

    @property
    def bends(self) -> bool:
        """Whether the noun has another form in the accusative and dative."""
        return self.gender == "m" and self.target.endswith(_WEAK)

    @property
    def bent(self) -> str:
        """Accusative and dative of the noun."""
        if not self.bends:
            return self.target
        return self.target + ("n" if self.target.endswith("e") else "en")


def read_lexicon(path: Path) -> list[Entry]:
    """Read English, German, part of speech and origin, one translation a word: the first.

    Translations that pairs confirm go before the others. Nouns without one clear gender, and those
    that are bent like adjectives (*der Angestellte*, *ein Angestellter*), are left out.
    """
    lines = (line.decode("utf-8", "replace").split("\t") for line in read_lines(path))
    rows = [row for row in lines if len(row) == 4]
    rows.sort(key=lambda row: "corpus" not in row[3])
    known = {target for _, target, kind, _ in rows if kind == "noun"}
    entries = dict[tuple[str, str], Entry]()
    for source, target, kind, origin in rows:
        article, _, noun = target.partition(" ")
        gender = _ARTICLES.get(article, "") if kind == "noun" else ""
        like_adjective = noun[-2:] == "er" and f"die {noun[:-1]}" in known
        if kind == "noun" and (not gender or like_adjective):
            continue
        entry = Entry(source, noun if gender else target, kind, gender, "corpus" in origin)
        entries.setdefault((source, kind), entry)
    return list(entries.values())


def in_sentences(
    entries: Sequence[Entry], n_confirmed: int, rng: random.Random
) -> Iterator[SentencePair]:
    """Put each word into sentences of its kind: so many if pairs confirm it, else one."""
    templates = {"noun": _NOUNS, "verb": _VERBS, "adjective": _ADJECTIVES}
    for entry in entries:
        fitting = templates.get(entry.kind, ())
        for source, target in rng.sample(
            fitting, min(len(fitting), n_confirmed if entry.confirmed else 1)
        ):
            yield SentencePair(
                source.replace("{n}", entry.source), _filled(target, entry), "lexicon"
            )


def _filled(template: str, entry: Entry) -> str:
    nominative, accusative, dative, new, my = _FORMS[entry.gender or "n"]
    forms = {
        "the": nominative, "the_low": nominative.lower(), "acc": accusative, "dat": dative,
        "new": new, "my": my, "N": entry.target, "NA": entry.bent, "ND": entry.bent,
    }  # fmt: skip
    return template.format(**forms)


class NounSwap:
    """Puts a noun of the lexicon in place of another of its gender, on both sides of a pair."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        """Take the nouns of one English word whose form is the same in three cases."""
        nouns = [
            entry
            for entry in entries
            if entry.kind == "noun" and not entry.bends and entry.source.islower()
        ]
        self._by_source = {entry.source: entry for entry in nouns if " " not in entry.source}
        self._by_gender = {
            gender: [entry for entry in nouns if entry.gender == gender and entry.confirmed]
            for gender in _ARTICLES.values()
        }

    def __call__(self, pair: SentencePair, rng: random.Random) -> SentencePair | None:
        """Swap one noun; None if no noun of the source stands in the target in its plain form."""
        source, target = pair.source.split(), pair.target.split()
        bare = [word.strip(_EDGES) for word in target]
        found = [
            (at, entry)
            for at, word in enumerate(source)
            if (entry := self._by_source.get(word.strip(_EDGES))) is not None
            and bare.count(entry.target) == 1
        ]
        if not found:
            return None
        at, entry = rng.choice(found)
        new = rng.choice(self._by_gender[entry.gender])
        source[at] = source[at].replace(entry.source, new.source, 1)
        if at and source[at - 1].lower() in ("a", "an"):
            article = "an" if new.source[0] in "aeio" else "a"
            source[at - 1] = article.capitalize() if source[at - 1][0] == "A" else article
        there = bare.index(entry.target)
        target[there] = target[there].replace(entry.target, new.target, 1)
        return SentencePair(" ".join(source), " ".join(target), pair.corpus)
