"""Switches off what libraries would send or look up of their own accord.

``engine`` does it when it is imported, before any library is: some of them read their switch, write
an identifier and connect as soon as they are imported. Child processes inherit the switches. What
each library would do stands in docs/security.md.
"""

import os

_SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",  # ONNX Runtime: events to Microsoft, an identifier in the cache
    "HF_HUB_DISABLE_TELEMETRY": "1",  # what runs here, in the head of each request to the hub
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",  # look-ups at PyPI
    "DO_NOT_TRACK": "1",  # whoever else minds it
}


def switch_off_telemetry() -> None:
    """Set the switches, whatever the environment says of them."""
    os.environ.update(_SWITCHES)  # noqa: TID251  the one place that sets what libraries read
