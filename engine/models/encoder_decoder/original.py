"""Recognise a Marian, M2M-100, NLLB or MADLAD-400 folder by its files, and read what they say.

A folder may come from a stranger: every file is read within bounds, nothing in it is run, and its
weights must be safetensors.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ModelError, message_of
from engine.messages import Code
from engine.models.encoder_decoder.record import (
    END,
    MOST_TOKENS,
    PADDING,
    START,
    UNKNOWN,
    Record,
    checked_vocabulary,
    converted_folder,
    read_record,
    two_letters,
)
from engine.models.fingerprint import read_footprint, tensor_sizes
from engine.models.model_card import FILE_NAME, checked_languages, readme_licence
from engine.untrusted.faults import Fault, about, fault_of, refuse
from engine.untrusted.limited_process import try_pieces
from engine.untrusted.model_folder import MAX_CONFIG_BYTES, check_model_folder
from engine.untrusted.plain_files import model_name
from engine.untrusted.strict_json import JsonObject, shown

_TYPES = ("marian", "m2m_100", "t5")
_MARIAN_PIECES = ("source.spm", "target.spm")
_PIECES = ("sentencepiece.bpe.model", "spiece.model", "sentencepiece.model")
PIECES = (*_MARIAN_PIECES, *_PIECES)
"""Names of sentencepiece files."""

_MAX_VOCABULARY_BYTES = 1 << 24
_MOST_POSITIONS, _WIDEST = 1 << 16, 1 << 14
_SIZES = {
    "max_position_embeddings": _MOST_POSITIONS,  # Marian fills its table in a loop of Python
    "n_positions": _MOST_POSITIONS,
    "d_model": _WIDEST,
    "encoder_ffn_dim": _WIDEST * 4,
    "decoder_ffn_dim": _WIDEST * 4,
    "d_ff": _WIDEST * 4,
    "d_kv": _WIDEST,
    "vocab_size": MOST_TOKENS,
    "decoder_vocab_size": MOST_TOKENS,
}
"""Settings of a network, and the largest value that any model needs."""

_LEAST_TENSORS = 8  # of a layer, in T5; all others have more

_MARIAN_LANGUAGE = re.compile(r">>([A-Za-z_]{2,20})<<")
_M2M_LANGUAGE = re.compile(r"__([a-z]{2,3})__")
_NLLB_LANGUAGE = re.compile(r"[a-z]{3}_[A-Z][a-z]{3}")
_MADLAD_LANGUAGE = re.compile(r"<2([a-z]{2,3}(?:_[A-Z][A-Za-z]{1,3})?)>")
_NAMED_PAIR = re.compile(r".*[-_]([a-z]{2,3})-([a-z]{2,3})")

_NLLB_LICENCE = "cc-by-nc-4.0"
"""Of Meta's models, https://github.com/facebookresearch/fairseq/tree/nllb."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A model as it was published; its ``vocabulary`` is in the order of ids."""

    record: Record
    vocabulary: tuple[str, ...]
    n_parameters: int


def is_encoder_decoder(folder: Path) -> bool:
    """Return whether a folder holds such a model, in its original form or converted."""
    return converted_folder(folder, "") is not None or is_original(folder)


def is_original(folder: Path) -> bool:
    """Return whether a folder holds such a model as it was published, by its ``config.json``."""
    try:
        config = JsonObject.read(folder / "config.json", MAX_CONFIG_BYTES)
    except (OSError, ValueError):
        return False
    return config.values.get("model_type") in _TYPES and not (folder / FILE_NAME).exists()


def model_record(folder: Path) -> Record:
    """Return what is known of such a model, whether it is converted or not.

    Raises:
        ModelError: it cannot be used.
    """
    converted = converted_folder(folder, "")
    return read_original(folder).record if converted is None else read_record(converted)


