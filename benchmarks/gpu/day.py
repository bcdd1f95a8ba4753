"""Do in short calls what needs a GPU: tests, decode steps, QLoRA on 7 billion, the bundled model.

``scripts/gpu-day`` calls it. A rented GPU is paid by the minute, and some are lent for ten minutes
at a time and begin bare the next time, so a call ends in time, and the same command goes on:

* ``state.json`` holds the results of the steps that are done.
* ``report.md`` is made of it after each call.
* ``gemma.tar.NNN`` are the trained Gemma in 8 bits, in pieces as those of the parcel.
* ``train.tar.NNN`` are pieces of at most 15 MB, small enough for any way between two machines. They
  hold the training run with its checkpoints, and are unpacked where the work folder has none.

The work folder, with the random model of 15 GB, is not needed again.

The exit status is 0 when all is done, 3 while there is more to do, and 1 if a step failed; a failed
step is tried again by the next call.
"""

import argparse
import contextlib
import json
import lzma
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import tomli_w

from benchmarks.gpu import parcel
from benchmarks.gpu.report import report
from benchmarks.gpu.state import Result, State, pack, read_state, unpack
from benchmarks.random_models import shapes

ROOT = Path(__file__).parents[2]
_TUNED_SHAPE = "Qwen2.5-7B"
_TUNED_STEPS = 3  # in each of two runs: the second resumes the first
_TUNED_PAIRS = 2000
_TINY_RUN = {
    "precision": "fp32",
    "compiled": False,
    "shape": {"vocabulary": 512, "hidden": 64, "layers": 1, "heads": 2, "feed_forward": 64},
    "optimisation": {
        "optimizer": "muon", "warm_up_steps": 1, "fall": "late", "decay": 0, "batch_tokens": 400,
        "epochs": 0.2,
    },
}  # fmt: skip
_MORE_TO_DO = 3

_GEMMA = "gemma"
_TIMED_STEPS = 30  # of Gemma's run, the first half of which compiles
_SAVING_S = 60  # kept of the call for what comes after the last step
_FINAL_SHARE = 0.3  # of the run, in which the rate falls to 0
_LARGE_STEPS = {"max_length": 256, "workers": max(1, (os.cpu_count() or 2) - 2)}
_LARGE_TOKENS, _LARGE_RATE = 16384, 2e-4


class TimeIsUpError(Exception):
    """The call ends; the next one goes on."""


class StepError(Exception):
    """A step failed."""

    def __init__(self, step: str, how: object, last_line: str) -> None:
        super().__init__(f"{step} failed ({how}): {last_line}")


@dataclass
class Day:
    """One call.

    Attributes:
        out: folder of report, state and pieces.
        work: folder of everything else.
        data: folder of corpora, as ``scripts/train-bundled`` takes it.
        aligned: the aligned pairs, if they were made before.
        deadline_s: of the monotonic clock.
        state: as the calls before left it.
    """

    out: Path
    work: Path
    data: Path
    aligned: Path | None
    deadline_s: float
    state: State

    @property
    def device(self) -> str:
        return "cpu" if self.state.is_dry else "cuda"

    @property
    def train(self) -> Path:
        """The folder of the bundled model's run."""
        return self.work / "train"

    def run(
        self, step: str, command: Sequence[object], watch: Callable[[], None] = lambda: None
    ) -> str:
        """Run a command to its end; return the end of what it said.

        Raises:
            TimeIsUpError: it was ended at the deadline.
            StepError: it failed.
        """
        log = self.work / f"{step}.log"
        environment = {**os.environ, "PYTHON": sys.executable, "PYTHONUNBUFFERED": "1"}
        with log.open("w", encoding="utf-8") as said:
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                self._wait(step, process, watch)
            finally:
                _end(process)
        lines = re.split(r"[\r\n]+", log.read_text("utf-8", errors="replace").strip())[-40:]
        if process.returncode:
            raise StepError(step, process.returncode, lines[-1])
        return "\n".join(lines)

    def _wait(self, step: str, process: subprocess.Popen[bytes], watch: Callable[[], None]) -> None:
        while True:
            left_s = self.deadline_s - time.monotonic()
            if left_s <= 0:
                raise TimeIsUpError
            try:
                process.wait(min(left_s, 0.25))
            except subprocess.TimeoutExpired:
                watch()
                if self.device == "cuda":
                    most = self.state.most_mib
                    most[step] = max(most.get(step, 0), _gpu_mib())
                continue
            watch()
            return


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command with all its processes; a training run keeps its last checkpoint."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)


