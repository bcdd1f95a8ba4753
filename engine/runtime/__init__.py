"""A network with its cache: which library computes, loading, memory."""
