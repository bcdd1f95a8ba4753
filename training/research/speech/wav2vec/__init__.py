"""wav2vec 2.0 of the hub as a speech encoder that looks back by blocks."""
