"""Test scoring with COMET: the command with a stand-in for its environment, the program inside with
a stand-in for COMET, and, where ``scripts/comet-environment`` was run, with COMET itself.
"""

import json
import random
import sys
from pathlib import Path
from statistics import fmean

import pytest

from tests.support.programs.run import ran
from tests.support.run_folders import references, silent, translations, write_run
from training.evaluation.runs import read_run
from training.research import comet_scorer
from training.research.__main__ import main
from training.research.comet import PYTHON

HERE = Path(__file__).parent

STAND_IN = f"""#!{sys.executable}
import hashlib, json, pathlib, sys
isolated, program, question, answer = sys.argv[1:]
assert (isolated, program) == ("-P", {comet_scorer.__file__!r})
request = json.loads(pathlib.Path(question).read_text())
samples = request.pop("samples")
pathlib.Path(sys.argv[0]).with_name("asked.json").write_text(json.dumps([request, samples]))
scores = [len(one["src"]) + 2 * len(one["mt"]) + 3 * len(one["ref"]) for one in samples]
told = dict(scores=scores, revision="r", checkpoint_sha256="s", versions={{"unbabel-comet": "2"}})
pathlib.Path(answer).write_text(json.dumps(told))
"""

TORCH = """
class cuda:
    @staticmethod
    def is_available():
        return False
"""

COMET = """
import json, pathlib, sys

class Model:
    def predict(self, samples, batch_size, gpus, num_workers, progress_bar):
        print("said on stdout")
        assert (batch_size, gpus, num_workers, progress_bar) == (4, 0, 0, False)
        return {"scores": [float(len(one["mt"])) for one in samples]}

def load_from_checkpoint(path):
    if pathlib.Path(path).read_text() == "bad":
        raise OSError("no such encoder. Or\\nelse.")
    return Model()
"""


def made_run(tmp_path):
    rng = random.Random(3)
    wanted = references(rng, 12)
    late = translations(rng, wanted, wrong=0.3, late=4)
    late[5] = silent(late[5])
    same = [*late[:6], *translations(rng, wanted, wrong=0.5, late=4)[6:]]
    return write_run(tmp_path / "run", {"read:3": late, "wait:3": same}, wanted)


def program(path, text=STAND_IN):
    path.write_text(text)
    path.chmod(0o755)
    return path


def told(capsys):
    """The sentence that the command said on stderr."""
    (line,) = capsys.readouterr().err.splitlines()
    return line.removeprefix("training.research comet: ")


def test_every_line_of_every_policy_is_scored(tmp_path, capsys):
    folder, python = made_run(tmp_path), program(tmp_path / "python")
    arguments = ["--model", "some/model", "--batch", "4", "--device", "cpu"]
    assert main(["comet", str(folder), *arguments, "--python", str(python)]) == 0
    request, samples = json.loads((tmp_path / "asked.json").read_text())
    assert request == {"model": "some/model", "device": "cpu", "batch_size": 4}
    assert len(samples) == 12 + 6  # what both policies wrote is scored once
    written = json.loads((folder / "comet.json").read_text())
    policies = written.pop("policies")
    assert written == {
        "model": "some/model", "revision": "r", "checkpoint_sha256": "s",
        "versions": {"unbabel-comet": "2"},
    }  # fmt: skip
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "some/model"
    for (name, policy), row, line in zip(
        read_run(folder).policies.items(), policies, printed[1:], strict=False
    ):
        expected = [
            len(" ".join(one.translation.source))
            + 2 * len(one.translation.hypothesis)
            + 3 * len(one.reference)
            for one in policy.sentences
        ]
        assert row == {
            "policy": name, "comet": pytest.approx(fmean(expected)), "n_sentences": 12,
            "n_empty": 1, "segments": expected,
        }  # fmt: skip
        assert line.split() == [name, f"{fmean(expected):.4f}", "12", "1"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"#!{sys.executable}\nraise SystemExit(3)\n", "COMET ended without scores (exit code 3)"),
        (f"#!{sys.executable}\n", "COMET ended without scores (exit code 0)"),
        (STAND_IN + "sys.exit(4)\n", "COMET ended without scores (exit code 4)"),
        ("#!/nonexistent/python\n", "cannot be run (No such file or directory)"),
        (
            STAND_IN + 'pathlib.Path(answer).write_text(\'{"error": "Why not."}\')\n',
            "Why not.",
        ),
    ],
)
def test_an_environment_that_fails_is_one_sentence(tmp_path, capsys, text, sentence):
    folder, python = made_run(tmp_path), program(tmp_path / "python", text)
    assert main(["comet", str(folder), "--python", str(python)]) == 1
    assert sentence in told(capsys)
    assert not (folder / "comet.json").exists()


