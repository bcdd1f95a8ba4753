"""``surtitle translate``: what goes in comes out, and what cannot be done is one sentence."""

import contextlib
import copy
import dataclasses
import errno
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from app.__main__ import main
from app.cli import translate as terminal
from engine.models.adapters.adapter import AdapterScore
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import Calibration, read_card
from tests.support.adapter_folders import tiny_card, write_adapter
from tests.support.app.bundle import bundle
from tests.support.chat_templates import CHATML
from tests.support.fakes import leave_to_torch, tiny_weights
from training.trainer.tokenizer import END, END_OF_WRITE

ROOT = Path(__file__).resolve().parents[3]
POLICIES = ["read:3", "wait:1", "offline"]


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A folder with a tiny model whose writes are short, as those of real ones are.

    It says ASCII, control characters too, and after every other token it wants to end.
    """
    folder = tmp_path_factory.mktemp("model")
    weights = tiny_weights()
    network, tokenizer = copy.deepcopy(weights.network).float(), weights.tokenizer
    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    with torch.no_grad():  # the first number of the residual stream tells whether a token ends
        for layer in network.model.layers:
            layer.self_attn.o_proj.weight[0] = layer.mlp.down_proj.weight[0] = 0
        network.lm_head.weight[:, 0] = 0
        for id_, piece in enumerate(pieces):
            text = tokenizer.decode([id_])
            if not (text.strip() and text.isascii()):
                network.lm_head.weight[id_] = 0
            ends = not piece.startswith("<|") and id_ % 2
            network.model.embed_tokens.weight[id_, 0] = 1 if ends else -1
        for marker in (END_OF_WRITE, END):
            network.lm_head.weight[pieces.index(marker), 0] = 1000
    network.save_pretrained(folder)
    leave_to_torch(folder)
    tokenizer.save_pretrained(folder)
    weights.card.save(folder)
    return folder


@pytest.fixture
def translate(model, monkeypatch, capsysbinary):
    """Run the command in this process; give what it wrote and its exit code."""

    def run(stdin, *options, folder=model):
        stream = stdin if isinstance(stdin, Stdin) else Stdin(stdin)
        monkeypatch.setattr(sys, "stdin", stream)
        exit_code = main(["translate", "--model", str(folder), *map(str, options)])
        out, err = capsysbinary.readouterr()
        return Ran(out, err.decode(), exit_code)

    return run


class Ran:
    def __init__(self, out, err, exit_code):
        self.out, self.err, self.exit_code = out, err, exit_code

    @property
    def lines(self):
        """The lines, after a check that nothing was said and nothing can steer a terminal."""
        assert (self.err, self.exit_code) == ("", 0)
        return self.lines_in_spite

    @property
    def lines_in_spite(self):
        text = self.out.decode()
        assert not text or text.endswith("\n")
        assert not re.search("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\u2028\u2029]", text)
        return text.split("\n")[:-1]

    def says(self, exit_code, *parts):
        """Check that it wrote no caption, failed so, and said so in one sentence."""
        assert self.out == b""
        self.adds(exit_code, *parts)

    def adds(self, exit_code, *parts):
        assert self.exit_code == exit_code
        assert self.err.startswith("surtitle translate: ")
        assert self.err.count("\n") == 1
        for part in parts:
            assert str(part) in self.err


class Stdin:
    """Standard input of these bytes."""

    def __init__(self, content):
        self.buffer = io.BytesIO(content)


# A line in, a line out


@pytest.mark.parametrize("policy", POLICIES)
def test_every_line_has_a_caption_of_its_own(translate, policy):
    alone = [translate(line, "--policy", policy).lines for line in (b"Abc de fgh.\n", b"Hag bed.")]

    together = translate(b"Abc de fgh.\nHag bed.", "--policy", policy).lines

    assert [[line] for line in together] == alone
    assert all(together)
    assert together[0] != together[1]


def test_the_captions_of_a_lines_sentences_are_joined_by_one_blank(translate):
    first, second, both = translate(b"Abc de.\nHag bed.\nAbc  de. Hag\tbed.\n").lines

    assert both == f"{first} {second}"


@pytest.mark.parametrize("policy", ["read:4", "read:5", "offline"])  # which write nothing before it
def test_a_line_without_its_full_stop_is_a_finished_sentence(translate, policy):
    marked, bare = translate(b"Abc de fgh.\nAbc de fgh\n", "--policy", policy).lines
    assert bare == marked.removesuffix(".")


def test_empty_and_blank_lines_stay_empty_lines(translate):
    lines = translate(b"\nAbc.\n\n \t \r\n\x00\x1b\nAbc.\n\n").lines

    assert [bool(line) for line in lines] == [False, True, False, False, False, True, False]
    assert lines[1] == lines[5]


def test_a_line_of_1600_words_is_one_line_and_every_sentence_of_it_is_translated(
    translate, tmp_path
):
    words = ["a" if n % 9 else "bed." for n in range(1, 401)] + ["f"] * 1200
    log = tmp_path / "log.jsonl"

    lines = translate(" ".join(words).encode(), "--policy", "read:20", "--log", log).lines

    assert len(lines) == 1
    events = [json.loads(line) for line in log.read_text().splitlines()]
    sources = [event for event in events if event["event"] == "source"]
    assert [word for event in sources for word in event["words"]] == words
    assert sum(event["event"] == "ended" for event in events) == len(sources)
    assert max(event["cached_rows"] for event in events if event["event"] == "fed") < 600


def test_emoji_right_to_left_text_and_markers_of_the_model_go_through(translate):
    text = (
        "🙂 👩‍👩‍👧 🇩🇪.\n"
        "\u05e9\u05dc\u05d5\u05dd.\n\u0645\u0631\u062d\u0628\u0627\u061f\n"
        "<|end|> <|user|> x\n漢字\n"
    )

    ran = translate(text.encode())

    assert ran.lines_in_spite[:3] == text.split("\n")[:3]
    assert ran.lines_in_spite[3]
    assert ran.lines_in_spite[4] == "漢字"
    ran.adds(0, "3 lines do not look like English")


def test_invalid_utf8_is_replaced_counted_and_told_once(translate):
    ran = translate(b"Abc.\n\xffde.\nHag.\n\xc3 \xe2\x82\nAbc.\n")

    replaced = translate("Abc.\n�de.\nHag.\n� �\nAbc.\n".encode()).lines
    assert ran.lines_in_spite == replaced
    ran.adds(0, "2 lines of standard input", "first line 2", "convert")


def test_a_file_that_is_no_text_is_refused_before_anything_is_loaded(
    translate, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "engine.runtime.loader", None)
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n")
    translate(b"", path).says(1, "expected UTF-8 text", path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes of Unix")
def test_a_file_a_pipe_and_standard_input_give_the_same(translate, tmp_path):
    text, pipe, content = tmp_path / "text.txt", tmp_path / "pipe", b"Abc de.\nHag."
    text.write_bytes(content)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[content])
    writer.start()
    expected = translate(content, "-").lines
    assert translate(b"", text).lines == translate(b"", pipe).lines == expected
    writer.join()


# Live


@pytest.mark.parametrize("policy", POLICIES)
def test_live_reads_word_by_word_what_otherwise_is_read_at_once(translate, policy):
    text = b"Abc de fgh bed hag. Bed\n\nHag \xf0\x9f\x99\x82 a de? Abc" + b" f" * 60 + b"\n"

    live = translate(text, "--policy", policy, "--live").lines
    at_once = translate(text, "--policy", policy).lines

    assert [bool(line) for line in live] == [bool(line) for line in at_once]
    assert (live == at_once) is (policy == "offline")


def test_live_captions_grow_while_the_words_are_read(model, monkeypatch):
    written, sources = Recorder(), []
    monkeypatch.setattr(sys, "stdin", Stdin(b"abc de fgh bed hag a\n"))
    monkeypatch.setattr(sys, "stdout", written)
    monkeypatch.setattr(
        "engine.metrics.event_log.EventLog.write",
        lambda _log, event, **_: (
            sources.append(len(written.flushed)) if event == "source" else None
        ),
    )

    assert main(["translate", "--model", str(model), "--policy", "read:1", "--live"]) == 0

    assert len(sources) == 6
    assert sources == sorted(set(sources)), "something was shown after every word"
    assert b"".join(written.flushed).count(b"\n") == 1


class Recorder:
    """Standard output that keeps what was flushed, flush by flush."""

    def __init__(self):
        self.flushed, self._waiting = [], b""

    @property
    def buffer(self):
        return self

    def write(self, text):
        self._waiting += text

    def flush(self):
        if self._waiting:
            self.flushed.append(self._waiting)
        self._waiting = b""


# Wrong usage: exit code 2


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--policy", "read:0"], ["read:N[:FIRST], wait:K, stable:N or offline", "'read:0'"]),
        (["--policy", "\x1b[2J"], ["offline"]),
        (["--policy", "stable:2"], ["stable:2 asks for drafts", "write read:N"]),
        (["--slot", "0"], ["from 1 to", "'0'"]),
        (["--slot", "two"], ["whole number", "'two'"]),
        (["--slot", "9" * 5000], ["int"]),
        (["--device", "tpu"], ["auto, cpu, cuda", "'tpu'"]),
        (["--to", "xx"], ["de, fr", "'xx'"]),
    ],
)
def test_a_wrong_option_is_told_in_one_sentence(translate, options, parts):
    ran = translate(b"Abc.\n", *options)

    ran.says(2, *parts)
    assert "\x1b" not in ran.err


def test_options_before_the_command_count_too(translate, model, monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "stdin", Stdin(b"Abc de.\n"))
    main(["--model", str(model), "--to", "fr", "--policy", "offline", "translate"])

    before = capsysbinary.readouterr().out
    assert before == translate(b"Abc de.\n", "--to", "fr", "--policy", "offline").out != b""


# Failures: exit code 1


def test_without_any_model_the_option_is_named(monkeypatch, capsys):
    monkeypatch.setattr("engine.hub.catalogue.bundled_models", list)

    assert main(["translate"]) == 1
    assert "surtitle translate: no model" in (said := capsys.readouterr().err)
    assert "--model DIR" in said


def test_of_several_bundled_models_that_of_the_language_is_taken_or_the_named_one(
    tmp_path, monkeypatch, capsys
):
    folders, taken = bundle(tmp_path, monkeypatch), []
    monkeypatch.setattr(terminal, "check_model_folder", lambda _folder: None)
    monkeypatch.setattr(
        terminal, "translate", lambda settings, *_: taken.append(settings.model.directory)
    )
    for options in ((), ("--to", "fr"), ("--model", "surtitle-en-es", "--to", "es")):
        assert main(["translate", "--adapter", "none", *options]) == 0
    assert taken == [folders[code] for code in ("de", "fr", "es")]
    assert main(["translate", "--adapter", "none", "--model", "surtitle-en-fr", "--to", "es"]) == 2
    assert "surtitle-en-fr translates to fr, not to 'es'" in capsys.readouterr().err


@pytest.fixture
def places(model, tmp_path, monkeypatch):
    """Folders and files that cannot be used as something else."""
    monkeypatch.setenv("SURTITLE_HOME", str(tmp_path))
    (tmp_path / "empty").mkdir()
    read_card(model).save(tmp_path / "empty")
    (tmp_path / "terms").write_text("one\ttwo\tthree\n")
    (tmp_path / "text").write_text("Abc.\n")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "exit_code", "parts"),
    [
        (["{}/no\ne"], 1, ["no e", "No such file", "name another"]),
        (["{}"], 1, ["{}", "directory"]),
        (["--model", "{}/none"], 1, ["{}/none", "choose"]),
        (["--model", "{}/empty"], 1, ["{}/empty", "choose"]),
        (["--adapter", "{}/empty"], 1, ["{}/empty", "no adapter"]),
        (["--adapter", "yours"], 1, ["there is no adapter 'yours'"]),
        (["--log", "{}/none/log"], 1, ["log", "--log"]),
        (["--log", "{}"], 1, ["log", "--log"]),
        (["--log", "{}/text", "{}/text"], 2, ["{}/text", "--log"]),
        (["--glossary", "{}/none"], 1, ["cannot be read", "none"]),
        (["--glossary", "{}/terms"], 1, ["line 1", "a tab"]),
        (["--context", "-1"], 2, ["at least 0, got -1"]),
    ],
)
def test_a_place_that_cannot_be_used_is_told_in_one_sentence(
    translate, places, options, exit_code, parts
):
    options = [option.format(places) for option in options]
    translate(b"Abc.\n", *options).says(exit_code, *(part.format(places) for part in parts))
    assert (places / "text").read_text() == "Abc.\n"


def test_a_file_that_breaks_off_is_told_after_what_was_read(translate):
    stdin = Stdin(b"Abc.\n")
    stdin.buffer = Breaking([b"Abc.\n", OSError(errno.EIO, "Input/output error")])

    ran = translate(stdin)

    assert ran.out == translate(b"Abc.\n").out
    ran.adds(1, "standard input", "Input/output error")


class Breaking:
    """Lines, then an error."""

    def __init__(self, parts):
        self._parts = parts

    def readline(self):
        part = self._parts.pop(0)
        if isinstance(part, BaseException):
            raise part
        return part


def test_closed_standard_streams_are_told(model, monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["translate", "--model", str(model)]) == 1
    assert b"standard input is closed" in capsysbinary.readouterr().err

    monkeypatch.setattr(sys, "stdin", Stdin(b"Abc.\n"))
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["translate", "--model", str(model)]) == 1
    assert b"standard output is closed" in capsysbinary.readouterr().err


def test_ctrl_c_ends_with_130_and_no_word(translate):
    stdin = Stdin(b"")
    stdin.buffer = Breaking([b"Abc.\n", KeyboardInterrupt()])

    ran = translate(stdin)

    assert (ran.out, ran.err, ran.exit_code) == (translate(b"Abc.\n").out, "", 130)


class PanicException(BaseException):
    """What they raise: no ``Exception``."""


@pytest.mark.parametrize(
    ("error", "parts"),
    [(ZeroDivisionError("by\nzero"), ["(ZeroDivisionError: by, in test_translate.py, line "]),
     (PanicException("unwrap"), ["(PanicException: unwrap, in ", "report"]),
     (MemoryError(), ["memory ran out"]),
     (OSError(errno.ENOMEM, "Cannot allocate memory"), ["memory ran out"]),
     (RuntimeError("[x.cpp] DefaultCPUAllocator: can't allocate memory"), ["memory ran out"])],
)  # fmt: skip
def test_what_nobody_expected_is_one_sentence(translate, error, parts):
    stdin = Stdin(b"")
    stdin.buffer = Breaking([b"Abc.\n", error])
    ran = translate(stdin)
    assert ran.out == translate(b"Abc.\n").out
    ran.adds(1, *parts)


# Libraries and the process


EVIL = """
from pathlib import Path
Path(__file__).with_name("it-ran").touch()
from transformers import LlamaConfig, LlamaForCausalLM
class EvilConfig(LlamaConfig):
    model_type = "evil"
