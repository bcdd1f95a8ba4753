"""What the program is told when it starts."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSettings:
    """What the command line said; None where it said nothing and the person's choices count.

    Attributes:
        preferences_file: where these are stored.
        places_file: where the places of windows are stored.
        data_folder: where journals and other files of the person's are stored.
        log_folder: where logs are.
        model: folder of the model, or its name on the hub.
        adapter: folder of the adapter that translates, whichever translated last time.
        no_adapter: whether the bare model translates.
        device: as in ``ModelSettings``.
        language: code of the target language.
        policy: as the engine writes it.
        forget_places: whether windows come where they came the first time.
        can_use_xwayland: whether a start through XWayland can be offered.
        crashed: whether the program went down last time without a word.
        first_run: whether nobody has chosen anything yet, so that the guide is shown.
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
