"""What comes with the program: models and adapters fit, are light, and are used if they help."""

import pytest

from engine.files import ASSETS
from engine.hub.bundled import WORTH, bundled_adapters, bundled_models, default_adapter
from engine.models.adapters.adapter import Status, inspect_adapter, verify_adapter
from engine.models.fingerprint import read_fingerprint
from engine.settings import TranslationSettings

MOST_BYTES = 48 << 20  # of all models and adapters
BASE = bundled_models()[0]


def wanted(policy, language="de"):
    return TranslationSettings(target_language=language, policy=policy)


@pytest.mark.parametrize("folder", bundled_adapters(), ids=lambda folder: folder.name)
def test_a_bundled_adapter_fits_the_bundled_model_and_tells_where_it_comes_from(folder):
    adapter = inspect_adapter(folder, read_fingerprint(BASE))
    assert (adapter.status, adapter.reason) == (Status.OK, None)
    assert verify_adapter(adapter) == adapter.card.weights_sha256
    assert {one.policy for one in adapter.card.scores} <= set(adapter.card.policies)
    assert all(one.base_bleu is not None for one in adapter.card.scores)
    assert all(one.licence not in ("", "not stated") for one in adapter.card.data)
    assert adapter.card.licence in (folder / "README.md").read_text(encoding="utf-8")


def test_all_that_is_bundled_is_light():
    sizes = [
        path.stat().st_size
        for path in (*ASSETS.glob("models/**/*"), *ASSETS.glob("adapters/**/*"))
        if path.is_file()
    ]
    assert sum(sizes) <= MOST_BYTES


@pytest.mark.parametrize("policy", ["read:3", "read:5", "wait:3", "wait:5", "offline"])
def test_one_is_used_unasked_exactly_where_its_card_says_that_it_helps(policy):
    base = read_fingerprint(BASE)
    gains = {
        folder: inspect_adapter(folder, base).card.gain("de", policy.partition(":")[0]) or 0.0
        for folder in bundled_adapters()
    }
    best = max(gains, key=gains.__getitem__, default=None)
    expected = best if best is not None and gains[best] >= WORTH else None
    assert default_adapter(base, wanted(policy)) == expected
    assert default_adapter(base, wanted(policy, "fr")) is None
