"""Make a model smaller by leaving out the ids that its languages never need.

Most of a small multilingual model is its embedding: of the 268 million parameters of Gemma 3 270M,
168 million. The model keeps the ids that texts need most, and with each the ids that its merges go
through, so every word whose ids are kept is encoded as before (``cut_tokenizer``). The rows of the
other ids are dropped; all else stays to the bit.

"""

import json
import logging
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import cast

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig, PreTrainedModel
from transformers import PreTrainedTokenizerFast as Fast

from engine.models.model_card import ModelCard, ask_for
from engine.runtime.torch.torch_loader import load_tokenizer, pretrained_network
from engine.settings import LayoutSettings
from engine.untrusted.plain_files import file_sha256
from training.errors import UsageError
from training.trainer.checkpoint import replacing_folder
from training.trainer.tokenizer import chat_template, save_tokenizer

_log = logging.getLogger(__name__)

PAD, END, BEGIN, UNKNOWN = "<pad>", "<eos>", "<bos>", "<unk>"
USER, END_OF_WRITE = "<start_of_turn>", "<end_of_turn>"
END_OF_SOURCE, ASSISTANT = "<unused0>", "<unused1>"
MARKERS = (PAD, END, BEGIN, UNKNOWN, USER, END_OF_WRITE, *(f"<unused{n}>" for n in range(8)))
"""Special tokens of Gemma that are kept; no other is."""

TERMS = Path(__file__).with_name("gemma")
"""Licence, notice and card that go with everything that is made of Gemma."""

ASKED = "{source} to {language}"
"""The system message: what a model that is trained for nothing else needs."""

_LAST_LETTER = 0x24F  # of Latin Extended-B
_SIGNS = range(0x2010, 0x2040)  # dashes, quotes, the ellipsis

