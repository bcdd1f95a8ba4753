"""Encoder-decoder networks on CTranslate2, and their conversion."""
