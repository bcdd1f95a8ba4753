"""Sound sources: microphones, loopback, files; resampled and watched."""