class Evil(LlamaForCausalLM):
    config_class = EvilConfig
"""


@pytest.mark.parametrize(("card", "early"), [(True, False), (False, True)])
def test_text_that_answers_yes_never_runs_the_code_of_a_folder(
    translate, model, tmp_path, monkeypatch, card, early
):
    if not early:  # what guards the loading itself
        monkeypatch.setattr(terminal, "check_model_folder", lambda _folder: None)
    folder = tmp_path / "evil"
    shutil.copytree(model, folder)
    config = json.loads((folder / "config.json").read_text())
    code = {"AutoConfig": "evil.EvilConfig", "AutoModelForCausalLM": "evil.Evil"}
    config |= {"model_type": "evil", "auto_map": code}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text(EVIL)
    if not card:
        (folder / "surtitle.json").unlink()

    ran = translate(b"Hello there.\nYes\ny\n1\n" * 3, folder=folder)

    ran.says(1, folder, "names Python code of its own (auto_map)")
    assert not (folder / "it-ran").exists()


def test_ctrl_c_that_a_library_swallows_while_it_is_imported_ends_the_program(
    translate, monkeypatch
):
    ended = []

    def swallowing(_settings):
        with contextlib.suppress(BaseException):
            os.kill(os.getpid(), signal.SIGINT)
        msg = "could not import module"
        raise ImportError(msg)

    monkeypatch.setattr("engine.runtime.loader.load_weights", swallowing)
    monkeypatch.setattr(os, "_exit", ended.append)
    translate(b"Abc.\n")
    assert ended == [130]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# Adapters


def test_a_bundled_adapter_that_helps_is_used_unless_the_person_says_otherwise(
    translate, model, tmp_path, monkeypatch
):
    base = read_fingerprint(model)
    helps = AdapterScore(
        test_set="talks", lines=9, language="de", policy="read:5", bleu=20, laal=2, base_bleu=10
    )
    card = tiny_card(base, scores=(helps,))
    folder = write_adapter(tmp_path / "a", base, config={"lora_alpha": 64}, card=card)
    monkeypatch.setattr("engine.hub.catalogue.bundled_adapters", list)
    text = b"Abc de fgh.\nHag bed.\n"
    bare, bare_waits = translate(text).lines, translate(text, "--policy", "wait:1").lines
    adapted = translate(text, "--adapter", folder).lines
    assert adapted != bare

    monkeypatch.setattr("engine.hub.catalogue.bundled_adapters", lambda: [folder])

    assert translate(text).lines == adapted
    assert translate(text, "--adapter", "none").lines == bare
    assert translate(text, "--policy", "wait:1").lines == bare_waits


def test_an_adapter_brings_its_slot_length_and_its_languages(translate, model, tmp_path):
    pytest.importorskip("peft")
    base = read_fingerprint(model)
    card = tiny_card(base, slot_length=4)
    folder = write_adapter(tmp_path / "a", base, card=card, scale=0)
    text = b"Abc de fgh hag bed gab abc de fgh hag bed gab.\n"

    adapted = translate(text, "--adapter", folder, "--live").lines
    assert adapted == translate(text, "--slot", 4, "--live").lines
    assert adapted != translate(text, "--live").lines
    translate(text, "--adapter", folder, "--to", "fr").says(2, "translates to de, not to 'fr'")


def test_a_model_without_a_card_translates_and_says_in_which_mode(translate, model, tmp_path):
    folder = tmp_path / "someone-2b-it"
    shutil.copytree(model, folder)
    (folder / "surtitle.json").unlink()
    (folder / "chat_template.jinja").write_text(CHATML, encoding="utf-8")
    log = tmp_path / "log.jsonl"
    ran = translate(b"Abc de.\n\nHag bed.\n", "--log", log, folder=folder)
    assert '"policy": "stable:2"' in log.read_text(encoding="utf-8")
    ran.adds(0, "someone-2b-it", "with an adapter for slots captions come sooner")
    assert len(ran.lines_in_spite) == 3
    again = translate(b"Abc de.\n\nHag bed.\n", "--system", "retranslate", folder=folder)
    assert again.out == ran.out
    translate(b"Abc.\n", "--system", "slots", folder=folder).adds(0, "experiment")
    translate(b"", "--to", "xx", folder=folder).says(2, "not to 'xx'")


@pytest.mark.parametrize(
    ("languages", "named"),
    [
        (["--to", "cs"], "Helsinki-NLP/opus-mt-en-cs (307 MB, downloaded once)"),
        (["--to", "pl"], "facebook/m2m100_418M (1.9 GB, downloaded once)"),
        (["--to", "pl", "--from", "de"], "facebook/m2m100_418M (1.9 GB, downloaded once)"),
        (["--to", "xx"], ""),
    ],
)
def test_a_model_that_can_is_named_for_languages_that_this_one_cannot(translate, languages, named):
    ran = translate(b"", *languages)
    ran.says(2, f"for example --model {named}" if named else "another model")
    assert named or "--model" not in ran.err


def test_what_a_glossary_and_the_sentences_before_cost_is_told(translate, tmp_path):
    path = tmp_path / "terms.tsv"
    path.write_text("abc\tfed\nhag\tgah\n", encoding="utf-8")
    text = b"Abc de fgh.\n\nHag bed. Hed.\n"
    for options in (["--context", "2"], ["--glossary", path, "--context", 1]):
        ran = translate(text, *options)
        ran.adds(0, "took up to ", " rows of the prompt")
        assert len(ran.lines_in_spite) == 3
    assert translate(text, "--context", "0").lines
    assert translate(text, "--glossary", path).lines  # a rule while decoding: no rows


def test_a_model_of_the_hub_is_fetched_into_the_library(translate, model, monkeypatch):
    asked = []

    def fetch(name, library, _wanted):
        asked.append((name, library.name))
        return model

    monkeypatch.setattr("engine.hub.download.fetch_model", fetch)
    assert translate(b"Abc de.\n", folder="some/model").lines
    assert asked == [("some/model", "models")]


def test_an_adapter_is_found_by_its_name_and_one_without_a_card_is_used_but_not_silently(
    translate, model, tmp_path, monkeypatch
):
    pytest.importorskip("peft")
    monkeypatch.setenv("SURTITLE_HOME", str(tmp_path))
    base = read_fingerprint(model)
    write_adapter(tmp_path / "adapters" / "mine", base, card=tiny_card(base))

    assert len(translate(b"Abc de fgh.\n", "--adapter", "mine").lines) == 1
    folder = write_adapter(tmp_path / "without a card", base, card=False)
    ran = translate(b"Abc de fgh.\n", "--adapter", folder)
    ran.adds(0, folder, "it has no surtitle.json, so its base, its slot length")


# As a program


def surtitle(*arguments, code="from app.__main__ import main; sys.exit(main(sys.argv[1:]))"):
    """Start the program; the locale knows ASCII only, and nothing may be said by Python itself."""
    return subprocess.Popen(
        [sys.executable, "-c", f"import sys; {code}", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="needs pipes of Unix")
def test_a_typed_line_is_answered_at_once_and_a_closed_pipe_ends_quietly(model, translate):
    text = "Abc 🙂 né.\n".encode()
    with surtitle("translate", "--model", model) as process:
        process.stdin.write(text)
        process.stdin.flush()
        answer = process.stdout.readline()  # although the input has not ended
        process.stdout.close()
        process.stdin.write(text * 3)
        process.stdin.close()

        assert process.wait(60) == 141
        assert process.stderr.read() == b""
    assert answer == translate(text).out


def test_help_and_wrong_usage_load_neither_torch_nor_qt(model):
    code = """
