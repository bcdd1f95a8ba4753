"""Names of the lanes that tell two speakers apart. Plain Python."""

ME, THEM = "me", "them"
