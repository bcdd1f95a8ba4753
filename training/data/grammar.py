"""The grammar of a language, as far as made pairs need it, from ``phrases/grammar.toml``."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_TABLES = tomllib.loads(
    (Path(__file__).with_name("phrases") / "grammar.toml").read_text(encoding="utf-8")
)
_FIRST = re.compile(r"[^\s'’]+['’]?")

Rules = Sequence[tuple[re.Pattern[str], str]]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Joining sentences of a language, and putting names and numbers into them.

    Attributes:
        conjunctions: English and its translation, which leave the order of words as it is.
        beginnings: words that begin a sentence and are written small within one.
        loosened: undo what the first letter of a name decides.
        fitted: write what the first letter of a name, or a number, demands.
    """

    conjunctions: Sequence[tuple[str, str]]
    beginnings: frozenset[str]
    loosened: Rules
    fitted: Rules

    def may_be_small(self, text: str) -> bool:
        """Return whether the first word of a sentence may be written small."""
        first = _FIRST.match(text)
        return first is not None and first[0].replace("’", "'") in self.beginnings

    def loosen(self, text: str) -> str:
        """Write shortened words before names in full: ``d'Anna`` becomes ``de Anna``."""
        return changed(text, self.loosened)

    def fit(self, text: str) -> str:
        """Let words agree with the names and numbers beside them: ``d'Anna``, ``1er mai``."""
        return changed(text, self.fitted)


def changed(text: str, rules: Rules) -> str:
    """Apply rules one after the other."""
    for pattern, instead in rules:
        text = pattern.sub(instead, text)
    return text


def compiled(rules: Iterable[tuple[str, str]]) -> Rules:
    """Compile rules as files hold them."""
    return tuple((re.compile(pattern), instead) for pattern, instead in rules)


def grammar_of(language: str) -> Grammar:
    """Return the grammar of a language; of one without a table, nothing is joined or changed."""
    return _GRAMMARS.get(language, _NONE)


_NONE = Grammar((), frozenset(), (), ())
_GRAMMARS = {
    language: Grammar(
        tuple((english, other) for english, other in table.get("conjunctions", ())),
        frozenset(table["beginnings"].split()),
        compiled(table.get("loosened", ())),
        compiled(table.get("fitted", ())),
    )
    for language, table in _TABLES.items()
}
