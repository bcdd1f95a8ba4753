"""Make pairs of spontaneous speech, and pairs with facts that must be copied.

Read prepared pairs and write new ones. The corpus of a new pair is its kind, by which a run can
weight it:

* ``names``: a name that both sides share is replaced by another, in both;
* ``numbers``: numbers that both sides share are replaced, each side in its own notation;
* ``recogniser``: the source in lower case without punctuation, as some recognisers emit it;
* ``disfluent``: the source with hesitations, repeated words and false starts;
* ``joined``: two or three short sentences of a corpus as one line, some with *and*, *but*, *or*;
* ``nouns``: a noun that the lexicon knows is replaced by another of its gender, in both;
* ``lexicon``: words of a lexicon in short sentences, of which the pairs have few. German alone has
  the grammar for it so far: which forms an article and a noun take in a sentence;
* ``phrases``: sentences of the folder ``phrases`` with numbers, dates, prices, names and addresses;
* ``contrasts``: sentences of it that differ in one choice: grew or fell, before or after, not;
* ``sense``: what small models turn into its opposite or take by the letter: obligation and
  disagreement, short replies, idioms and phrasal verbs of meetings, false friends.
"""

import random
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.data.corpus import SentencePair, read_lines, read_pairs, write_pairs
from training.data.invented_facts import any_name, grammar_of, in_notation, invent, whole_number
from training.errors import UsageError

_ARTICLES = {"der": "m", "die": "f", "das": "n"}
_WEAK = ("ent", "ant", "ist", "oge", "and", "at", "e")
"""Endings of masculine nouns that add -n or -en in every case but the first."""

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


PHRASES = Path(__file__).with_name("phrases")

_EDGES = ".,;:!?¿¡…\"'“”„‚‘’«»()[]"
_HESITATIONS = ("uh,", "um,", "er,", "well,", "you know,", "I mean,", "like,", "so,", "uh", "um")
_FIELD = re.compile(r"\{(\w+)\}")
_CHOICE = re.compile(r"<(\w):([^>]*)>")
_FILES = {
    "phrases": ("meeting",),
    "contrasts": ("contrasts",),
    "sense": (
        "obligation",
        "disagreement",
        "replies",
        "idioms",
        "phrasal-verbs",
        "false-friends",
    ),
}

