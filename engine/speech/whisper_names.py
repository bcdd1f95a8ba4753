"""Names of Whisper models that people know, smallest first; where each is fetched from.

All are in CTranslate2's form. Whoever converts one names it by its id on the hub or its folder.
"""

STANDARD = "base.en"

_SYSTRAN = "Systran/faster-"
MODELS = {
    "tiny.en": f"{_SYSTRAN}whisper-tiny.en",
    "tiny": f"{_SYSTRAN}whisper-tiny",
    "base.en": f"{_SYSTRAN}whisper-base.en",
    "base": f"{_SYSTRAN}whisper-base",
    "distil-small.en": f"{_SYSTRAN}distil-whisper-small.en",
    "small.en": f"{_SYSTRAN}whisper-small.en",
    "small": f"{_SYSTRAN}whisper-small",
    "distil-medium.en": f"{_SYSTRAN}distil-whisper-medium.en",
    "medium.en": f"{_SYSTRAN}whisper-medium.en",
    "medium": f"{_SYSTRAN}whisper-medium",
    "distil-large-v3": f"{_SYSTRAN}distil-whisper-large-v3",
    "large-v3-turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    "large-v2": f"{_SYSTRAN}whisper-large-v2",
    "large-v3": f"{_SYSTRAN}whisper-large-v3",
}
"""Names people know, and where they are on the hub."""


def smaller_model(name: str) -> str:
    """Name the next smaller model of the same languages; nothing where there is none."""
    if name not in MODELS:
        return ""
    names = list(MODELS)
    below = names[: names.index(name)]
    alike = [one for one in below if one.endswith(".en") == name.endswith(".en")]
    return alike[-1] if alike else ""