def read_original(folder: Path) -> Original:
    """Read an original folder.

    Raises:
        ModelError: it lacks a file, or one is damaged, too large or made to do harm.
    """
    check_model_folder(folder, needed=("config.json",))
    try:
        return _read(folder)
    except OSError as error:
        reason = Fault.FOLDER_UNREADABLE(reason=message_of(error))
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=reason)) from error
    except ValueError as error:
        raise ModelError(Code.CANNOT_LOAD(folder=str(folder), reason=fault_of(error))) from error


def _read(folder: Path) -> Original:
    config = _read_json(folder, "config.json", MAX_CONFIG_BYTES)
    _check_sizes(config)
    _check_weights(folder)
    sizes = tensor_sizes(folder)
    _check_layers(config, len(sizes))
    model_type = config.text("model_type")
    pieces = _piece_files(folder, _MARIAN_PIECES if model_type == "marian" else _PIECES)
    if model_type == "marian":
        family, vocabulary, sources, targets = _marian(folder, config)
    elif model_type == "m2m_100":
        family, vocabulary, sources, targets = _m2m(folder, pieces[0])
    else:
        family, vocabulary, sources, targets = _madlad(folder, pieces[0])
    _check_vocabulary(vocabulary)
    if not targets:
        detail = "nothing in it names the languages that it translates to"
        refuse(Fault.UNSUPPORTED(detail=detail))
    encoder = sum(n for name, n in sizes.items() if ".encoder." in f".{name}")
    record = Record(
        name=model_name(folder),
        family=family,
        sources=checked_languages(sources),
        targets=checked_languages(targets),
        source_pieces=pieces[0],
        target_pieces=pieces[-1],
        licence=readme_licence(folder) or (_NLLB_LICENCE if family == "nllb" else ""),
        encoder=encoder,
        decoder=sum(sizes.values()) - encoder,
    )
    return Original(
        record=record, vocabulary=vocabulary, n_parameters=read_footprint(folder).n_parameters
    )


def _check_vocabulary(tokens: tuple[str, ...]) -> None:
    with about("vocab.json"):
        missing = {END, UNKNOWN}.difference(checked_vocabulary(tokens))
        if missing:
            refuse(f"lacks {shown(min(missing))}")


def _read_json(folder: Path, name: str, most: int) -> JsonObject:
    with about(name):
        return JsonObject.read(folder / name, most)


def _check_sizes(config: JsonObject) -> None:
    for key, most in _SIZES.items():
        if config.values.get(key) is not None:
            with about("config.json"):
                config.integer(key, least=1, most=most)


def _check_weights(folder: Path) -> None:
    """Refuse weights that are a pickle alone, as most of OPUS-MT are on the hub."""
    if any(folder.glob("*.safetensors")):
        return
    pickles = sorted(path.name for path in folder.glob("pytorch_model*.bin"))
    if pickles:
        refuse(Fault.MODEL_PICKLED(name=shown(pickles[0]).strip("'")))
    refuse(Fault.HAS_NO(name="model.safetensors"))


def _check_layers(config: JsonObject, n_tensors: int) -> None:
    """Refuse more layers than there are weights for: a library builds them all before it reads."""
    for key, value in config.values.items():
        n_layers = value if key.endswith("layers") and isinstance(value, int) else 0
        if n_layers * _LEAST_TENSORS > n_tensors:
            refuse("its config.json asks for a larger network than it has weights for")


def _piece_files(folder: Path, names: Sequence[str]) -> list[str]:
    """Return the names of the sentencepiece files: both of Marian, else the first there is."""
    is_marian = names is _MARIAN_PIECES
    found = [name for name in names if (folder / name).exists()]
    if not found or (is_marian and len(found) < len(names)):
        missing = next(name for name in names if name not in found)
        refuse(Fault.HAS_NO(name=missing))
    found = found if is_marian else found[:1]
    for name in found:
        try_pieces(folder / name)
    return found


_Read = tuple[str, tuple[str, ...], Mapping[str, str], Mapping[str, str]]
"""Family, vocabulary, and the tokens of sources and targets."""


