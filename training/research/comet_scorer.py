"""Score with COMET in the environment that has it: ``comet`` runs this file as a program.

    PYTHON -P comet_scorer.py REQUEST.json ANSWER.json

Without ``-P`` Python would look for COMET in this folder and find our module of that name. No other
module of ours is imported, since PYTHON need not have them. ANSWER is written unless an unexpected
exception ends the program; progress goes to stderr.
"""

import hashlib
import json
import logging
import pickle
import sys
import warnings
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import TypedDict, final


class Sample(TypedDict):
    """A source segment, its machine translation and its reference; names are COMET's."""

    src: str
    mt: str
    ref: str


class Request(TypedDict):
    """Samples, and the model that scores them.

    ``model`` is a name on huggingface.co, or a folder with the same files. ``device`` is one
    of ``engine.settings.DEVICES``.
    """

    model: str
    device: str
    batch_size: int
    samples: list[Sample]


@final  # so that the key "error" distinguishes the answers
class Failure(TypedDict):
    """Why there is no score, in one sentence."""

    error: str


@final
class Scores(TypedDict):
    """A score for each sample, in order, and the scorer.

    ``revision`` is the commit on huggingface.co, None for a folder; ``versions`` has packages.
    """

    scores: list[float]
    revision: str | None
    checkpoint_sha256: str
    versions: dict[str, str]


Answer = Failure | Scores


class _NoScoreError(Exception):
    """Carry the sentence of a ``Failure``."""


def main() -> int:
    """Read the request, score, write the answer."""
    request_path, answer_path = map(Path, sys.argv[1:])
    request: Request = json.loads(request_path.read_text(encoding="utf-8"))
    answer: Answer
    try:
        with redirect_stdout(sys.stderr):
            answer = _score(request)
    except _NoScoreError as error:
        answer = {"error": str(error)}
    answer_path.write_text(json.dumps(answer), encoding="utf-8")
    return 0


def _score(request: Request) -> Scores:
    warnings.simplefilter("ignore")  # of libraries whose versions are pinned
    try:
        from comet import load_from_checkpoint  # noqa: PLC0415  the answer reports if it is missing
    except ImportError as error:
        msg = f"{sys.executable} cannot import COMET ({error}): type scripts/comet-environment"
        raise _NoScoreError(msg) from error
    for name in ("pytorch_lightning", "comet", "transformers"):
        logging.getLogger(name).setLevel(logging.ERROR)
    n_devices = _count_devices(request["device"])
    folder, revision = _find_weights(request["model"])
    checkpoint = folder / "checkpoints" / "model.ckpt"
    try:
        model = load_from_checkpoint(str(checkpoint))
    except (OSError, ValueError, KeyError, RuntimeError, pickle.UnpicklingError) as error:
        msg = (
            f"COMET cannot load {folder} ({_first_sentence(error)}): it needs hparams.yaml, "
            "checkpoints/model.ckpt, and tokenizer and configuration of the encoder named there, "
            "which it gets over the network once"
        )
        raise _NoScoreError(msg) from error
    prediction = model.predict(
        request["samples"],
        batch_size=request["batch_size"],
        gpus=n_devices,
        num_workers=0,
        progress_bar=sys.stderr.isatty(),
    )
    return {
        "scores": [float(score) for score in prediction["scores"]],
        "revision": revision,
        "checkpoint_sha256": _sha256(checkpoint),
        "versions": {name: version(name) for name in ("unbabel-comet", "transformers", "torch")},
    }


def _count_devices(device: str) -> int:
    import torch  # noqa: PLC0415  comes with COMET

    has_cuda = torch.cuda.is_available()
    if device == "cuda" and not has_cuda:
        msg = "torch finds no CUDA device: score with --device cpu"
        raise _NoScoreError(msg)
    return int(has_cuda and device != "cpu")


def _find_weights(model: str) -> tuple[Path, str | None]:
    """Find the folder of a model, and its commit if it came over the network, now or before."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415  comes with COMET

    if not (folder := Path(model)).is_dir():
        try:
            folder = Path(snapshot_download(model))
        except (OSError, ValueError) as error:
            msg = (
                f"the weights of {model} cannot be had ({_first_sentence(error)}): "
                "check the name and the network, or name a folder that has them"
            )
            raise _NoScoreError(msg) from error
        return folder, folder.name
    for name in ("hparams.yaml", "checkpoints/model.ckpt"):
        if not (folder / name).is_file():
            msg = f"{folder} is no COMET model: it has no {name}"
            raise _NoScoreError(msg)
    return folder, None


def _first_sentence(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0].split(". ")[0].rstrip(".:") if lines else type(error).__name__


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    sys.exit(main())
