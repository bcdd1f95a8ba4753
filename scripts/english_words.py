"""Make ``assets/english_words/words.txt.gz``: the English words that the bundled models may know.

python scripts/english_words.py LIST F.tsv.xz ...

LIST has a word a line, first of it; the tables have English in their first column. A word is in if
it is in LIST or was seen three times, unless it is a misspelling there. Line n of the result has
those that were seen less than 2 ** n times, and not less than 2 ** (n - 1).
"""

import gzip
import lzma
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from engine.files import ASSETS
from engine.text.spelling import meant

_WORD = re.compile("[A-Za-z]+(?:'[A-Za-z]+)?")
_LEAST, _FEW = 3, 64
_MISSPELT = 10
"""Misspelt is what was seen fewer than ``_FEW`` times, mostly in small letters, and what it may
mean a thousand times as often."""


def main() -> None:
    """Count, choose and write."""
    listed, *tables = map(Path, sys.argv[1:])
    in_list = {line.split()[0] for line in listed.read_text("utf-8-sig").splitlines() if line}
    lines, forms = set[str](), Counter[str]()
    for table in tables:
        with lzma.open(table, "rt", encoding="utf-8") as rows:
            lines |= {row.partition("\t")[0].replace("’", "'") for row in rows}
    for line in sorted(lines):
        forms.update(_WORD.findall(line))
    counts = Counter[str]()
    for form, n in forms.items():
        counts[form.lower()] += n
    words = {word for word in in_list if _WORD.fullmatch(word)}
    words |= {word for word, n in counts.items() if n >= (_FEW if "'" in word else _LEAST)}
    seen = {word: counts[word].bit_length() for word in words if len(word) > 2}
    for word in [word for word in seen if word not in in_list and counts[word] < _FEW]:
        right = meant(word, seen)
        if right and seen[right] - seen[word] >= _MISSPELT and 2 * forms[word] > counts[word]:
            del seen[word]
    by_bits = defaultdict(list[str])
    for word in sorted(seen):
        by_bits[seen[word]].append(word)
    text = "\n".join(" ".join(by_bits[bits]) for bits in range(max(by_bits) + 1))
    out = ASSETS / "english_words" / "words.txt.gz"
    out.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
