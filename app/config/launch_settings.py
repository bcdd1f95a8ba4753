"""The settings of one start of the program."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSettings:
    """The command line; None means that the preferences decide.

    Attributes:
        places_file: stores the geometry of windows.
        data_folder: stores journals, adapters and other files of the user.
        model: folder of the model, or its name on the hub.
        adapter: folder of the adapter, instead of that of the preferences.
        no_adapter: use the bare model.
        device: as in ``ModelSettings``.
        language: code of the target language.
        policy: as the engine writes it.
        forget_places: open the windows at their default positions.
        can_use_xwayland: a restart through XWayland can be offered.
        crashed: the last run crashed without a message.
        first_run: there are no preferences yet, so the setup wizard is shown.
    """

    preferences_file: Path
    places_file: Path
    data_folder: Path
    log_folder: Path
    model: Path | None = None
    adapter: Path | None = None
    no_adapter: bool = False
    device: str = "auto"
    language: str | None = None
    policy: str | None = None
    forget_places: bool = False
    can_use_xwayland: bool = False
    crashed: bool = False
    first_run: bool = False
