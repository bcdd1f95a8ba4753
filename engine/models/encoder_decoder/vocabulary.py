"""The tokens of a model with an encoder and a decoder."""

from collections.abc import Iterable, Mapping
from typing import Self

from engine.untrusted.faults import refuse
from engine.untrusted.strict_json import shown

MOST_TOKENS, _LONGEST = 1 << 20, 1000  # characters


class Vocabulary(tuple[str, ...]):
    """Tokens in the order of their ids; one serves all parts of a model, since it may be large.

    Attributes:
        ids: of the tokens.
    """

    ids: Mapping[str, int]

    def __new__(cls, tokens: Iterable[str]) -> Self:
        """Take the tokens."""
        made = super().__new__(cls, tokens)
        made.ids = {token: id_ for id_, token in enumerate(made)}
        return made


def checked_vocabulary(tokens: object) -> Vocabulary:
    """Return the vocabulary of a file; raise ValueError unless it is a list of unlike short texts.

    The text of the error continues a sentence about the file.
    """
    if not isinstance(tokens, list | tuple) or not all(isinstance(one, str) for one in tokens):
        refuse(f"should hold a list of texts, got {shown(tokens)}")
    if len(tokens) > MOST_TOKENS:
        refuse(f"has {len(tokens)} tokens, and {MOST_TOKENS} are the most")
    longest = max(map(len, tokens), default=0)
    if longest > _LONGEST:
        refuse(f"has a token of {longest} characters, and {_LONGEST} are the most")
    vocabulary = Vocabulary(tokens)
    if len(vocabulary.ids) < len(vocabulary):
        again = next(one for id_, one in enumerate(vocabulary) if vocabulary.ids[one] != id_)
        refuse(f"names {shown(again)} twice")
    return vocabulary
