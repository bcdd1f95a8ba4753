"""The training loop and what it needs, for pretraining and fine-tuning alike."""
