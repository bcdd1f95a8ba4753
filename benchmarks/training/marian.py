"""Train a small Marian model on pairs, as a folder that OPUS-MT could have published.

    python -m benchmarks.training.marian --pairs F.tsv.xz ... --to de --out runs/marian --minutes 10

Run again, it goes on where it ended: weights, moments of AdamW and the position in the pairs are
kept in the folder ``training`` of it, which always names a whole state. The folder then has
all that ``engine.models.encoder_decoder`` reads: two sentencepiece files, one vocabulary,
safetensors.
"""

import argparse
import json
import math
import random
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import sentencepiece
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from engine.files import replacing
from training.data.corpus import read_pairs

_SPECIAL = ("<s>", "</s>", "<unk>")
_LONGEST = 64  # pieces of a side
_IGNORED = -100
_MOST_PAIRS = 400_000
_WARM_UP = 500  # steps
_SORTED = 50  # batches whose pairs are sorted by length: less of a batch is padding then


def main(argv: Sequence[str] | None = None) -> None:
    """Read the arguments and train for some minutes, or some steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--pairs", type=Path, nargs="+", required=True, help="TSVs: English, target[, corpus]"
    )
    parser.add_argument(
        "--without", nargs="*", default=(), metavar="CORPUS", help="corpora that are left out"
    )
    parser.add_argument("--to", default="de", help="code of the target language (%(default)s)")
    parser.add_argument("--out", type=Path, required=True, help="the model folder")
    parser.add_argument("--minutes", type=float, default=10.0, help="of this call (%(default)s)")
    parser.add_argument("--steps", type=int, help="of this call at most (no limit)")
    parser.add_argument("--pieces", type=int, default=4000, help="of each language (%(default)s)")
    parser.add_argument("--width", type=int, default=128, help="d_model (%(default)s)")
    parser.add_argument("--layers", type=int, default=3, help="of each half (%(default)s)")
    parser.add_argument("--batch", type=int, default=48, help="pairs of a step (%(default)s)")
    parser.add_argument("--rate", type=float, default=1e-3, help="highest learning rate")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args(argv)
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    pairs = read_all(arguments.pairs, arguments.without)
    vocabulary = prepare(arguments.out, pairs, arguments.to, arguments.pieces)
    network = make_network(len(vocabulary), arguments.width, arguments.layers)
    train(
        arguments.out,
        network,
        Batches(arguments.out, vocabulary, pairs, arguments.batch),
        seconds=60 * arguments.minutes,
        steps=arguments.steps,
        rate=arguments.rate,
    )


def read_all(paths: Sequence[Path], without: Sequence[str]) -> list[tuple[str, str]]:
    """Read the pairs of all files, without some corpora."""
    pairs = (
        (pair.source, pair.target)
        for path in paths
        for pair in read_pairs((path,))
        if pair.source and pair.target and pair.corpus not in without
    )
    return list(islice(pairs, _MOST_PAIRS))


def prepare(
    folder: Path, pairs: Sequence[tuple[str, str]], language: str, n_pieces: int
) -> dict[str, int]:
    """Write sentencepiece files and vocabulary if they are not there; return the vocabulary."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "vocab.json"
    if not path.exists():
        tokens = dict.fromkeys(["</s>", "<unk>"])
        for side, name in enumerate(("source.spm", "target.spm")):
            tokens |= dict.fromkeys(_train_pieces(folder / name, side, pairs, n_pieces))
        tokens["<pad>"] = None
        vocabulary = {token: id_ for id_, token in enumerate(tokens)}
        settings = {"source_lang": "en", "target_lang": language}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
        with replacing(path) as fresh:  # the last: what is there is complete
            fresh.write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    found: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _train_pieces(
    path: Path, side: int, pairs: Sequence[tuple[str, str]], n_pieces: int
) -> list[str]:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=(pair[side] for pair in pairs),
        model_prefix=str(path.with_suffix("")),
        vocab_size=n_pieces,
        hard_vocab_limit=False,
        character_coverage=1.0,
        input_sentence_size=100_000,
        shuffle_input_sentence=True,
        num_threads=1,
        minloglevel=2,
    )
    path.with_suffix(".model").replace(path)
    path.with_suffix(".vocab").unlink()
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    pieces = [processor.id_to_piece(id_) for id_ in range(len(processor))]
    return [piece for piece in pieces if piece not in _SPECIAL]


def make_network(n_tokens: int, width: int, layers: int) -> MarianMTModel:
    """Return a network of the shape of OPUS-MT's, with other sizes."""
    padding = n_tokens - 1
    config = MarianConfig(
        vocab_size=n_tokens,
        decoder_vocab_size=n_tokens,
        d_model=width,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=width // 32,
        decoder_attention_heads=width // 32,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
        max_position_embeddings=512,
        activation_function="swish",
        scale_embedding=True,
        static_position_embeddings=True,
        pad_token_id=padding,
        decoder_start_token_id=padding,
        eos_token_id=0,
        forced_eos_token_id=0,
        dropout=0.0,  # some minutes are an epoch or less
    )
    network = MarianMTModel(config)
    with torch.no_grad():
        network.model.shared.weight[padding] = 0  # the decoder begins with zeros, as Marian's
    return network


