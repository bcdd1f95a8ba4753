"""Cut text into the pieces of a model's sentencepiece files, and put pieces together.

sentencepiece is imported when a model is loaded. Its files are protocol buffers: data, no code.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import tokenizers
from tokenizers import AddedToken, decoders, models

from engine.models.encoder_decoder.record import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from sentencepiece import SentencePieceProcessor

BLANK = "▁"
"""How sentencepiece writes the blank before a word."""


class SentencePieceTokenizer:
    """The pieces of one language side of a model, as ids of the model's vocabulary.

    The methods are those of ``engine.text.tokenizer`` that encode words.
    """

    def __init__(
        self,
        processor: "SentencePieceProcessor",
        vocabulary: Vocabulary,
        markers: frozenset[str],
        unknown: str,
    ) -> None:
        """Take the parts; ``unknown`` is the token of a piece that the vocabulary lacks."""
        self._processor = processor
        self._vocabulary = vocabulary
        self._markers = markers
        self._unknown = vocabulary.ids[unknown]

    def __len__(self) -> int:
        return len(self._vocabulary)

    def encode(
        self,
        text: str,
        *,
        add_special_tokens: bool = False,  # noqa: ARG002  the others' parameter; none is added
        split_special_tokens: bool = True,  # noqa: ARG002  likewise: markers in a text are left out
    ) -> list[int]:
        """Return the ids of a text; a blank stands before its first word in any case."""
        pieces = self._processor.encode(text, out_type=str)
        ids = self._vocabulary.ids
        return [ids.get(piece, self._unknown) for piece in pieces if piece not in self._markers]

    def pieces(self, text: str) -> list[str]:
        """Return the pieces of a text, markers among them."""
        return list(self._processor.encode(text, out_type=str))

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        return [self._vocabulary[id_] for id_ in ids]


def read_processor(path: "Path") -> "SentencePieceProcessor":
    """Read a file of sentencepiece; raise RuntimeError or OSError if it is none."""
    from sentencepiece import SentencePieceProcessor  # noqa: PLC0415  may be missing

    return SentencePieceProcessor(model_file=str(path))


def make_decoder(
    vocabulary: Sequence[str], markers: frozenset[str], unknown: str
) -> tokenizers.Tokenizer:
    """Make a tokenizer of the ``tokenizers`` library that decodes ids of a vocabulary to text.

    ``engine.text.tokenizer`` needs one. It only decodes: cutting text is sentencepiece's.
    """
    backend = tokenizers.Tokenizer(
        models.WordLevel({token: id_ for id_, token in enumerate(vocabulary)}, unk_token=unknown)
    )
    present = frozenset(vocabulary)
    backend.add_special_tokens(
        [AddedToken(one, special=True, normalized=False) for one in sorted(markers & present)]
    )
    backend.decoder = decoders.Sequence(
        [decoders.Replace(BLANK, " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    return backend
