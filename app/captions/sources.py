"""What a person wants to be heard. Plain."""

from dataclasses import dataclass

from app.captions.lanes import ME, THEM

MICROPHONE, SYSTEM = "microphone", "system"
"""As ``engine.audio.types.DeviceKind`` writes them."""

LANES = {MICROPHONE: ME, SYSTEM: THEM}


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedSource:
    """A device to listen to.

    Attributes:
        kind: ``MICROPHONE`` or ``SYSTEM``.
        device: the system's name of it; nothing for whatever the default is at any time.
    """

    kind: str
    device: str = ""

    @property
    def lane(self) -> str:
        """Who is heard from it."""
        return LANES[self.kind]
