"""Models that come with the program, in the place of those that do: one for each language."""

import json
import shutil

from engine.hub.catalogue import bundled_models
from engine.models.model_card import FILE_NAME

NAMES = {"de": "German", "es": "Spanish", "fr": "French"}


def bundle(folder, monkeypatch, codes=tuple(NAMES), *, with_weights=False):
    """Let these be bundled, and return their folders by language.

    With weights each is the real one under another name: it can be loaded, and answers in German.
    """
    real = bundled_models()[0]
    card = json.loads((real / FILE_NAME).read_text("utf-8"))
    (language,) = card["languages"].values()
    folders = {}
    for code in codes:
        folders[code] = made = folder / "assets/models" / f"surtitle-en-{code}"
        if with_weights:
            shutil.copytree(real, made)
        else:
            made.mkdir(parents=True)
            shutil.copy(real / "config.json", made)
        named = {code: {**language, "name": NAMES[code]}}
        text = json.dumps({**card, "name": made.name, "languages": named})
        (made / FILE_NAME).write_text(text, "utf-8")
    monkeypatch.setattr("engine.hub.catalogue.ASSETS", folder / "assets")
    return folders
