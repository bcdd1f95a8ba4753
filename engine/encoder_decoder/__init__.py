"""Translation models with an encoder and a decoder, as CTranslate2 computes them."""
