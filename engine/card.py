"""``surtitle.json``: what a model folder says of itself beyond its weights."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from engine.errors import ModelError

FILE_NAME = "surtitle.json"
FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One target language of a model.

    Attributes:
        name: in English, for people: ``German``.
        system: content of the system message that asks for this language.
    """

    name: str
    system: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What the engine must know of a model and cannot read off its configuration.

    Attributes:
        name: for people.
        languages: target languages by two-letter code.
        end_of_source: token that ends the source, as the tokenizer spells it; here and below empty
            stands for the token that ends a turn of the chat template.
        end_of_write: token that ends a write of read-n.
        end_of_target: token that ends the target of wait-k and offline.
        slot_length: positions a slot had in training.
        policies: the policies it was trained for, as they are written; none where it was not
            trained to translate.
        layout: its positions: slots, or for a comparison another of ``engine.settings.LAYOUTS``.
    """

    name: str
    languages: Mapping[str, Language]
    end_of_source: str
    end_of_write: str
    end_of_target: str
    slot_length: int
    policies: tuple[str, ...]
    layout: str = "slots"

    @property
    def knows_slots(self) -> bool:
        """Tell whether it was trained to translate while it reads."""
        return any(policy != "offline" for policy in self.policies)

    def language(self, code: str) -> Language:
        """Find a target language.

        Raises:
            ModelError: the model was not made for it.
        """
        found = self.languages.get(code)
        if found is None:
            known = ", ".join(self.languages)
            msg = (
                f"the model {self.name} translates to {known}, not to {code!r}: "
                "choose one of these or another model"
            )
            raise ModelError(msg)
        return found

    def save(self, directory: Path) -> None:
        """Write ``surtitle.json`` into a model folder."""
        content = {
            "format_version": FORMAT_VERSION,
            "name": self.name,
            "languages": {
                code: {"name": language.name, "system": language.system}
                for code, language in self.languages.items()
            },
            "end_of_source": self.end_of_source,
            "end_of_write": self.end_of_write,
            "end_of_target": self.end_of_target,
            "slot_length": self.slot_length,
            "policies": list(self.policies),
        }
        text = json.dumps(content, indent=2, ensure_ascii=False)
        (directory / FILE_NAME).write_text(text + "\n", encoding="utf-8")


def read_card(directory: Path) -> ModelCard:
    """Read the card of a model folder.

    Raises:
        ModelError: the file is missing, is no JSON, lacks a field or is of a newer format.
    """
    path = directory / FILE_NAME
    try:
        content = cast("object", json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        msg = (
            f"{directory} is no Surtitle model: it has no {FILE_NAME}; choose a folder that has one"
        )
        raise ModelError(msg) from error
    except (OSError, ValueError) as error:
        msg = f"{path} cannot be read as JSON ({error}): restore the file or choose another model"
        raise ModelError(msg) from error
    try:
        return _parse(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = f"{path} lacks or garbles a field ({error}): restore the file or choose another model"
        raise ModelError(msg) from error


def _parse(content: object) -> ModelCard:
    if not isinstance(content, dict):
        msg = "an object was expected"
        raise TypeError(msg)
    if content["format_version"] != FORMAT_VERSION:
        msg = f"format_version is {content['format_version']}, this program reads {FORMAT_VERSION}"
        raise ValueError(msg)
    languages = {
        str(code): Language(name=str(entry["name"]), system=str(entry["system"]))
        for code, entry in content["languages"].items()
    }
    return ModelCard(
        name=str(content["name"]),
        languages=languages,
        end_of_source=str(content["end_of_source"]),
        end_of_write=str(content["end_of_write"]),
        end_of_target=str(content["end_of_target"]),
        slot_length=int(content["slot_length"]),
        policies=tuple(str(policy) for policy in content["policies"]),
    )
