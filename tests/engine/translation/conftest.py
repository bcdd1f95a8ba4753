"""Tiny models with an encoder and a decoder, as those who compute with them have them."""

from tests.engine.runtime.ctranslate2.conftest import converted, originals  # noqa: F401
