"""Test scoring with COMET: the command with a stand-in for ``comet-score``."""

import json
import random
import sys
from statistics import fmean

import pytest

from tests.support.run_folders import references, silent, translations, write_run
from training.evaluation.runs import read_run
from training.research.__main__ import main

STAND_IN = f"""#!{sys.executable}
import json, pathlib, sys
options = dict(zip(*[iter([one for one in sys.argv[1:] if one != "--quiet"])] * 2, strict=True))
files = [pathlib.Path(options.pop(key)) for key in ("-s", "-t", "-r")]
read = [path.read_text().split("\\n")[:-1] for path in files]
answer = pathlib.Path(options.pop("--to_json"))
pathlib.Path(sys.argv[0]).with_name("asked.json").write_text(json.dumps([options, len(read[0])]))
scores = [len(s) + 2 * len(t) + 3 * len(r) for s, t, r in zip(*read, strict=True)]
answer.write_text(json.dumps({{"t": [{{"COMET": one}} for one in scores]}}))
print("said on stdout")
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


def test_every_line_of_every_policy_is_scored(tmp_path, capsys):
    folder, scorer = made_run(tmp_path), program(tmp_path / "comet-score")
    arguments = ["--model", "some/model", "--batch", "4", "--device", "cpu"]
    assert main(["comet", str(folder), *arguments, "--program", str(scorer)]) == 0
    asked, n_segments = json.loads((tmp_path / "asked.json").read_text())
    assert asked == {"--model": "some/model", "--batch_size": "4", "--gpus": "0"}
    assert n_segments == 12 + 6  # what both policies wrote is scored once
    written = json.loads((folder / "comet.json").read_text())
    policies = written.pop("policies")
    assert written == {"model": "some/model"}
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
        ("#!/nonexistent/python\n", "No such file or directory): make its environment"),
    ],
)
def test_an_environment_that_fails_is_one_sentence(tmp_path, capsys, text, sentence):
    folder, scorer = made_run(tmp_path), program(tmp_path / "comet-score", text)
    assert main(["comet", str(folder), "--program", str(scorer)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line
    assert not (folder / "comet.json").exists()