def _gpu_mib() -> int:
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, timeout=10, check=False).stdout
        return max(map(int, said.split()), default=0)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return 0


# ------------------------------------------------------------------------------------ the steps


def run_tests(day: Day) -> Result:
    """Run the tests that are marked ``gpu``; pytest's plugins are not needed."""
    files = [
        path
        for path in (ROOT / "tests").rglob("test_*.py")
        if "mark.gpu" in path.read_text("utf-8")
    ]
    files = [path for path in files if path.name != "test_gpu_day.py"]
    plain = ["-c", os.devnull, "--rootdir", ROOT, "-o", "pythonpath=.", "--import-mode=importlib"]
    said = day.run(
        "tests", [sys.executable, "-m", "pytest", *plain, "-q", "-m", "gpu", *sorted(files)]
    )
    summary = said.splitlines()[-1].strip("= ")
    if not day.state.is_dry and "passed" not in summary:
        raise StepError("tests", "none passed", summary)
    return {"summary": summary}


def time_decoding(day: Day, shape: str) -> Result:
    """Time a shape in NF4."""
    out = day.work / f"decode-{shape}.json"
    tiny = ["--small", "--repeats", 1, "--threads", 1] if day.state.is_dry else []
    command = [sys.executable, "-m", "benchmarks.decode", "--shape", shape, "--device", day.device]
    day.run(f"decode {shape}", [*command, *tiny, "--out", out])
    content = json.loads(out.read_text("utf-8"))
    (times,) = content["models"].values()
    return {"machine": content["machine"], **times}


