"""A translation model with its languages, or a server that has one, as the user chooses it.

Plain Python.
"""

from dataclasses import dataclass
from pathlib import Path

from app.config.modes import SOURCE_LANGUAGE
from engine.settings import ServerSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model with its languages.

    Attributes:
        model: as the preferences store it: a folder, a name on the hub, or None for the bundled
            one.
        language: code of the target language.
        source: code of what is spoken.
        accepts_licence: its licence forbids commercial use, and that is accepted.
        server: translates instead, by a model of its own; None for this computer.
    """

    model: Path | None
    language: str
    source: str = SOURCE_LANGUAGE
    accepts_licence: bool = False
    server: ServerSettings | None = None
