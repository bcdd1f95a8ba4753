"""Speech recognition: voice activity, Whisper, local agreement, hallucination filter."""
