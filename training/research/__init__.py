"""Code for the papers: the product imports none of it."""
