"""How much computing a pass of Whisper takes, beside what numpy multiplies on the same machine.

    OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.shapes.whisper

Networks of Whisper's shapes with random weights take as long as the real ones. A pass is what live
recognition does each second: 30 s of sound encoded, 30 tokens decoded, in int8 as in the program.
Time of the processor counts, on one thread. The last column, seconds times the rate of numpy, is
``pass_gflop`` of ``assets/known_models.toml``: divided by the rate of another machine it foretells
the seconds of a pass there.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import ctranslate2
import numpy as np
from ctranslate2.converters import TransformersConverter
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast, WhisperConfig, WhisperForConditionalGeneration

from engine.speech.speed import matrix_gflops

SHAPES = {"tiny.en": (4, 384), "base.en": (6, 512), "small.en": (12, 768)}
"""Layers of the encoder and of the decoder, and their width."""

_SPECIAL = {
    50_256: "<|endoftext|>",
    50_257: "<|startoftranscript|>",
    50_358: "<|transcribe|>",
    50_360: "<|startofprev|>",
    50_361: "<|nospeech|>",
    50_362: "<|notimestamps|>",
}
_N_TOKENS, _N_IDS, _N_MELS, _N_FRAMES = 30, 51_864, 80, 3000


def random_whisper(name: str, folder: Path) -> Path:
    """Write a converted model with random weights."""
    n_layers, width = SHAPES[name]
    heads = width // 64
    config = WhisperConfig(
        vocab_size=_N_IDS,
        num_mel_bins=_N_MELS,
        d_model=width,
        encoder_layers=n_layers,
        decoder_layers=n_layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
    )
    source = folder / "transformers"
    WhisperForConditionalGeneration(config).save_pretrained(source)
    names = {number: f"w{number}" for number in range(_N_IDS)} | _SPECIAL
    words = {word: number for number, word in names.items()}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<|endoftext|>"))
    fast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, eos_token="<|endoftext|>", unk_token="<|endoftext|>"
    )
    fast.save_pretrained(source)
    TransformersConverter(str(source)).convert(str(folder / "model"), quantization="int8")
    return folder / "model"


def pass_s(model: ctranslate2.models.Whisper) -> float:
    """Return the seconds of a pass."""
    sound = np.random.default_rng(0).standard_normal((1, _N_MELS, _N_FRAMES), np.float32)
    began_s = time.process_time()
    features = ctranslate2.StorageView.from_array(sound)
    model.generate(
        features,
        [[50_257, 50_362]],
        beam_size=1,
        max_length=_N_TOKENS + 2,
        suppress_tokens=[50_256],  # the end: so that all tokens are decoded
        suppress_blank=False,
    )
    return time.process_time() - began_s


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a row for each shape."""
    parser = argparse.ArgumentParser(prog="benchmarks.shapes.whisper", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args(arguments)
    print("| model | pass (s) | numpy (GFLOP/s) | pass_gflop |\n|---|---|---|---|")
    for name in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            path = random_whisper(name, Path(folder))
            model = ctranslate2.models.Whisper(
                str(path), device="cpu", compute_type="int8", intra_threads=1
            )
            rates, times = list[float](), list[float]()
            for _ in range(given.repeats):  # in turn, since other programs come and go
                rates.append(matrix_gflops(time.process_time))
                times.append(pass_s(model))
            rate, seconds = statistics.median(rates), statistics.median(times)
            print(f"| {name} | {seconds:.2f} | {rate:.0f} | {seconds * rate:.0f} |")


if __name__ == "__main__":
    main()