class Batches:
    """Pairs of like length as ids, in an order that depends on the number of the step alone."""

    def __init__(
        self,
        folder: Path,
        vocabulary: dict[str, int],
        pairs: Sequence[tuple[str, str]],
        size: int,
    ) -> None:
        self._sides = [
            sentencepiece.SentencePieceProcessor(model_file=str(folder / name))
            for name in ("source.spm", "target.spm")
        ]
        self._vocabulary, self._pairs, self._size = vocabulary, pairs, size
        self._padding = len(vocabulary) - 1

    def after(self, step: int) -> Iterator[dict[str, Tensor]]:
        """Yield the batches of the steps after this one, without an end."""
        per_epoch = max(1, len(self._pairs) // self._size)
        order, epoch = list[int](), -1
        while True:
            if epoch != step // per_epoch:
                epoch = step // per_epoch
                order = self._order(random.Random(epoch), per_epoch)
            start = step % per_epoch * self._size
            yield self._batch([self._pairs[n] for n in order[start : start + self._size]])
            step += 1

    def _order(self, rng: random.Random, n_batches: int) -> list[int]:
        """Return the pairs of an epoch: in any order, then by length within so many batches."""
        order = list(range(len(self._pairs)))
        rng.shuffle(order)
        chunk = _SORTED * self._size
        for start in range(0, len(order), chunk):
            of_chunk = order[start : start + chunk]
            order[start : start + chunk] = sorted(
                of_chunk, key=lambda n: sum(map(len, self._pairs[n]))
            )
        starts = [n * self._size for n in range(n_batches)]
        rng.shuffle(starts)
        return [n for start in starts for n in order[start : start + self._size]]

    def _batch(self, pairs: Sequence[tuple[str, str]]) -> dict[str, Tensor]:
        sources, targets = (
            [self._ids(side, pair[side]) for pair in pairs] for side in range(len(self._sides))
        )
        source = self._padded(sources, self._padding)
        return {
            "input_ids": source,
            "attention_mask": (source != self._padding).long(),
            "labels": self._padded(targets, _IGNORED),
        }

    def _ids(self, side: int, text: str) -> list[int]:
        unknown = self._vocabulary["<unk>"]
        pieces = self._sides[side].encode(text, out_type=str)[: _LONGEST - 1]
        return [*(self._vocabulary.get(piece, unknown) for piece in pieces), 0]

    @staticmethod
    def _padded(rows: Sequence[list[int]], filler: int) -> Tensor:
        longest = max(map(len, rows))
        return torch.tensor([row + [filler] * (longest - len(row)) for row in rows])


def train(
    folder: Path,
    network: MarianMTModel,
    batches: Batches,
    *,
    seconds: float,
    steps: int | None,
    rate: float,
) -> None:
    """Train for some seconds or steps from where the folder is, then save."""
    weights = dict(network.named_parameters())
    optimizer = torch.optim.AdamW(weights.values(), lr=rate, betas=(0.9, 0.98), weight_decay=0.01)
    step = _resume(folder, weights, optimizer)
    network.train()
    began, losses = time.monotonic(), list[float]()
    for batch in batches.after(step):
        step += 1
        for group in optimizer.param_groups:
            group["lr"] = rate * min(step / _WARM_UP, math.sqrt(_WARM_UP / step))
        loss: Tensor = network(**batch).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), 1.0)
        padding = network.model.shared.weight.grad
        if padding is not None:
            padding[-1] = 0
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        losses.append(loss.item())
        if time.monotonic() - began > seconds or len(losses) == steps:
            break
        if len(losses) % 100 == 0:
            print(f"step {step}: loss {sum(losses[-100:]) / 100:.3f}", flush=True)
    _save(folder, network, weights, optimizer, step)
    print(f"{step} steps, loss {sum(losses[-100:]) / len(losses[-100:]):.3f}: {folder}")


def _resume(
    folder: Path, weights: dict[str, torch.nn.Parameter], optimizer: torch.optim.AdamW
) -> int:
    """Load weights and moments of the last call; return its last step, 0 for none."""
    own = folder / "training"
    if not (own / "progress.json").exists():
        return 0
    step: int = json.loads((own / "progress.json").read_text(encoding="utf-8"))["step"]
    kept = load_file(own / f"{step}.safetensors")
    with torch.no_grad():
        for name, parameter in weights.items():
            parameter.copy_(kept[f"weight.{name}"])
            if f"first.{name}" in kept:
                optimizer.state[parameter] = {
                    "step": torch.tensor(float(step)),
                    "exp_avg": kept[f"first.{name}"],
                    "exp_avg_sq": kept[f"second.{name}"],
                }
    return step


def _save(
    folder: Path,
    network: MarianMTModel,
    weights: dict[str, torch.nn.Parameter],
    optimizer: torch.optim.AdamW,
    step: int,
) -> None:
    """Write the state of this step, then name it, then drop the older ones and write the model."""
    tensors = {f"weight.{name}": one.detach() for name, one in weights.items()}
    for name, one in weights.items():
        if one in optimizer.state:
            tensors[f"first.{name}"] = optimizer.state[one]["exp_avg"]
            tensors[f"second.{name}"] = optimizer.state[one]["exp_avg_sq"]
    own = folder / "training"
    own.mkdir(exist_ok=True)
    save_file(tensors, own / f"{step}.safetensors")
    with replacing(own / "progress.json") as fresh:
        fresh.write_text(json.dumps({"step": step}), encoding="utf-8")
    for old in own.glob("*.safetensors"):
        if old.stem != str(step):
            old.unlink()
    network.eval()
    network.save_pretrained(folder)


if __name__ == "__main__":
    main()
