"""Two processes on CPUs do what one does."""

import subprocess
import sys

import pytest

from tests.support.fakes import save_tiny_model
from tests.support.training_runs import QUICK, finetune, losses, write_dev, write_pairs
from training.trainer.checkpoint import read_counters

LAUNCH = [
    sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "2",
    "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no",
]  # fmt: skip
KINDS = {"copies": ["--multi_gpu"], "shards": ["--use_fsdp", "--fsdp_version", "2"]}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("base"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_have_the_losses_of_one(kind, base, tmp_path):
    """Each step in several passes, a dev set decoded, a stop; then one process goes on."""
    data = write_pairs(tmp_path / "data.tsv")
    rest = ["--pass-tokens", "40", "--dev", write_dev(tmp_path), "--every", "2"]
    rest += ["--dev-policies", "read:2"]
    assert finetune(data, base, tmp_path / "one", *rest) == 0
    out = tmp_path / "two"
    command = ["-m", "training", "finetune", "--data", f"de={data}", "--base", str(base)]
    command += ["--out", str(out), *QUICK, *rest, "--stop-after", "2"]
    done = subprocess.run(
        [*LAUNCH, *KINDS[kind], *command], check=False, capture_output=True, text=True, timeout=170
    )
    assert done.returncode == 0, done.stderr
    assert read_counters(out / "checkpoint").step == 2
    assert finetune(data, base, out, *rest) == 0
    assert losses(out) == pytest.approx(losses(tmp_path / "one"), rel=1e-5)
    dev = [(tmp_path / name / "dev.jsonl").read_text() for name in ("one", "two")]
    assert dev[0] == dev[1]