from app.__main__ import main
try: main(['translate', '--help'])
except SystemExit: pass
print(main(['translate', '--model', sys.argv[1], '--policy', 'x']))
print(main(['translate', '--model', sys.argv[1], '--to', 'x']))
print([name for name in ('torch', 'transformers', 'PySide6') if name in sys.modules])"""
    with surtitle(model, code=code) as process:
        out, _ = process.communicate(timeout=300)

    assert b"--policy POLICY" in out
    assert out.splitlines()[-3:] == [b"2", b"2", b"[]"]


# The lines themselves


@pytest.fixture
def calibrated(model, tmp_path):
    """Return a copy of the model whose captions are all doubtful, or none is."""

    def make(threshold):
        folder = tmp_path / f"threshold {threshold}"
        shutil.copytree(model, folder)
        calibration = Calibration(slope=0.1, offset=0.0, threshold=threshold)
        dataclasses.replace(read_card(model), calibration=calibration).save(folder)
        return folder

    return make


def test_a_sign_follows_doubtful_captions_if_that_is_wanted(translate, calibrated):
    text = b"one two. three four\n"
    (plain,) = translate(text).lines
    assert translate(text, "--mark-doubtful").lines == [plain]
    assert translate(text, "--mark-doubtful", folder=calibrated(0.0)).lines == [plain]
    doubtful = calibrated(1.0)
    assert translate(text, folder=doubtful).lines == [plain]
    for live in ((), ("--live",)):
        (line,) = translate(text, "--mark-doubtful", *live, folder=doubtful).lines
        assert line.count(" (?)") == 2
        assert line.endswith(" (?)")
        assert line.replace(" (?)", "") == plain