def score(folder, *, model, mts=("a", "", "abc"), device="auto"):
    """Run the program inside with our own Python, which has no COMET but what ``folder`` holds."""
    samples = [{"src": "s", "mt": mt, "ref": "r"} for mt in mts]
    request = {"model": str(model), "device": device, "batch_size": 4, "samples": samples}
    question, answer = folder / "request.json", folder / "answer.json"
    question.write_text(json.dumps(request))
    command = [sys.executable, "-P", comet_scorer.__file__, question, answer]
    env = {"PYTHONPATH": str(folder), "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder)}
    done = ran(*command, env=env, check=True)
    assert done.stdout == ""
    return json.loads(answer.read_text())


@pytest.fixture
def stand_in(tmp_path):
    """A folder with a stand-in for COMET, which says that it is installed."""
    (tmp_path / "comet.py").write_text(COMET)
    (tmp_path / "torch.py").write_text(TORCH)  # the true one takes seconds to import
    metadata = tmp_path / "unbabel_comet-0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: unbabel-comet\nVersion: 0\n")
    model = tmp_path / "model"
    (model / "checkpoints").mkdir(parents=True)
    (model / "hparams.yaml").touch()
    (model / "checkpoints" / "model.ckpt").touch()
    return tmp_path


def test_a_model_in_a_folder_scores(stand_in):
    answer = score(stand_in, model=stand_in / "model")
    assert answer["scores"] == [1, 0, 3]
    assert answer["revision"] is None
    assert answer["checkpoint_sha256"].startswith("e3b0c442")  # of nothing
    assert answer["versions"]["unbabel-comet"] == "0"


def test_weights_that_cannot_be_had_are_one_sentence(stand_in):
    for name in ("Unbabel/wmt22-comet-da", "no name!"):
        error = score(stand_in, model=name)["error"]
        assert error.startswith(f"the weights of {name} cannot be had (")
        assert error.endswith("check the name and the network, or name a folder that has them")
        assert "\n" not in error
    (stand_in / "model" / "checkpoints" / "model.ckpt").write_text("bad")
    error = score(stand_in, model=stand_in / "model")["error"]
    assert "cannot load" in error
    assert "(no such encoder)" in error
    (stand_in / "model" / "hparams.yaml").unlink()
    error = score(stand_in, model=stand_in / "model")["error"]
    assert error.endswith("is no COMET model: it has no hparams.yaml")


@pytest.mark.slow
@pytest.mark.timeout(600)  # COMET takes a while to be imported, three times
@pytest.mark.skipif(not PYTHON.exists(), reason="COMET is not installed: scripts/comet-environment")
def test_comet_itself_scores_as_its_own_command_does(tmp_path, capsys):
    folder, model = made_run(tmp_path), tmp_path / "model"
    ran(PYTHON, HERE / "comet_model.py", model, text=False, check=True)
    assert main(["comet", str(folder), "--model", str(model), "--device", "cpu"]) == 0
    rows = json.loads((folder / "comet.json").read_text())["policies"]
    sentences = read_run(folder).policies["read:3"].sentences
    texts = {
        "s": [" ".join(one.translation.source) for one in sentences],
        "t": [one.translation.hypothesis for one in sentences],
        "r": [one.reference for one in sentences],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    files = [part for name in texts for part in (f"-{name}", tmp_path / name)]
    theirs = [
        *(PYTHON.with_name("comet-score"), *files, "--gpus", "0", "--quiet"),
        *("--model", model / "checkpoints" / "model.ckpt", "--to_json", tmp_path / "theirs.json"),
    ]
    ran(*theirs, text=False, check=True)
    (scored,) = json.loads((tmp_path / "theirs.json").read_text()).values()
    # its command computes in half precision
    assert rows[0]["segments"] == pytest.approx([one["COMET"] for one in scored], abs=5e-4)
    assert max(rows[0]["segments"]) - min(rows[0]["segments"]) > 0.02
    assert main(["comet", str(folder), "--model", "no name!"]) == 1
    assert "the weights of no name! cannot be had (" in capsys.readouterr().err
