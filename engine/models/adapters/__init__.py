"""What a LoRA adapter folder holds, read without torch; the library of adapters."""
