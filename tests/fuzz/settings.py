"""Settings: the person's own file, damaged, and a stranger's that is imported."""

import contextlib
import os

from app.choices import Preferences
from app.preferences import PreferencesFile, export_preferences, import_preferences, to_content
from app.toml_text import toml_text
from tests.fuzz.sentences import check, text
from tests.strangers import damaged, mutated

_BOMBS = [
    lambda rng: "a." * rng.randint(1, 40_000) + "a = 1",
    lambda rng: "a = " + "[" * rng.randint(1, 40_000),
    lambda rng: "a = " + "{b = " * rng.randint(1, 9000) + "1" + "}" * 9000,
    lambda rng: "a = " + "9" * rng.randint(1, 60_000),
    lambda rng: "[" + "a." * rng.randint(1, 900) + "a]\n" * rng.randint(1, 30),
    lambda rng: "a = '" + "x" * rng.randint(1, 100_000) + "'",
    lambda rng: "x = 1979-05-27T07:32:00+23:59\ny = nan\nz = inf\n" * rng.randint(1, 2),
    lambda rng: f"a = {rng.choice(['1e999', '-0.0', '0x' + 'f' * 60, '1' * 400])}",
]


def put_file(rng, path, whole):
    """Write a TOML file that was damaged, by a person, a disk or a stranger."""
    match rng.randrange(10):
        case 0:
            os.mkfifo(path)
        case 1:
            path.mkdir()
        case 2:
            path.write_text(rng.choice(_BOMBS)(rng))
        case 3 | 4:
            path.write_bytes(damaged(toml_text(whole).encode(), rng))
        case 5:
            path.write_bytes(text(rng, 40).encode(errors="surrogatepass"))
        case _:
            content = whole
            for _ in range(rng.randint(1, 3)):
                content = mutated(content, rng)
            with contextlib.suppress(ValueError):  # nothing that TOML can say
                path.write_text(toml_text(content if isinstance(content, dict) else {"x": content}))
    if rng.random() < 0.2:
        backup = path.with_name(path.name + ".bak")
        backup.write_bytes(damaged(toml_text(whole).encode(), rng))


@contextlib.contextmanager
def prepared(_folder):
    whole = to_content(Preferences(), {})

    def run(rng, folder, allow):
        path, imported = folder / "data" / "settings.toml", folder / "imported.toml"
        path.parent.mkdir()
        put_file(rng, path, whole)
        put_file(rng, imported, whole)
        allow(path.parent)
        file = PreferencesFile(path)
        preferences, notice = file.read()
        found, refusal = import_preferences(imported)
        for sentence in filter(None, (notice, refusal)):
            check(sentence, 20_000)
        chosen = found or preferences
        failure = file.write(chosen)
        if failure is not None:
            check(failure)
        else:
            assert PreferencesFile(path).read() == (chosen, None)
        assert export_preferences(chosen, path.parent / "exported.toml") is None
        assert import_preferences(path.parent / "exported.toml") == (chosen, None)

    yield run
