"""The dialog that loads, lists and removes LoRA adapters."""
