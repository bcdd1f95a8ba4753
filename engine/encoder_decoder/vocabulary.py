"""The tokens of a model with an encoder and a decoder."""

from collections.abc import Iterable, Mapping
from typing import Self


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
