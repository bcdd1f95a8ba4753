"""The description of a translation model with an encoder and a decoder, beside its weights.

It is read from the files of the original (``engine.models.encoder_decoder.original``), and written
beside the converted weights, so that the original may be deleted.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated

from engine.errors import ModelError
from engine.files import write_file
from engine.messages import Code
from engine.models.instruct_card import LANGUAGE_NAMES
from engine.models.licences import forbids_commerce
from engine.models.model_card import Calibration, Language, ModelCard, checked_languages
from engine.untrusted.faults import detail_of, refuse
from engine.untrusted.safe_names import is_plain_name
from engine.untrusted.strict_json import NEEDED, SHA256, Between, JsonObject, read_object, shown

RECORD_FILE = "encoder-decoder.json"
FAMILIES = ("marian", "m2m100", "nllb", "madlad")
PRECISIONS = ("int8", "float16")
"""Of converted weights: one byte a number for a processor, two for a GPU."""

FORMAT_VERSION = 1
_SHA256 = "weights_sha256"
_MAX_RECORD_BYTES = 1 << 20
LONGEST = 200

END, UNKNOWN, START, PADDING = "</s>", "<unk>", "<s>", "<pad>"
"""The markers that all these families have; Marian has no start."""


def _checked_family(family: str) -> str:
    if family not in FAMILIES:
        refuse(f"says that it is a {shown(family)}, which is no kind that is known here")
    return family


def _checked_file_name(name: str) -> str:
    if not is_plain_name(name, LONGEST):
        refuse(f"names the file {shown(name)}, which is no plain name")
    return name


_Text = Annotated[str, Between(most=LONGEST)]
_Tokens = Annotated[Mapping[str, _Text], checked_languages]
_FileName = Annotated[_Text, _checked_file_name]
_Count = Annotated[int, Between(most=2**53), NEEDED]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A translation model beside its weights.

    Attributes:
        name: for people.
        family: one of ``FAMILIES``.
        sources: token before the source by the source language; empty if the model finds the
            language out itself.
        targets: token of the target by the target language, empty for a model of one pair. NLLB and
            M2M-100 begin the target with it, the others the source.
        source_pieces, target_pieces: names of the sentencepiece files.
        licence: as its README.md names it; empty if it does not.
        is_accepted: a person accepted a licence that forbids commercial use.
        encoder, decoder: numbers in the weights of each half.
        weights_sha256: of the converted weights; empty before they are converted.
        calibration: None for a model that was not calibrated.
    """

    name: _Text
    family: Annotated[_Text, _checked_family]
    sources: _Tokens
    targets: _Tokens
    source_pieces: _FileName
    target_pieces: _FileName
    licence: _Text
    is_accepted: Annotated[bool, NEEDED] = False
    encoder: _Count = 0
    decoder: _Count = 0
    weights_sha256: Annotated[str, SHA256] = ""
    calibration: Calibration | None = None

    @property
    def begins_target(self) -> bool:
        """Whether the target's token begins the target, else the source."""
        return self.family in ("m2m100", "nllb")

    @property
    def forbids_commerce(self) -> bool:
        """Whether its licence forbids commercial use."""
        return forbids_commerce(self.licence)

    @property
    def card(self) -> ModelCard:
        """The card of such a model: it has no prompt and no slots."""
        return ModelCard(
            name=self.name,
            languages={
                code: Language(name=LANGUAGE_NAMES.get(code, code), system="")
                for code in self.targets
            },
            end_of_source="",
            end_of_write="",
            end_of_target="",
            slot_length=1,
            policies=(),
            calibration=self.calibration,
            family=self.family,
            sources=tuple(self.sources),
        )

    def source_tokens(self, source: str, target: str) -> list[str]:
        """Return the tokens before a source.

        Raises:
            ModelError: the model does not translate this pair.
        """
        self.card.check_pair(source, target)
        tokens = [] if self.begins_target else [self.targets[target]]
        return [token for token in (*tokens, self.sources.get(source, "")) if token]

    def target_tokens(self, target: str) -> list[str]:
        """Return the tokens before a target."""
        return [self.targets[target]] if self.begins_target else []

    @property
    def markers(self) -> frozenset[str]:
        """Tokens that no text has."""
        tokens = {END, UNKNOWN, START, PADDING, *self.sources.values(), *self.targets.values()}
        return frozenset(tokens - {""})

    def save(self, folder: Path) -> None:
        """Write it into a folder; raise OSError if that fails."""
        content = {"format_version": FORMAT_VERSION, **asdict(self)}
        for key in ("calibration", _SHA256):
            if not content[key]:
                del content[key]
        write_file(folder / RECORD_FILE, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_record(folder: Path) -> Record:
    """Read the record of converted weights.

    Raises:
        ModelError: it is missing or garbled.
    """
    try:
        content = JsonObject.read(folder / RECORD_FILE, _MAX_RECORD_BYTES)
        content.integer("format_version", least=FORMAT_VERSION, most=FORMAT_VERSION)
        return read_object(Record, content)
    except (OSError, ValueError) as error:
        detail = f"{RECORD_FILE}: {detail_of(error)}"
        raise ModelError(Code.CONVERTED_WRONG(folder=str(folder), detail=detail)) from error


def save_calibration(folder: Path, calibration: Calibration) -> None:
    """Write the calibration of a model folder whose weights are converted.

    Raises:
        ModelError: nothing is converted there.
        OSError: it cannot be written.
    """
    found = converted_folder(folder, "") or folder
    replace(read_record(found), calibration=calibration).save(found)


def precision_folder(folder: Path, precision: str) -> Path:
    """Return where the converted weights of a model folder are, or will be."""
    return folder / f"ctranslate2-{precision}"


def converted_folder(folder: Path, precision: str) -> Path | None:
    """Return the folder of converted weights: of this precision if there, else of another one."""
    wanted = (precision, *(one for one in PRECISIONS if one != precision))
    folders = [folder, *(precision_folder(folder, one) for one in wanted)]
    return next((one for one in folders if (one / RECORD_FILE).is_file()), None)
