"""What an adapter folder holds, read without torch."""
