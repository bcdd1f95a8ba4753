"""Models, adapters and glossaries on this computer. No Qt."""
