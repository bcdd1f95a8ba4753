"""Keeps libraries from what nobody asked for: to send, to look up, to leave files elsewhere.

``engine`` switches their telemetry off when it is imported, before any library is: some read
their switch, write an identifier and connect as soon as they are imported. Each program of ours
also names a folder for their caches. Child processes inherit both. docs/security.md lists the
libraries and what each would do.
"""

import os
from pathlib import Path

_SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",  # ONNX Runtime: events to Microsoft, an identifier in the cache
    "HF_HUB_DISABLE_TELEMETRY": "1",  # what else runs here, in the head of each request to the hub
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",  # look-ups at PyPI
    "HF_XET_TELEMETRY_ENABLED": "0",  # a report of each transfer
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",  # that a data set was loaded
    "DISABLE_SAFETENSORS_CONVERSION": "1",  # asks the hub to convert what was loaded
    "RAY_USAGE_STATS_ENABLED": "0",  # Ray: a report every hour,
    "RAY_USAGE_STATS_REPORT_URL": "",  # and one that says that none is sent
    "DO_NOT_TRACK": "1",  # other libraries that respect it
}
_CACHES = {
    "MPLCONFIGDIR": "matplotlib",
    "TORCHINDUCTOR_CACHE_DIR": "torch",  # made in the temporary folder whenever torch is imported
    "TRITON_CACHE_DIR": "triton",
}


def switch_off_telemetry() -> None:
    """Set the switches, whatever the environment says of them."""
    os.environ.update(_SWITCHES)  # noqa: TID251  the one place that sets what libraries read


def keep_caches_in(folder: Path) -> None:
    """Set a folder for the caches of libraries, unless the user named another.

    Where it cannot be made they look for a place themselves, as a rule in the temporary folder.
    """
    try:
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    for name, below in _CACHES.items():
        os.environ.setdefault(name, str(folder / below))  # noqa: TID251  as above
