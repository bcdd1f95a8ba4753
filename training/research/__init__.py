"""Code for the papers, a file a story; the product imports none of it, and the wheel has none."""
