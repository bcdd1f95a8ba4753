"""Training LoRA adapters on a given model."""