Change = Callable[[SentencePair, random.Random], SentencePair | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AugmentSettings:
    """One run of ``surtitle-train augment``.

    Attributes:
        source: prepared pairs, TSV.
        out: TSV of the new pairs alone.
        language: of the targets.
        shares: by kind, the share of the suitable pairs that are changed; ``phrases``,
            ``contrasts`` and ``sense`` are numbers of sentences for each phrase, ``lexicon`` for
            each word.
        lexicon: English, target, part of speech and origin, TSV; None for none.
    """

    source: Path
    out: Path
    language: str
    shares: dict[str, float]
    seed: int = 1
    lexicon: Path | None = None


SHARES = {
    "names": 0.5, "numbers": 1.0, "recogniser": 0.15, "disfluent": 0.1, "joined": 0.1,
    "nouns": 0.1, "lexicon": 3.0, "phrases": 200.0, "contrasts": 400.0,
    "sense": 8.0,
}  # fmt: skip


def augment(settings: AugmentSettings) -> Counter[str]:
    """Make the pairs and write them; equal seeds make equal pairs.

    Returns:
        number of pairs of each kind.
    """
    counts = Counter[str]()

    def counted() -> Iterator[SentencePair]:
        for pair in _pairs(settings):
            counts[pair.corpus] += 1
            yield pair

    write_pairs(settings.out, counted())
    return counts


def _pairs(settings: AugmentSettings) -> Iterator[SentencePair]:
    entries = read_lexicon(settings.lexicon) if settings.lexicon is not None else []
    yield from _changed(settings, entries)
    rng = random.Random(f"{settings.seed} lexicon")
    yield from in_sentences(entries, round(settings.shares["lexicon"]), rng)
    for kind in _FILES:
        if settings.shares[kind]:
            yield from _filled_phrases(settings, kind)


def _changed(settings: AugmentSettings, entries: Sequence[Entry]) -> Iterator[SentencePair]:
    last = deque[SentencePair](maxlen=2)
    changes: dict[str, Change] = {
        "names": lambda pair, rng: swap_names(pair, settings.language, rng),
        "numbers": lambda pair, rng: swap_numbers(pair, settings.language, rng),
        "recogniser": as_recognised,
        "disfluent": hesitate,
        "nouns": NounSwap(entries),
        "joined": lambda pair, rng: join([*last, pair], settings.language, rng),
    }
    for index, pair in enumerate(read_pairs([settings.source])):
        for kind, change in changes.items():
            rng = random.Random(f"{settings.seed} {kind} {index}")
            if rng.random() < settings.shares[kind]:
                changed = change(pair, rng)
                if changed is not None:
                    yield SentencePair(changed.source, changed.target, kind)
        last.append(pair)


def _filled_phrases(settings: AugmentSettings, kind: str) -> Iterator[SentencePair]:
    paths = [PHRASES / f"{name}.en-{settings.language}.tsv" for name in _FILES[kind]]
    if not all(path.is_file() for path in paths):
        msg = f"there are no {kind} in {settings.language!r}: give --share {kind}=0"
        raise UsageError(msg)
    phrases = (phrase for path in paths for phrase in read_pairs([path]))
    for index, phrase in enumerate(phrases):
        for turn in range(round(settings.shares[kind])):
            rng = random.Random(f"{settings.seed} {kind.removesuffix('s')} {index} {turn}")
            filled = fill(choose(phrase, rng), settings.language, rng)
            yield SentencePair(filled.source, filled.target, kind)


def choose(phrase: SentencePair, rng: random.Random) -> SentencePair:
    """Settle the choices of a phrase, ``<v:grew|fell>``: those of a letter alike on both sides."""
    chosen = dict[str, tuple[int, int]]()
    for letter, alternatives in _CHOICE.findall(phrase.source):
        n = alternatives.count("|") + 1
        chosen[letter] = (rng.randrange(n), n)

    def settled(found: re.Match[str]) -> str:
        alternatives = found[2].split("|")
        index, n = chosen[found[1]]
        if len(alternatives) != n:
            msg = f"expected {n} alternatives as in the source, got {found[0]!r}"
            raise ValueError(msg)
        return alternatives[index]

    source, target = (_CHOICE.sub(settled, text) for text in (phrase.source, phrase.target))
    return SentencePair(source, target[:1].upper() + target[1:], phrase.corpus)


def join(pairs: Sequence[SentencePair], language: str, rng: random.Random) -> SentencePair | None:
    """Join the last two or three pairs to one line; None if they are long or of several corpora.

    It teaches that both halves of what is said are translated. Some are joined by a conjunction.
    """
    group = pairs[-3:] if rng.random() < 0.25 else pairs[-2:]
    if len(group) < 2 or not all(_joins(one, group[0].corpus) for one in group):
        return None
    if len(group) == 2 and rng.random() < 0.5:
        return _by_conjunction(group[0], group[1], language, rng)
    source, target = (" ".join(texts) for texts in zip(*map(_sides, group), strict=True))
    return SentencePair(source, target, group[0].corpus)


def _sides(pair: SentencePair) -> tuple[str, str]:
    return pair.source, pair.target


def _joins(pair: SentencePair, corpus: str) -> bool:
    ends = pair.source[-1] in ".!?" and pair.target[-1] in ".!?"
    return ends and pair.corpus == corpus and len(pair.source.split()) <= 14


def _by_conjunction(
    first: SentencePair, second: SentencePair, language: str, rng: random.Random
) -> SentencePair | None:
    """Join two statements; None if the second may not lose its capital, or a side is a question.

    The conjunctions leave the order of words as it is.
    """
    grammar = grammar_of(language)
    begins = grammar_of("en").may_be_small(second.source) and grammar.may_be_small(second.target)
    ends = all(text[-1] == "." for one in (first, second) for text in _sides(one))
    if not (begins and ends and grammar.conjunctions):
        return None
    english, other = rng.choice(grammar.conjunctions)
    clause = second.source if second.source.startswith("I ") else _small(second.source)
    return SentencePair(
        f"{first.source[:-1]}, {english} {clause}",
        grammar.fit(f"{first.target[:-1]}, {other} {_small(second.target)}"),
        first.corpus,
    )


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]


