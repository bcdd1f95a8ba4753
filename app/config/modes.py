"""The modes of captions: a translation, the source words, or both. Plain Python."""

TRANSLATE, CAPTIONS_ONLY, BOTH = "translate", "captions only", "both"

MODES = (TRANSLATE, CAPTIONS_ONLY, BOTH)

SOURCE_LANGUAGE = "en"
"""Code of the language that is typed and spoken, unless another one is chosen."""
