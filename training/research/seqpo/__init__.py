"""When to write, learnt by reward; recipes/."""