def fill(phrase: SentencePair, language: str, rng: random.Random) -> SentencePair:
    """Fill the fields of a phrase with invented facts, each side in its own notation.

    Fields of equal name hold the same fact on both sides; ``price2`` is a second price.
    """
    facts = {name: invent(name.rstrip("2"), rng) for name in _FIELD.findall(phrase.source)}

    def side(text: str, notation: str) -> str:
        return _FIELD.sub(lambda field: in_notation(facts[field[1]], notation), text)

    target = grammar_of(language).fit(side(phrase.target, language))
    return SentencePair(side(phrase.source, "en"), target, "phrases")


def swap_names(pair: SentencePair, language: str, rng: random.Random) -> SentencePair | None:
    """Replace a name that both sides share; return None if they share none.

    A name is a capitalised word of letters, not the first of the source, that both sides have
    equally often.
    """
    grammar = grammar_of(language)
    source, target = pair.source.split(), grammar.loosen(pair.target).split()
    n_source, n_target = Counter(map(_bare, source)), Counter(map(_bare, target))
    shared = [
        word
        for word in dict.fromkeys(map(_bare, source[1:]))
        if word.isalpha() and word.istitle() and len(word) > 2 and n_source[word] == n_target[word]
    ]
    if not shared:
        return None
    name = rng.choice(shared)
    new = any_name(rng, instead_of=name)
    while in_notation(new, language) != new:  # a city with another name; it may stand for a person
        new = any_name(rng, instead_of=name)
    named = grammar.fit(_replaced(target, name, new))
    return SentencePair(_replaced(source, name, new), named, pair.corpus)


def swap_numbers(pair: SentencePair, language: str, rng: random.Random) -> SentencePair | None:
    """Replace each whole number that both sides share; return None if they share none.

    A 1 stays, since nouns agree with it. Most numbers keep their number of digits, those of four
    digits always; longer ones are grouped, in the notation of each side.
    """
    source, target = pair.source.split(), pair.target.split()
    n_source, n_target = Counter(map(_bare, source)), Counter(map(_bare, target))
    shared = [
        word
        for word in n_source
        if word.isdecimal() and word != "1" and n_source[word] == n_target[word]
    ]
    if not shared:
        return None
    for number in shared:
        kept = len(number) == 4 or rng.random() < 0.7  # four digits are years, mostly
        n_digits = len(number) if kept else rng.randint(1, 6)
        fact = whole_number(rng, n_digits, grouped=n_digits > 4)
        source = _replaced(source, number, in_notation(fact, "en")).split()
        target = _replaced(target, number, in_notation(fact, language)).split()
    fitted = grammar_of(language).fit(" ".join(target))
    return SentencePair(" ".join(source), fitted, pair.corpus)


def as_recognised(pair: SentencePair, rng: random.Random) -> SentencePair | None:
    """Lower the source and strip its punctuation; return None if a word would be lost.

    Every fifth source keeps its capitals, as some recognisers do.
    """
    words = [word.strip(_EDGES + "-–—") for word in pair.source.split()]
    if not all(words) or len(words) < 3:
        return None
    text = " ".join(words)
    return SentencePair(text if rng.random() < 0.2 else text.lower(), pair.target, pair.corpus)


def hesitate(pair: SentencePair, rng: random.Random) -> SentencePair | None:
    """Insert one or two hesitations, repetitions or false starts into the source."""
    words = pair.source.split()
    if len(words) < 4:
        return None
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(words))
        kind = rng.random()
        if kind < 0.5:
            words[at:at] = _hesitation(words, at, rng)
        elif kind < 0.8:
            words[at:at] = [words[at].rstrip(_EDGES)]
        else:
            at = min(at, len(words) - 2)
            first, second = (word.rstrip(_EDGES) for word in words[at : at + 2])
            words[at:at] = [first, second + ","]
    return SentencePair(" ".join(words), pair.target, pair.corpus)


def _hesitation(words: list[str], at: int, rng: random.Random) -> list[str]:
    """Draw a hesitation; at the beginning it takes the capital of the next word."""
    added = rng.choice(_HESITATIONS).split()
    if at == 0 and words[0][:1].isupper():
        added[0] = added[0].capitalize()
        if words[0] not in ("I", "I'm", "I'll", "I've", "I'd"):
            words[0] = words[0][:1].lower() + words[0][1:]
    return added


def _bare(word: str) -> str:
    return word.strip(_EDGES)


def _replaced(words: Sequence[str], old: str, new: str) -> str:
    return " ".join(word.replace(old, new, 1) if _bare(word) == old else word for word in words)
