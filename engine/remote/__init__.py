"""A computer that translates for others: the messages, the client and the server."""
