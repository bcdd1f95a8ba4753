"""Tokenizers of prompts: that of transformers, or the plain one, which needs ``tokenizers`` alone.

The plain one has those methods of transformers' that prompts use, under the same names. A
``Detokenizer`` decodes ids one by one, never half a character.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Union

import tokenizers
from tokenizers import AddedToken
from tokenizers.decoders import DecodeStream

from engine.models.encoder_decoder.tokenizer import SentencePieceTokenizer
from engine.untrusted.faults import Fault, refuse
from engine.untrusted.model_folder import MAX_CONFIG_BYTES
from engine.untrusted.plain_files import open_plain
from engine.untrusted.strict_json import JsonObject, shown

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

Tokenizer = Union["PreTrainedTokenizerFast", "PlainTokenizer"]
"""The tokenizer of a model folder that has a prompt."""

WordTokenizer = Union["PreTrainedTokenizerFast", "PlainTokenizer", SentencePieceTokenizer]
"""What encodes words, with a prompt or without."""

_MARKER_UNKNOWN = "its tokenizer_config.json names a marker that its tokenizer.json does not have"
_CLASSES = ("TokenizersBackend", "PreTrainedTokenizerFast")
"""Classes of transformers that only wrap the file ``tokenizer.json``."""

_MARKERS = ("bos_token", "eos_token", "unk_token", "pad_token")
_OTHER_MARKERS = ("extra_special_tokens", "additional_special_tokens")
_READ = frozenset(
    (
        *(*_MARKERS, *_OTHER_MARKERS, "tokenizer_class"),
        *("backend", "is_local", "local_files_only", "clean_up_tokenization_spaces"),
        *("model_max_length", "model_input_names", "padding_side", "truncation_side"),
    )
)
_LONGEST_TEMPLATE = 1 << 20


class PlainTokenizer:
    """A tokenizer of the ``tokenizers`` library with its markers and its chat template, in Jinja.

    Attributes:
        special_tokens_map: the markers by their roles, such as ``eos_token``.
    """

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        markers: Mapping[str, str],
        others: Sequence[str],
        chat_template: str | None,
    ) -> None:
        """Take the parts; ``others`` are markers without a role.

        Raises:
            ValueError: a marker is no token.
        """
        self.backend_tokenizer = backend
        self.chat_template = chat_template
        self.special_tokens_map = dict(markers)
        ids = [backend.token_to_id(token) for token in (*markers.values(), *others)]
        self.all_special_ids = [id_ for id_ in ids if id_ is not None]
        if len(self.all_special_ids) < len(ids):
            refuse(_MARKER_UNKNOWN)

    def __len__(self) -> int:
        return self.backend_tokenizer.get_vocab_size(with_added_tokens=True)

    @property
    def eos_token(self) -> str | None:
        return self.special_tokens_map.get("eos_token")

    @property
    def unk_token_id(self) -> int | None:
        token = self.special_tokens_map.get("unk_token")
        return None if token is None else self.backend_tokenizer.token_to_id(token)

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        return self.backend_tokenizer.get_added_tokens_decoder()

    @property
    def added_tokens_encoder(self) -> dict[str, int]:
        return {token.content: id_ for id_, token in self.added_tokens_decoder.items()}

    def encode(
        self, text: str, *, add_special_tokens: bool = True, split_special_tokens: bool = False
    ) -> list[int]:
        """Return the ids of a text; with ``split_special_tokens`` markers in it are text, too."""
        backend = self.backend_tokenizer
        backend.encode_special_tokens = split_special_tokens
        return backend.encode(text, add_special_tokens=add_special_tokens).ids

    def convert_tokens_to_ids(self, token: str) -> int | None:
        return self.backend_tokenizer.token_to_id(token)

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str | None]:
        return [self.backend_tokenizer.id_to_token(id_) for id_ in ids]

    def get_vocab(self) -> dict[str, int]:
        return self.backend_tokenizer.get_vocab(with_added_tokens=True)


def read_plain_tokenizer(folder: Path) -> PlainTokenizer:
    """Read the tokenizer of a model folder without transformers.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is garbled, or sets what only transformers supports; the text is a clause
            about the model.
    """
    name = "tokenizer_config.json"
    config = JsonObject.read(folder / name, MAX_CONFIG_BYTES)
    for key, value in config.values.items():
        if key not in _READ and value not in (None, False, "", [], {}):
            refuse(Fault.UNSUPPORTED(detail=f"{name} sets {shown(key)}"))
    kind = config.text("tokenizer_class", _CLASSES[0])
    if kind not in _CLASSES:
        refuse(Fault.UNSUPPORTED(detail=f"{name} sets 'tokenizer_class' to {shown(kind)}"))
    markers = {role: config.text(role) for role in _MARKERS if config.values.get(role) is not None}
    others = [token for key in _OTHER_MARKERS for token in config.texts(key, ())]
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    return PlainTokenizer(backend, markers, others, _chat_template(folder))


def check_ids(tokenizer: Tokenizer, n_rows: object) -> None:
    """Raise ValueError unless every id has a row in an embedding table of ``n_rows``."""
    if not all(isinstance(id_, int) for id_ in tokenizer.all_special_ids):
        refuse(_MARKER_UNKNOWN)
    largest = max(tokenizer.get_vocab().values(), default=-1)
    if isinstance(n_rows, int) and largest >= n_rows:
        refuse(
            f"its tokenizer has ids up to {largest}, and its embeddings {n_rows} rows, so they "
            "belong to two models"
        )


def _chat_template(folder: Path) -> str | None:
    try:
        with open_plain(folder / "chat_template.jinja") as file:
            return file.read(_LONGEST_TEMPLATE).decode()
    except FileNotFoundError:
        return None


_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


class Detokenizer:
    """Decode ids one by one.

    Invariant: everything ``feed`` returned, followed by ``flush``, is the text that decoding all
    ids at once gives, without the blanks before its first word and what is no UTF-8.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer) -> None:
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
        """Return the rest; of an incomplete character nothing."""
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
        return piece.replace("\ufffd", "")
