"""Renew the catalogue of translation models from the hub.

    python -m scripts.renew_models [FILE]    HF_ENDPOINT names another hub

A model that the hub no longer has is dropped, and so is one whose shape turns out to be another.
Where the hub cannot be asked, the entry stays as it is and the script ends with 1. Look at the
difference before you keep it.
"""

import datetime as dt
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote

from huggingface_hub import constants

from engine.errors import HubError
from engine.files import ASSETS, write_file
from engine.hub.catalogue import KnownModel, read_models
from engine.hub.download import FAILURES, LANGUAGE_MODEL, HubSettings, fetch_answer, reason_of
from engine.models.model_card import forbids_commerce
from engine.untrusted.faults import refuse
from engine.untrusted.strict_json import JsonObject, shown

_MOST_BYTES = 1 << 23
_PIECES = (".spm", ".model")  # of sentencepiece
_LICENCES = {
    "apache-2.0": "Apache-2.0",
    "mit": "MIT",
    "cc-by-4.0": "CC-BY-4.0",
}
_LICENCE, _REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+ -]{0,39}"), re.compile("[0-9a-f]{40}")
_MOST_DROPPED = 2  # at once; where more are gone, it is the hub that is another one
_LEAST, _MOST = 0.99, 1.27  # of the numbers of a shape: a tied table may be stored twice


class OtherModelError(Exception):
    """The hub's model is not what the entry says; the text says why."""


def renewed(
    entry: Mapping[str, object], model: KnownModel, listing: JsonObject
) -> dict[str, object]:
    """Return an entry with what the hub lists.

    Raises:
        OtherModelError: it has no safetensors, or another number of parameters.
        ValueError: the list is garbled.
    """
    sizes = {one.text("rfilename"): one.integer("size") for one in listing.inners("siblings")}
    if not any(name.endswith(".safetensors") for name in sizes):
        why = "it has no safetensors"
        raise OtherModelError(why)
    if model.footprint is not None and "safetensors" in listing.values:
        n_stored = listing.inner("safetensors").integer("total")
        if not _LEAST <= n_stored / model.footprint.n_parameters <= _MOST:
            why = f"its footprint is of another shape: it has {n_stored} parameters"
            raise OtherModelError(why)
    licence = listing.inner("cardData").text("license")
    if not _LICENCE.fullmatch(licence):
        refuse(f"'license' should be text, got {shown(licence)}")
    if forbids_commerce(licence) or listing.values.get("gated"):
        why = "not everybody may use it for everything"
        raise OtherModelError(why)
    changes = {
        "licence": _LICENCES.get(licence, licence),
        "download_bytes": sum(n for name, n in sizes.items() if _is_wanted(name)),
        "checked": dt.datetime.now(tz=dt.UTC).date().isoformat(),
    }
    if model.revision:
        changes["revision"] = sha = listing.text("sha")
        if not _REVISION.fullmatch(sha):
            refuse(f"'sha' should be forty hexadecimal digits, got {shown(sha)}")
    return {**entry, **changes}


def _is_wanted(name: str) -> bool:
    return "/" not in name and (LANGUAGE_MODEL.is_wanted(name) or name.endswith(_PIECES))


def fetch_listing(model: KnownModel) -> JsonObject:
    """Ask the hub for a model's revision and files."""
    revision = f"/revision/{quote(model.revision, safe='')}" if model.revision else ""
    url = f"{constants.ENDPOINT}/api/models/{model.name}{revision}?blobs=true"
    return JsonObject.parse(fetch_answer(url, HubSettings(), lambda: False, _MOST_BYTES))


def as_text(content: Mapping[str, object]) -> str:
    """Write the catalogue with a line for each value of a model."""
    models = []
    for entry in content["models"]:
        lines = [f"   {json.dumps(key)}: {json.dumps(value)}" for key, value in entry.items()]
        models.append("  {\n" + ",\n".join(lines) + "\n  }")
    about = json.dumps(content["about"])
    return f'{{\n "about": {about},\n "models": [\n' + ",\n".join(models) + "\n ]\n}\n"


def main() -> int:
    """Renew each entry; return the exit status."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ASSETS / "translation_models.json"
    text = path.read_text(encoding="utf-8")
    content, known = json.loads(text), read_models(text)
    entries, status = list[dict[str, object]](), 0
    for entry, model in zip(content["models"], known, strict=True):
        try:
            entries.append(renewed(entry, model, fetch_listing(model)))
            continue
        except OtherModelError as error:
            print(f"{model.name}: dropped: {error}", file=sys.stderr)
            continue
        except HTTPError as error:
            if error.code == 404:
                print(f"{model.name}: dropped: the hub has no such model", file=sys.stderr)
                continue
            reason: object = reason_of(error)
        except HubError as error:
            reason = error.message
        except FAILURES as error:
            reason = reason_of(error)
        print(f"{model.name}: left as it is: {reason}", file=sys.stderr)
        entries.append(entry)
        status = 1
    n_dropped = len(known) - len(entries)
    if n_dropped > _MOST_DROPPED:
        most = f"at most {_MOST_DROPPED} are at once: nothing was written; see to HF_ENDPOINT"
        print(f"{n_dropped} of {len(known)} models would be dropped, and {most}", file=sys.stderr)
        return 1
    write_file(path, as_text({**content, "models": entries}))
    return status


if __name__ == "__main__":
    sys.exit(main())
