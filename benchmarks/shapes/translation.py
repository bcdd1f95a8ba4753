"""How much computing a word takes with a translation model of an encoder and a decoder.

    OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.shapes.translation [NAME...]

Networks of well-known shapes with random weights take as long as the real ones, in int8 as in the
program. A sentence of 16 words is translated again at each word: the words so far are encoded, what
is committed is a prefix, and four further tokens are decoded. Time of the processor counts, on one
thread. The last column, seconds a word times the rate of numpy, is ``word_gflop`` of
``assets/translation_models.json``: divided by the rate of another machine it foretells the seconds
of a word there.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import ctranslate2
import torch
from ctranslate2.converters import TransformersConverter
from transformers import (
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    PreTrainedModel,
)

from engine.speech.speed import matrix_gflops

_N_WORDS, _TOKENS_A_WORD, _N_NEW = 16, 1.3, 4
_NAMED = ("<s>", "<pad>", "</s>", "<unk>")


def _marian() -> PreTrainedModel:
    """Make the shape of OPUS-MT between English and German."""
    config = MarianConfig(
        vocab_size=58_101, d_model=512, encoder_layers=6, decoder_layers=6, encoder_ffn_dim=2048,
        decoder_ffn_dim=2048, encoder_attention_heads=8, decoder_attention_heads=8,
        max_position_embeddings=512, pad_token_id=58_100, eos_token_id=0,
        decoder_start_token_id=58_100, forced_eos_token_id=0, activation_function="swish",
        scale_embedding=True,
    )  # fmt: skip
    return MarianMTModel(config)


def _m2m(width: int, layers: int, feed_forward: int, vocabulary: int) -> PreTrainedModel:
    config = M2M100Config(
        vocab_size=vocabulary, d_model=width, encoder_layers=layers, decoder_layers=layers,
        encoder_ffn_dim=feed_forward, decoder_ffn_dim=feed_forward, encoder_attention_heads=16,
        decoder_attention_heads=16, max_position_embeddings=1024,
    )  # fmt: skip
    return M2M100ForConditionalGeneration(config)


SHAPES = {
    "opus-mt": _marian,
    "m2m100_418M": lambda: _m2m(1024, 12, 4096, 128_112),
    "nllb-200-distilled-600M": lambda: _m2m(1024, 12, 4096, 256_206),
    "m2m100_1.2B": lambda: _m2m(1024, 24, 8192, 128_112),
}


class _Vocabulary:
    """What the converter reads of a tokenizer."""

    bos_token, pad_token, eos_token, unk_token = _NAMED
    unk_token_id = 2

    def __init__(self, n_tokens: int) -> None:
        words = [f"w{number}" for number in range(len(_NAMED), n_tokens)]
        first = [name for name in _NAMED if name != self.pad_token]
        self._tokens = [*first, *words, self.pad_token]  # Marian's stands at the end
        self.special_tokens_map = dict[str, list[str]]()

    def get_vocab(self) -> dict[str, int]:
        return {token: number for number, token in enumerate(self._tokens)}

    def convert_ids_to_tokens(self, number: int) -> str:
        return self._tokens[number]


class _Converter(TransformersConverter):  # type: ignore[misc]  # CTranslate2 has no types
    def __init__(self, folder: Path, n_tokens: int) -> None:
        super().__init__(str(folder))
        self._n_tokens = n_tokens

    def load_tokenizer(self, *_names: object, **_options: object) -> _Vocabulary:
        return _Vocabulary(self._n_tokens)


def random_translator(name: str, folder: Path) -> Path:
    """Write a converted model with random weights."""
    torch.manual_seed(0)
    network = SHAPES[name]()
    network.save_pretrained(folder / "transformers")
    n_tokens = network.config.vocab_size
    del network
    converter = _Converter(folder / "transformers", n_tokens)
    converter.convert(str(folder / "model"), quantization="int8")
    return folder / "model"


def sentence_s(model: ctranslate2.Translator) -> float:
    """Return the seconds of a sentence that is translated again at each word."""
    began_s = time.process_time()
    for n_words in range(1, _N_WORDS + 1):
        n_source = round(n_words * _TOKENS_A_WORD)
        n_committed = max(0, n_source - _N_NEW)
        model.translate_batch(
            [[f"w{100 + number}" for number in range(n_source)]],
            target_prefix=[[f"w{500 + number}" for number in range(n_committed)]],
            beam_size=1,
            min_decoding_length=n_committed + _N_NEW,
            max_decoding_length=n_committed + _N_NEW,
        )
    return time.process_time() - began_s


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a row for each shape."""
    parser = argparse.ArgumentParser(prog="benchmarks.shapes.translation", description=__doc__)
    parser.add_argument("names", nargs="*", default=list(SHAPES), metavar="NAME")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args(arguments)
    print("| model | word (s) | numpy (GFLOP/s) | word_gflop |\n|---|---|---|---|")
    for name in given.names:
        with tempfile.TemporaryDirectory() as folder:
            path = random_translator(name, Path(folder))
            model = ctranslate2.Translator(
                str(path), device="cpu", compute_type="int8", intra_threads=1, inter_threads=1
            )
            rates, times = list[float](), list[float]()
            for _ in range(given.repeats):  # in turn, since other programs come and go
                rates.append(matrix_gflops(time.process_time))
                times.append(sentence_s(model) / _N_WORDS)
            rate, seconds = statistics.median(rates), statistics.median(times)
            print(f"| {name} | {seconds:.3f} | {rate:.0f} | {seconds * rate:.1f} |", flush=True)


if __name__ == "__main__":
    main()
