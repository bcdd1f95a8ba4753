"""Learn from rewards when to write: sampled translations, their rewards, and the update."""
