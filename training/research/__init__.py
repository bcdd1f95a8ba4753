"""What the papers need: the product imports none of it."""
