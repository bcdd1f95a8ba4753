"""A computer that translates for others: its answers to their requests, its tokens, its figures."""
