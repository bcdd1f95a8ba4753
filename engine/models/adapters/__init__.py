"""The content of a LoRA adapter folder, read without torch; the library of adapters."""
