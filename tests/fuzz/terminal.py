"""Text and command lines of ``surtitle translate``."""

import contextlib
import io
import sys

import engine.runtime.loader
from app.__main__ import main
from tests.fuzz.sentences import check, text
from tests.support.fakes import save_tiny_model

_POLICIES = ["read:1", "read:3", "wait:1", "wait:3", "offline"]
_ARGUMENTS = [
    "translate", "adapters", "inspect", "list", "add", "remove", "--to", "de", "xx", "--policy",
    "read:3", "read:0", "wait:99999999999", "--slot", "16", "0", "1" * 5000, "٣", "--context",
    "1", "-1", "--glossary", "nowhere", "--model", ".", "a/b.", "--adapter", "none", "../x",
    "--log", "", "--quantize", "nf4", "--live", "-", "\ud800", "é", "--system", "slots",
    "x" * 5000, "--help", "--", "--device", "mps",
]  # fmt: skip


class _Input:
    """Standard input of a text."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def _run(arguments, content):
    """Run a command; return its exit code and what it wrote on both streams."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, (sys.stdout, sys.stderr) = _Input(content), streams
    try:
        exit_code = main(arguments)
    except SystemExit as error:  # argparse's way
        exit_code = error.code
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    for stream in streams:
        stream.flush()
    return exit_code, *(stream.buffer.getvalue() for stream in streams)


def _content(rng):
    content = "".join(
        text(rng) + rng.choice(["\n", "\r\n", " ", ""]) for _ in range(rng.randint(0, 4))
    )
    content = content.encode(errors="surrogatepass")
    match rng.randrange(6):
        case 0:
            content += rng.randbytes(rng.randint(1, 30))
        case 1:
            content = b"\xef\xbb\xbf" + content + b"\n" * rng.randint(1, 50)
        case 2:
            content += b"a" * rng.randint(1, 300)
    return content


@contextlib.contextmanager
def prepared(folder):
    saved = save_tiny_model(folder / "model")
    weights = engine.runtime.loader.load_weights(
        engine.settings.ModelSettings(directory=saved, device="cpu")
    )
    engine.runtime.loader.load_weights = lambda _settings: weights  # as it would be each time

    def run(rng, folder, allow):
        log, terms = folder / "log.jsonl", folder / "terms.tsv"
        if rng.random() < 0.2:
            content, arguments = b"", rng.choices(_ARGUMENTS, k=rng.randint(0, 6))
            arguments = ["translate", "--model", str(saved), *arguments]
            del arguments[: rng.choice([0, 0, 3])]
            arguments = arguments or ["--help"]
        else:
            arguments = ["translate", "--model", str(saved), "--adapter", "none"]
            arguments += ["--policy", rng.choice(_POLICIES), "--slot", rng.choice(["1", "4", "16"])]
            arguments += ["--system", rng.choice(["slots", "slots", "retranslate"])]
            more = [[], ["--live"], ["--context", "2"], ["--log", str(log)]]
            arguments += rng.choice([*more, ["--glossary", str(terms)]])
            terms.write_text(f"{text(rng)}\t{text(rng)}\n", errors="surrogatepass")
            content = _content(rng)
        allow(folder)
        exit_code, out, err = _run(arguments, content)
        for sentence in err.decode().splitlines():
            check(sentence, 20_000)
            assert "unexpectedly" not in sentence, sentence
        assert exit_code in (0, 1, 2), exit_code
        written = out.decode()
        assert all(
            one == "\n" or one.isprintable() or one.isspace() or ord(one) > 0xA0 for one in written
        )
        if exit_code == 0 and content:
            n_lines = content.count(b"\n") + (not content.endswith(b"\n"))
            assert written.count("\n") == n_lines, (content, written)

    yield run
