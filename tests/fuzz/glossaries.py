"""Files of terms, and languages that name them."""

import contextlib
import os

from app.captions.glossaries import GlossaryFolder, read_terms, sound_terms
from engine.errors import ContextError
from tests.fuzz.sentences import check, text
from tests.support.strangers import damaged

_WHOLE = "# en\tde\n\nhead of state\tStaatsoberhaupt\ncache\tCache\n".encode("utf-8-sig")


def _content(rng):
    if rng.random() < 0.02:
        return b"a\tb\n" * rng.randrange(1 << 21)
    if rng.random() < 0.5:
        return damaged(_WHOLE, rng)
    lines = [[text(rng, 5) for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(0, 9))]
    return "\n".join(map("\t".join, lines)).encode(errors="surrogatepass")


def _put(rng, path):
    match rng.randrange(12):
        case 0:
            os.mkfifo(path)
        case 1:
            path.mkdir()
        case 2:
            path.symlink_to("nowhere")
        case _:
            path.write_bytes(_content(rng))


@contextlib.contextmanager
def prepared(_folder):
    def run(rng, folder, allow):
        glossaries = GlossaryFolder(folder / "kept")
        (folder / "kept").mkdir()
        _put(rng, folder / "kept" / "de.tsv")
        named = folder / "named.tsv"
        named.write_bytes(_content(rng))
        pairs = [(text(rng), text(rng)) for _ in range(rng.randint(0, 5))]
        languages = ["de", "../named", "..", "", "a/b", "\0", "con", text(rng)]
        allow(folder / "kept")
        for language in ("de", rng.choice(languages)):
            _, failure = glossaries.read(language)
            if failure:
                check(failure)
        try:
            read_terms(named)
        except ContextError as error:
            check(error)
        sound = sound_terms(pairs)
        language = rng.choice(languages)
        failure = glossaries.write(language, sound)
        if failure:
            check(failure)
        else:
            assert glossaries.read(language) == (sound, None)

    yield run
