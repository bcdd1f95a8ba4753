"""Tiny folders of all families, as those who compute with them have them."""

from tests.engine.runtime.ctranslate2.conftest import original, originals  # noqa: F401
