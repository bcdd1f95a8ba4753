"""Decode token ids to text one by one, never half a character."""

import re

from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream

_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


class Detokenizer:
    """Decode ids one by one.

    Invariant: everything ``feed`` returned, followed by ``flush``, is the text that decoding all
    ids at once gives, without the blanks before its first word.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._stream = DecodeStream(skip_special_tokens=True)
        self._ids: list[int] = []
        self._held: list[int] = []
        self._text = ""

    def feed(self, id_: int) -> str:
        """Take one id; return the text that became certain, often nothing.

        Tokens of one byte wait for the token after them: byte fallback decodes a run of them
        together, and one that is no UTF-8 makes replacement characters of them all.
        """
        self._ids.append(id_)
        self._held.append(id_)
        if self._may_join_a_run(id_):
            return ""
        held, self._held = self._held, []
        return self._grow(self._stream.step(self.tokenizer, held) or "")

    def flush(self) -> str:
        """Return the rest; an incomplete character becomes a replacement character."""
        whole = self.tokenizer.decode(self._ids, skip_special_tokens=True).lstrip()
        return self._grow(whole[len(self._text) :])

    def _may_join_a_run(self, id_: int) -> bool:
        """Return whether a token is a byte, or a marker, which parts no bytes."""
        token = self.tokenizer.id_to_token(id_) or ""
        return bool(_BYTE.fullmatch(token)) or not self.tokenizer.decode([id_])

    def _grow(self, piece: str) -> str:
        if not self._text:
            piece = piece.lstrip()
        self._text += piece
        return piece
