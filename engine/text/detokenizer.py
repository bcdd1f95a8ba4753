"""Decode token ids to text one by one, never half a character."""

from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream


class Detokenizer:
    """Decode ids one by one.

    Invariant: everything ``feed`` returned, followed by ``flush``, is the text that decoding all
    ids at once gives, without the blanks before its first word.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._stream = DecodeStream(skip_special_tokens=True)
        self._ids: list[int] = []
        self._text = ""

    def feed(self, id_: int) -> str:
        """Take one id; return the text that became certain, often nothing."""
        self._ids.append(id_)
        return self._grow(self._stream.step(self.tokenizer, id_) or "")

    def flush(self) -> str:
        """Return the rest; an incomplete character becomes a replacement character."""
        whole = self.tokenizer.decode(self._ids, skip_special_tokens=True).lstrip()
        return self._grow(whole[len(self._text) :])

    def _grow(self, piece: str) -> str:
        if not self._text:
            piece = piece.lstrip()
        self._text += piece
        return piece
