"""What lies on this computer: models, adapters, glossaries. Plain Python."""