Merges = Mapping[tuple[str, str], int]
"""The rank of each merge of two pieces; a lower one goes first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutSettings:
    """The parts of a smaller model.

    Attributes:
        model: a folder, or a GGUF file.
        sha256: that the GGUF file must have.
        n_ids: rows of the embedding that are kept, a multiple of 64.
        languages: target codes, for the card.
    """

    model: Path
    sha256: str
    out: Path
    n_ids: int
    languages: tuple[str, ...]


def cut_vocabulary(settings: CutSettings, texts: Iterable[str]) -> None:
    """Write the smaller model, whole or not at all.

    Args:
        texts: of all languages; they decide which ids are kept.
    """
    network, tokenizer = _whole_model(settings)
    card = ModelCard(
        name="surtitle-gemma",
        languages=ask_for(settings.languages, text=ASKED),
        end_of_source=END_OF_SOURCE,
        end_of_write=END_OF_WRITE,
        end_of_target=END,
        slot_length=LayoutSettings().slot_length,  # as long as it is not trained
        policies=(),
    )
    asked = (language.system for language in card.languages.values())
    kept = needed_ids(tokenizer, chain(texts, asked), settings.n_ids)
    fewer = cut_tokenizer(tokenizer, kept)
    _keep_rows(network, kept)
    with replacing_folder(settings.out) as folder:
        network.to(dtype=torch.bfloat16)  # type: ignore[call-arg]
        network.save_pretrained(folder)
        save_tokenizer(fewer, card, folder)
        shutil.copytree(TERMS, folder, dirs_exist_ok=True)
    _log.info("wrote %s: %d of %d ids", settings.out, len(kept), len(tokenizer))


def _whole_model(settings: CutSettings) -> tuple[PreTrainedModel, Fast]:
    model = settings.model
    if model.is_dir():
        network = pretrained_network(
            model, dtype=torch.float32, packing=None, device=torch.device("cpu")
        )
        return network, load_tokenizer(model)
    found = file_sha256(model)
    if found != settings.sha256:
        msg = f"expected {model} to have the sha256 {settings.sha256}, got {found}: fetch it again"
        raise UsageError(msg)
    named = {"gguf_file": model.name, "local_files_only": True}
    tokenizer = cast(
        "Fast", AutoTokenizer.from_pretrained(model.parent, trust_remote_code=False, **named)
    )
    network = AutoModelForCausalLM.from_pretrained(
        model.parent,
        quantization_config=GgufConfig(dequantize=True),
        dtype=torch.float32,
        trust_remote_code=False,
        **named,
    )
    network.hf_quantizer = None  # type: ignore[assignment]  # else the whole weights would be saved as packed ones
    if hasattr(network.config, "quantization_config"):
        del network.config.quantization_config
    network.config.name_or_path = ""
    return network, tokenizer


def needed_ids(tokenizer: Fast, texts: Iterable[str], n_ids: int) -> list[int]:
    """Return the ids that texts need most, with all that their merges go through, rising."""
    backend = tokenizer.backend_tokenizer
    vocabulary: dict[str, int] = backend.get_vocab(with_added_tokens=True)
    missing = [marker for marker in MARKERS if marker not in vocabulary]
    if missing:
        msg = f"expected the tokenizer of Gemma, and this one has no {missing[0]}"
        raise UsageError(msg)
    ranks = merge_ranks(backend)
    kept = {vocabulary[piece] for piece in (*MARKERS, *_alphabet(vocabulary))}
    pieces = {id_: piece for piece, id_ in vocabulary.items()}
    for id_, _ in _uses(backend, texts).most_common():
        way = {vocabulary[piece] for piece in merged_through(pieces[id_], ranks)}
        if len(kept | way) <= n_ids:
            kept |= way
        if len(kept) == n_ids:
            break
    return sorted(kept)


def _uses(backend: Tokenizer, texts: Iterable[str]) -> Counter[int]:
    """Count the ids of all words, each encoded with the blank before it."""
    words = Counter(word for text in texts for word in text.split())
    uses = Counter[int]()
    listed = sorted(words)
    encoded = backend.encode_batch_fast([f" {word}" for word in listed], add_special_tokens=False)
    for word, encoding in zip(listed, encoded, strict=True):
        for id_ in encoding.ids:
            uses[id_] += words[word]
    return uses


def _alphabet(vocabulary: Mapping[str, int]) -> Iterator[str]:
    """Yield the bytes, the blank, and the letters and signs of European languages."""
    for piece in vocabulary:
        is_byte = piece.startswith("<0x") and piece.endswith(">")
        is_sign = len(piece) == 1 and (ord(piece) <= _LAST_LETTER or ord(piece) in _SIGNS)
        if is_byte or is_sign or piece == "▁":
            yield piece


def merge_ranks(backend: Tokenizer) -> dict[tuple[str, str], int]:
    merges: list[list[str]] = json.loads(backend.to_str())["model"]["merges"]
    return {(first, second): rank for rank, (first, second) in enumerate(merges)}


def merged_through(piece: str, ranks: Merges) -> list[str]:
    """Return the pieces that byte-pair encoding makes on its way to a piece, and itself."""
    parts, made = list(piece), list(piece)
    while len(parts) > 1:
        index = min(range(len(parts) - 1), key=lambda at: ranks.get(_pair(parts, at), len(ranks)))
        if _pair(parts, index) not in ranks:
            break  # a special token, or a byte
        parts[index : index + 2] = ["".join(_pair(parts, index))]
        made.append(parts[index])
    return made if parts == [piece] else [piece]


def _pair(parts: Sequence[str], at: int) -> tuple[str, str]:
    return parts[at], parts[at + 1]


def cut_tokenizer(tokenizer: Fast, kept: Sequence[int]) -> Fast:
    """Return the tokenizer without the other ids; the kept ones are numbered from 0, in order.

    Byte-pair encoding takes the lowest merge again and again. If all that it makes of a word is
    kept, so are its merges, and none of those left over was lower: the word has the same pieces.
    """
    whole = json.loads(tokenizer.backend_tokenizer.to_str())
    model, vocabulary = whole["model"], cast("dict[str, int]", whole["model"]["vocab"])
    new = {id_: index for index, id_ in enumerate(kept)}
    whole["added_tokens"] = [
        one | {"id": new[one["id"]], "special": True}
        for one in whole["added_tokens"]
        if one["content"] in MARKERS
    ]
    model["vocab"] = {piece: new[id_] for piece, id_ in vocabulary.items() if id_ in new}
    model["merges"] = [
        merge for merge in model["merges"] if {*merge, "".join(merge)} <= model["vocab"].keys()
    ]
    whole["post_processor"] = None  # prompts say where a text begins
    return Fast(  # type: ignore[no-untyped-call]
        tokenizer_object=Tokenizer.from_str(json.dumps(whole)),
        pad_token=PAD,
        bos_token=BEGIN,
        eos_token=END,
        unk_token=UNKNOWN,
        additional_special_tokens=list(MARKERS[4:]),
        chat_template=chat_template(USER, ASSISTANT),
        clean_up_tokenization_spaces=False,
    )


def _keep_rows(network: PreTrainedModel, kept: Sequence[int]) -> None:
    """Drop the rows of the other ids from embedding and output, which are tied."""
    embedding = cast("nn.Embedding", network.get_input_embeddings())
    rows = embedding.weight[list(kept)].detach().clone()
    embedding.weight = nn.Parameter(rows)
    embedding.num_embeddings = len(kept)
    network.config.vocab_size = len(kept)
    network.tie_weights()
