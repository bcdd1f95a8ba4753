"""A translator that reads sound: synthetic utterances, training, measures in milliseconds."""
