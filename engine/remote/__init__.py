"""A computer that translates for others: what is said on the way, who asks and who answers."""
