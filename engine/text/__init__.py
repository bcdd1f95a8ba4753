"""Text around the model: prompts, sentences, glossaries, detokenising."""
