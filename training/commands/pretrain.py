"""The ``pretrain`` command: arguments become settings of a run."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from training.errors import UsageError
from training.settings import (
    ARCHITECTURES,
    OPTIMIZERS,
    Mixture,
    ModelShape,
    Optimisation,
    PretrainSettings,
)


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``pretrain`` to the command line."""
    parser = subparsers.add_parser("pretrain", help="train a base model from aligned pairs")
    parser.add_argument(
        "--data", nargs="+", required=True, metavar="LANG=F.tsv", help="files that align wrote"
    )
    parser.add_argument("--weight", nargs="*", default=[], metavar="CORPUS=W")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--name", default="surtitle-base")
    parser.add_argument("--epochs", type=float, default=Optimisation().epochs)
    parser.add_argument("--optimizer", default=Optimisation().optimizer, choices=OPTIMIZERS)
    parser.add_argument("--rate", type=float, default=Optimisation().rate, help="peak of AdamW's")
    parser.add_argument(
        "--warm-up",
        type=int,
        default=Optimisation().warm_up_steps,
        metavar="STEPS",
        help="in which the rate rises (%(default)s)",
    )
    parser.add_argument(
        "--decay",
        type=float,
        default=Optimisation().decay,
        metavar="SHARE",
        help="share of the run, at its end, in which the rate falls to 0; with 0 it stays, and the "
        "run can be prolonged by more --epochs (%(default)s)",
    )
    parser.add_argument("--batch-tokens", type=int, default=Optimisation().batch_tokens)
    parser.add_argument("--seed", type=int, default=Optimisation().seed)
    parser.add_argument("--slot", type=int, default=16)
    parser.add_argument(
        "--ordinary",
        action="store_true",
        help="train no simultaneous policy and no slots: a base for comparing methods on",
    )
    parser.add_argument(
        "--cut-writes",
        type=float,
        default=Mixture().cut_writes,
        metavar="SHARE",
        help="cut this share of the writes of aligned reads short, as a model may (%(default)s)",
    )
    parser.add_argument(
        "--architecture", default="llama", choices=ARCHITECTURES, help="falcon: with ALiBi"
    )
    parser.add_argument("--hidden", type=int, default=ModelShape().hidden)
    parser.add_argument("--layers", type=int, default=ModelShape().layers)
    parser.add_argument("--feed-forward", type=int, default=ModelShape().feed_forward)
    parser.add_argument("--heads", type=int, default=ModelShape().heads)
    parser.add_argument("--vocabulary", type=int, default=ModelShape().vocabulary)
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--precision", default="auto", choices=("auto", "bf16", "fp32"))
    parser.add_argument(
        "--compile",
        action="store_true",
        help="compile the network, minutes at the first start; needs a C++ compiler",
    )
    parser.add_argument(
        "--begin-with",
        type=Path,
        metavar="DIR",
        help="begin with the tokenizer, weights and optimiser state of another run, to go on "
        "with other data or another schedule",
    )
    parser.add_argument(
        "--stop-after", type=int, metavar="STEPS", help="pause here; run again to go on"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Turn arguments into settings and train."""
    try:
        settings = PretrainSettings(
            data={code: Path(path) for code, path in _pairs(arguments.data)},
            weights={name: float(weight) for name, weight in _pairs(arguments.weight)},
            out=arguments.out,
            name=arguments.name,
            slot_length=1 if arguments.ordinary else arguments.slot,
            one_end=arguments.ordinary,
            mixture=(
                Mixture.offline_only()
                if arguments.ordinary
                else Mixture(cut_writes=arguments.cut_writes)
            ),
            shape=ModelShape(
                architecture=arguments.architecture,
                vocabulary=arguments.vocabulary,
                hidden=arguments.hidden,
                layers=arguments.layers,
                heads=arguments.heads,
                feed_forward=arguments.feed_forward,
            ),
            optimisation=Optimisation(
                optimizer=arguments.optimizer,
                rate=arguments.rate,
                warm_up_steps=arguments.warm_up,
                decay=arguments.decay,
                epochs=arguments.epochs,
                batch_tokens=arguments.batch_tokens,
                seed=arguments.seed,
            ),
            device=arguments.device,
            precision=arguments.precision,
            compiled=arguments.compile,
            stop_after_steps=arguments.stop_after,
            begin_with=arguments.begin_with,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    for path in settings.data.values():
        if not path.is_file():
            msg = f"{path} was to be read and does not exist: make it with surtitle-train align"
            raise UsageError(msg)
    begin_with = settings.begin_with
    if begin_with is not None and not (begin_with / "checkpoint").is_dir():
        msg = f"--begin-with names a folder that pretrain wrote; {begin_with} has no checkpoint"
        raise UsageError(msg)
    from training.pretraining.run import pretrain  # noqa: PLC0415  torch takes seconds; help must not

    pretrain(settings)
    return 0


def _pairs(texts: list[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            msg = f"NAME=VALUE was expected, got {text!r}"
            raise UsageError(msg)
        yield name, value