def tune(day: Day) -> Result:
    """Train a LoRA adapter on a random model in 4 bits for a few steps, and resume it once."""
    base, out = day.work / "random" / _TUNED_SHAPE, day.work / "qlora"
    tiny = ["--small"] if day.state.is_dry else []
    if not base.exists():
        fresh = base.with_name(f"{base.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.parent.mkdir(exist_ok=True)
        make = [sys.executable, "-m", "benchmarks.random_models", _TUNED_SHAPE, fresh]
        day.run("random model", [*make, "--device", day.device, *tiny])
        fresh.rename(base)
    recipe = tomllib.loads(
        (ROOT / "training/trainer/recipes/finetuning/qwen2.5-7b-instruct.toml").read_text("utf-8")
    )
    recipe |= {"base": str(base), "device": day.device, "quantise": "nf4"}
    if day.state.is_dry:
        recipe |= {"precision": "fp32", "max_length": 96, "pass_tokens": 256}
        recipe["optimisation"]["batch_pairs"] = 2
    path = _write_recipe(day, "qlora", recipe)
    pairs = day.work / "qlora.tsv"
    with pairs.open("w", encoding="utf-8") as file, _aligned(day).open(encoding="utf-8") as lines:
        file.writelines(line for line, _ in zip(lines, range(_TUNED_PAIRS), strict=False))
    log, times = out / "steps.jsonl", list[float]()

    def watch() -> None:
        n_lines = log.read_bytes().count(b"\n") if log.exists() else 0
        times.extend([time.monotonic()] * (n_lines - n_before - len(times)))

    for n_steps in (_TUNED_STEPS, 2 * _TUNED_STEPS):
        n_before = log.read_bytes().count(b"\n") if log.exists() else 0
        times.clear()
        if n_before < n_steps:
            command = [sys.executable, "-m", "training", "finetune", "--recipe", path, "--out", out]
            command += [
                "--data",
                f"de={pairs}",
                "--stop-after",
                n_steps - n_before,
                "--checkpoint-steps",
                1,
            ]
            day.run("qlora", command, watch)
    steps = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    return {
        "losses": [round(step["loss"], 3) for step in steps],
        "rows": steps[-1]["rows"],
        "seconds a step": round((times[-1] - times[0]) / (len(times) - 1), 2)
        if len(times) > 1
        else None,
    }


def train(day: Day) -> Result:
    """Train the bundled model from the data to the folder that ``assets/models`` holds."""
    day.train.mkdir(exist_ok=True)
    _aligned(day)
    recipes = [_training_recipe(day, name) for name in ("bundled", "bundled-anneal")]
    command = [ROOT / "scripts/train-bundled", day.data, day.train]
    command += ["--recipe", recipes[0], "--anneal", recipes[1]]
    few = ["--limit", "2"] if day.state.is_dry else []
    try:
        day.run("train", [*command, *few])
    finally:
        day.state.pieces = pack(day.train, day.out)
    scores = {}
    for summary in sorted(day.train.glob("evaluated/*/summary.json")):
        (score,) = json.loads(summary.read_text("utf-8"))
        scores[summary.parent.name] = round(score["bleu"], 2)
    return {"rows": sum(_last_step(day, run).get("rows", 0) for run in ("stable", "annealed")),
            "loss": _last_step(day, "annealed").get("loss"), "BLEU": scores}  # fmt: skip


def train_gemma(day: Day) -> Result:
    """Train Gemma on for as long as the call lasts: the rate falls to 0 at its end.

    What is trained is packed as a parcel without pairs. A call that is cut short leaves nothing.
    """
    place, run = day.work / _GEMMA, day.work / "gemma-run"
    data = parcel.open_parcel(day.data, place)
    path = ROOT / "training/trainer/recipes/pretraining/gemma-3-270m.toml"
    recipe = tomllib.loads(path.read_text("utf-8")) | {"device": day.device}
    n_pairs = sum(map(len, (file.read_bytes().splitlines() for file in data.values())))
    if day.state.is_dry:
        recipe |= {"precision": "fp32", "compiled": False}
        recipe["optimisation"] |= {"batch_tokens": 512, "warm_up_steps": 1}
    else:
        recipe |= _LARGE_STEPS
        recipe["optimisation"] |= {"batch_tokens": _LARGE_TOKENS, "rate": _LARGE_RATE}
    n_steps = 2 if day.state.is_dry else _TIMED_STEPS
    recipe |= {"weights": {}, "checkpoint_steps": n_steps}
    log, times = run / "steps.jsonl", list[float]()

    def watch() -> None:
        n_lines = log.read_bytes().count(b"\n") if log.exists() else 0
        times.extend([time.monotonic()] * (n_lines - len(times)))

    def go_on(*more: object) -> None:
        command = [sys.executable, "-m", "training", "pretrain", "--out", run, *more]
        command += ["--recipe", _write_recipe(day, _GEMMA, recipe)]
        command += ["--train-on", place / parcel.BASE]
        pairs = [f"{language}={file}" for language, file in data.items()]
        day.run(_GEMMA, [*command, "--data", *pairs], watch)

    go_on("--stop-after", n_steps)
    done = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    n_left = 4.0 * done[-1]["pairs"]
    if not day.state.is_dry:
        half = len(done) // 2
        timed = done[-1]["pairs"] - done[half - 1]["pairs"]
        left_s = day.deadline_s - time.monotonic() - _SAVING_S
        n_left = max(0.0, left_s) * timed / (times[-1] - times[half - 1])
    recipe["optimisation"] |= {
        "epochs": (done[-1]["pairs"] + n_left) / n_pairs, "decay": _FINAL_SHARE
    }  # fmt: skip
    recipe["checkpoint_steps"] = 1 << 30  # gigabytes each
    go_on()
    parcel.make_parcel(run, {}, day.out)
    last = json.loads(log.read_text("utf-8").splitlines()[-1])
    return {key: round(last[key], 3) for key in ("pairs", "rows", "loss")}


def _training_recipe(day: Day, name: str) -> Path:
    """Write a recipe of the bundled model, for the GPU."""
    path = ROOT / f"training/trainer/recipes/pretraining/{name}.toml"
    recipe = tomllib.loads(path.read_text("utf-8"))
    recipe |= {"device": day.device, "checkpoint_steps": 200}
    if day.state.is_dry:
        recipe |= {**_TINY_RUN, "weights": {}}
    return _write_recipe(day, name, recipe)


def _aligned(day: Day) -> Path:
    """Return the aligned pairs, made before or by ``train-bundled``."""
    aligned = day.train / "all.aligned.tsv"
    if not aligned.exists():
        day.train.mkdir(exist_ok=True)
        fresh = aligned.with_suffix(".new")
        if day.aligned is None:
            few = ["--phrases", 1] if day.state.is_dry else []
            day.run(
                "data", [ROOT / "scripts/train-bundled", day.data, day.train, "--data-only", *few]
            )
        else:
            opened = lzma.open if day.aligned.suffix == ".xz" else open
            with opened(day.aligned, "rb") as source, fresh.open("wb") as target:
                shutil.copyfileobj(source, target)
            fresh.rename(aligned)
    return aligned


def _write_recipe(day: Day, name: str, recipe: Mapping[str, object]) -> Path:
    path = day.work / f"{name}.toml"
    path.write_text(tomli_w.dumps(recipe), encoding="utf-8")
    return path


def _last_step(day: Day, run: str) -> dict[str, float]:
    log = day.train / run / "steps.jsonl"
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return json.loads(lines[-1]) if lines else {}


def steps() -> dict[str, Callable[[Day], Result]]:
    """Name the steps, the short ones first."""
    decoding = {
        f"decode {shape}": lambda day, shape=shape: time_decoding(day, shape)
        for shape in sorted(shapes(), key=lambda name: "2b" not in name)
    }
    return {"tests": run_tests, **decoding, "qlora": tune, "train": train, _GEMMA: train_gemma}


def write(day: Day) -> None:
    """Write state and report, each whole or not at all."""
    texts = {
        "state.json": json.dumps(asdict(day.state), indent=1) + "\n",
        "report.md": report(day.state, list(steps())),
    }
    for name, text in texts.items():
        fresh = day.out / f"{name}.new"
        fresh.write_text(text, encoding="utf-8")
        fresh.rename(day.out / name)


def call(day: Day, names: Sequence[str]) -> int:
    """Take the steps that are not done until the time is up; return the exit status."""
    state = day.state
    state.calls += 1
    for name in names:
        if name in state.results:
            continue
        print(f"== {name}", flush=True)
        start_s = time.monotonic()
        try:
            state.results[name] = steps()[name](day)
            state.failures.pop(name, None)
        except StepError as error:
            state.failures[name] = str(error)
            print(f"gpu-day: {error}", file=sys.stderr)
        except TimeIsUpError:
            print(
                f"gpu-day: the time is up during {name}: type the same command again",
                file=sys.stderr,
            )
            return _MORE_TO_DO
        finally:
            state.seconds[name] = state.seconds.get(name, 0) + time.monotonic() - start_s
            write(day)
    return 1 if any(name in state.failures for name in names) else 0


def main(argv: Sequence[str] | None = None) -> int:
    start_s = time.monotonic()
    parser = argparse.ArgumentParser(
        prog="scripts/gpu-day", description="Do what needs a GPU, in short calls."
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="report, state and pieces")
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        metavar="DIR",
        help="as scripts/train-bundled takes it; for gemma what benchmarks.gpu.parcel wrote",
    )
    parser.add_argument(
        "--aligned",
        type=Path,
        metavar="F.tsv[.xz]",
        help="its all.aligned.tsv, if it was made before",
    )
    parser.add_argument(
        "--work", type=Path, metavar="DIR", help="everything else, 20 GB (OUT/work)"
    )
    parser.add_argument(
        "--minutes", type=float, default=9, metavar="N", help="of this call (%(default)s)"
    )
    parser.add_argument(
        "--only", choices=steps(), action="append", metavar="STEP", help=", ".join(steps())
    )
    parser.add_argument("--dry-run", action="store_true", help="tiny shapes, on the processor")
    arguments = parser.parse_args(argv)
    out = arguments.out.resolve()
    state = read_state(out, is_dry=arguments.dry_run)
    if (
        not state.is_dry
        and subprocess.run([ROOT / "scripts/has-nvidia-gpu"], check=False).returncode
    ):
        parser.error("this machine has no NVIDIA GPU; --dry-run tries the way without one")
    day = Day(
        out=out,
        work=(arguments.work or out / "work").resolve(),
        data=arguments.data.resolve(),
        aligned=arguments.aligned,
        deadline_s=start_s + 60 * arguments.minutes,
        state=state,
    )
    day.out.mkdir(parents=True, exist_ok=True)
    day.work.mkdir(parents=True, exist_ok=True)
    if state.pieces and not day.train.exists():
        unpack(state.pieces, day.out, day.train)
    is_parcel = (day.data / parcel.LIST).exists()
    return call(day, arguments.only or [name for name in steps() if (name == _GEMMA) is is_parcel])


if __name__ == "__main__":
    sys.exit(main())
