"""Settings: the person's own file, damaged, and a stranger's that is imported."""

import contextlib
import os

import tomli_w

from app.config.preferences import (
    Preferences,
    PreferencesFile,
    to_content,
)
from tests.fuzz.sentences import check, text
from tests.support.strangers import damaged, mutated

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

_VALUES = [3_000_000_000, 2**31 - 1, 2**62, -1, 0, 1e308, -1e308, float("inf"), float("nan"), True,
           "", "../../x", "a\0b", "x" * 9000, [], {"a": 1}]  # fmt: skip


def _with_a_value(rng, whole):
    page = rng.choice([name for name, value in whole.items() if isinstance(value, dict)])
    key = rng.choice(sorted(whole[page]) or ["x"])
    return tomli_w.dumps(whole | {page: whole[page] | {key: rng.choice(_VALUES)}}).encode()


def _mutated(rng, whole):
    content = whole
    for _ in range(rng.randint(1, 3)):
        content = mutated(content, rng)
    try:
        return tomli_w.dumps(content if isinstance(content, dict) else {"x": content}).encode()
    except (TypeError, ValueError):  # nothing that TOML can say
        return b""


_MAKERS = [
    _mutated,
    _mutated,
    _mutated,
    _with_a_value,
    _with_a_value,
    lambda rng, whole: damaged(tomli_w.dumps(whole).encode(), rng),
    lambda rng, _whole: rng.choice(_BOMBS)(rng).encode(),
    lambda rng, _whole: text(rng, 40).encode(errors="surrogatepass"),
]


def put_file(rng, path, whole):
    """Write a TOML file that was damaged, by a person, a disk or a stranger."""
    if rng.random() < 0.1:
        rng.choice([os.mkfifo, os.mkdir, lambda it: it.symlink_to("/dev/zero")])(path)
    else:
        path.write_bytes(rng.choice(_MAKERS)(rng, whole))
    if rng.random() < 0.2:
        backup = path.with_name(path.name + ".bak")
        backup.write_bytes(damaged(tomli_w.dumps(whole).encode(), rng))


@contextlib.contextmanager
def prepared(_folder):
    whole = to_content(Preferences(), {})

    def run(rng, folder, allow):
        path = folder / "data" / "settings.toml"
        path.parent.mkdir()
        put_file(rng, path, whole)
        allow(path.parent)
        file = PreferencesFile(path)
        preferences, notice = file.read()
        if notice is not None:
            check(notice, 20_000)
        failure = file.write(preferences)
        if failure is not None:
            check(failure)
        else:
            assert PreferencesFile(path).read() == (preferences, None)

    yield run
