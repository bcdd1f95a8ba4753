"""LoRA adapters; recipes/ are runs to start from."""
