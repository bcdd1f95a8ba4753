"""The dialog that loads, names and removes LoRA adapters."""
