"""Versions and licences of the program and its libraries, as they are installed."""

from importlib import metadata

PROGRAM = "surtitle"
LIBRARIES = (
    "PySide6-Essentials",
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "huggingface_hub",
    "numpy",
    "faster-whisper",
    "ctranslate2",
    "onnxruntime",
    "av",
    "sounddevice",
    "SoundCard",
    "jinja2",
    "platformdirs",
    "tomli-w",
    "starlette",
    "uvicorn",
    "segno",
    "tqdm",
    "sacrebleu",
    "accelerate",
    "bitsandbytes",
)
"""What the program may use; not all of it is installed everywhere."""

_LONG = 80  # letters; some packages put the whole text into the field
_CLASSIFIER = "License :: OSI Approved :: "


def version_of(package: str) -> str:
    """Return the version of an installed package, or an empty text."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def licence_of(package: str) -> str:
    """Return the licence that an installed package names, or an empty text."""
    try:
        fields = metadata.metadata(package)
    except metadata.PackageNotFoundError:
        return ""
    for name in ("License-Expression", "License"):
        text = fields[name].strip() if name in fields else ""
        if text and len(text) <= _LONG and "\n" not in text:
            return text
    classifiers = [str(value) for value in fields.get_all("Classifier") or []]
    named = [text.removeprefix(_CLASSIFIER) for text in classifiers if _CLASSIFIER in text]
    if named or "License-Expression" not in fields:
        return ", ".join(named)
    return fields["License-Expression"]