def _marian(folder: Path, config: JsonObject) -> _Read:
    if config.values.get("share_encoder_decoder_embeddings") is False:
        detail = "its two languages have a vocabulary each, and CTranslate2 takes one"
        refuse(Fault.UNSUPPORTED(detail=detail))
    vocabulary = _vocabulary(folder)
    source, target = _marian_pair(folder)
    targets = _by_code(_found(_MARIAN_LANGUAGE, vocabulary))
    if not targets and target:
        targets = {target: ""}
    # the name of a group of languages, such as mul or ROMANCE, is no code: any is taken
    is_one = len(source) == len("en")
    return "marian", vocabulary, {source: ""} if is_one else {}, targets


def _marian_pair(folder: Path) -> tuple[str, str]:
    """Return the languages that the tokenizer's settings name, else the model's name."""
    if (folder / "tokenizer_config.json").exists():
        settings = _read_json(folder, "tokenizer_config.json", MAX_CONFIG_BYTES)
        pair = [settings.values.get(key) for key in ("source_lang", "target_lang")]
        if all(isinstance(code, str) and code for code in pair):
            source, target = (two_letters(str(code)) for code in pair)
            return source, target
    named = _NAMED_PAIR.fullmatch(model_name(folder))
    return (two_letters(named[1]), two_letters(named[2])) if named else ("", "")


def _vocabulary(folder: Path) -> tuple[str, ...]:
    """Return the tokens of ``vocab.json`` in the order of their ids, which must have no gap."""
    content = _read_json(folder, "vocab.json", _MAX_VOCABULARY_BYTES)
    tokens = {content.integer(token, most=MOST_TOKENS): token for token in content.values}
    if sorted(tokens) != list(range(len(content.values))):
        refuse("vocab.json gives its tokens ids with gaps")
    return tuple(tokens[id_] for id_ in range(len(tokens)))


def _m2m(folder: Path, pieces: str) -> _Read:
    named = list(dict.fromkeys(_named_tokens(folder)))
    old = _by_code(_found(_M2M_LANGUAGE, named))
    new = _by_code(_found(_NLLB_LANGUAGE, named))
    if old and not new:
        vocabulary = _vocabulary(folder)
        tokens = [token for token in named if _M2M_LANGUAGE.fullmatch(token)]
        return "m2m100", (*vocabulary, *tokens), old, old
    from engine.models.encoder_decoder.tokenizer import read_processor  # noqa: PLC0415  lists do without it

    processor = read_processor(folder / pieces)
    own = [processor.id_to_piece(id_) for id_ in range(3, len(processor))]
    tokens = [token for token in named if _NLLB_LANGUAGE.fullmatch(token)]
    # as fairseq numbers them: its four markers first
    return "nllb", (START, PADDING, END, UNKNOWN, *own, *tokens, "<mask>"), new, new


def _madlad(folder: Path, pieces: str) -> _Read:
    from engine.models.encoder_decoder.tokenizer import read_processor  # noqa: PLC0415  lists do without it

    processor = read_processor(folder / pieces)
    vocabulary = tuple(processor.id_to_piece(id_) for id_ in range(len(processor)))
    return "madlad", vocabulary, {}, _by_code(_found(_MADLAD_LANGUAGE, vocabulary))


def _named_tokens(folder: Path) -> Iterator[str]:
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if not (folder / name).exists():
            continue
        settings = _read_json(folder, name, _MAX_VOCABULARY_BYTES)
        for key in ("additional_special_tokens", "extra_special_tokens"):
            listed = settings.values.get(key)
            for token in listed if isinstance(listed, list) else ():
                text = token.get("content") if isinstance(token, dict) else token
                if isinstance(text, str):
                    yield text


def _found(pattern: re.Pattern[str], tokens: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the languages in tokens: the model's code, and the token."""
    for token in tokens:
        match = pattern.fullmatch(token)
        if match:
            yield match[match.lastindex or 0], token


def _by_code(found: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return tokens by two-letter codes; of two with the same one, the later keeps its own code."""
    tokens = dict[str, str]()
    for code, token in found:
        short = two_letters(code)
        tokens[code if short in tokens else short] = token
    return tokens
