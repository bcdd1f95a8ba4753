"""Text of the typed line becomes committed words."""


def committed_words(text: str, *, finished: bool = False) -> list[str]:
    """List the whitespace words of a text; the last one only if it cannot grow any more.

    Args:
        text: the whole line as it stands.
        finished: nothing more is typed for now, so the last word counts although no blank follows
        it.
    """
    words = text.split()
    if words and not finished and not text[-1].isspace():
        words.pop()
    return words
