"""Train a Whisper so small that tests can carry it: ``python -m training.tiny_whisper``.

It has Whisper's architecture and special tokens and knows some sixty words, said by espeak-ng; it
is a test asset and never offered to anybody. Cross-attention learns to follow the sound late and
all at once, so the encoder is taught the words by CTC (Graves et al. 2006) too; that head is thrown
away. Sound is trained on in its own length at first, in Whisper's 30 s at the end.

    python -m training.tiny_whisper WORK_FOLDER --steps 4000 --out tests/assets/tiny-whisper

An interrupted run goes on where the last checkpoint was written.
"""

import argparse
import logging
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import WhisperConfig, WhisperForConditionalGeneration

from training import tiny_whisper_tokenizer as tokens
from training.synthetic_speech import Utterance, sentence, utterance

if TYPE_CHECKING:
    from faster_whisper.feature_extractor import FeatureExtractor
    from tokenizers import Tokenizer

_log = logging.getLogger(__name__)

_WINDOW_FRAMES = 3_000
_IGNORED = -100
_CTC_WEIGHT = 0.5
_CHECKPOINT_EVERY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyWhisperSettings:
    """How long it is trained, and on what.

    Attributes:
        work: folder of speech and checkpoints.
        steps: optimiser steps.
        whole_window_steps: of these, the last ones with windows of 30 s.
        batch_size: utterances of a step; a quarter of it with windows of 30 s.
        n_utterances: that are said once and heard again and again.
        learning_rate: highest; warmed up over 200 steps, then it falls to nothing linearly.
        seed: of speech, weights and order.
    """

    work: Path
    steps: int = 4_000
    whole_window_steps: int = 200
    batch_size: int = 16
    n_utterances: int = 4_000
    learning_rate: float = 2e-3
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Example:
    features: Tensor  # (80, n_frames)
    words: list[int]
    ids: list[int]  # from <|startoftranscript|> to <|endoftext|>


class TinyWhisper(nn.Module):
    """The model and the CTC head that helps it learn."""

    def __init__(self, vocabulary_size: int, end: int) -> None:
        super().__init__()
        self.whisper = WhisperForConditionalGeneration(_config(vocabulary_size, end))
        self.ctc = nn.Linear(self.whisper.config.d_model, vocabulary_size + 1)

    def encode(self, features: Tensor) -> Tensor:
        """Encode sound of any length up to 30 s: (B, 80, n_frames) -> (B, n_frames / 2, d)."""
        encoder = self.whisper.model.encoder
        hidden = F.gelu(encoder.conv2(F.gelu(encoder.conv1(features)))).transpose(1, 2)
        hidden = hidden + encoder.embed_positions.weight[: hidden.shape[1]]
        for layer in encoder.layers:
            hidden = layer(hidden, None)
        encoded: Tensor = encoder.layer_norm(hidden)
        return encoded

    def loss(self, batch: Sequence[_Example], *, whole_window: bool) -> Tensor:
        """Score a batch: cross-entropy of the decoder, and CTC of the encoder."""
        features = _padded_features(batch, whole_window=whole_window)
        ids = nn.utils.rnn.pad_sequence(
            [torch.tensor(example.ids) for example in batch],
            batch_first=True,
            padding_value=_IGNORED,
        )
        encoded = self.encode(features)
        hidden = self.whisper.model.decoder(
            input_ids=ids[:, :-1].clamp(min=0), encoder_hidden_states=encoded
        ).last_hidden_state
        logits = self.whisper.proj_out(hidden)
        told = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=_IGNORED)
        heard = self.ctc(encoded).log_softmax(-1).transpose(0, 1)  # (T, B, V + 1)
        n_frames = [(example.features.shape[1] + 1) // 2 for example in batch]
        spelt = F.ctc_loss(
            heard,
            torch.tensor([word for example in batch for word in example.words]),
            torch.tensor(n_frames),
            torch.tensor([len(example.words) for example in batch]),
            blank=heard.shape[-1] - 1,
            zero_infinity=True,
        )
        return told + _CTC_WEIGHT * spelt


def _config(vocabulary_size: int, end: int) -> WhisperConfig:
    return WhisperConfig(
        vocab_size=vocabulary_size,
        d_model=96,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=224,
        decoder_ffn_dim=208,
        dropout=0.05,
        pad_token_id=end,
        bos_token_id=end,
        eos_token_id=end,
        decoder_start_token_id=end + 1,
        suppress_tokens=[],
        begin_suppress_tokens=[end],
    )


def _padded_features(batch: Sequence[_Example], *, whole_window: bool) -> Tensor:
    longest = max(example.features.shape[1] for example in batch)
    n_frames = _WINDOW_FRAMES if whole_window else longest + longest % 2
    padded = torch.zeros(len(batch), batch[0].features.shape[0], n_frames)
    for row, example in zip(padded, batch, strict=True):
        row[:, : example.features.shape[1]] = example.features.float()
    return padded


def make_example(
    spoken: Utterance, extractor: "FeatureExtractor", tokenizer: "Tokenizer"
) -> _Example:
    """Turn an utterance into what the model hears and what it is to say."""
    features = torch.from_numpy(np.asarray(extractor(spoken.samples), np.float16))
    start, silent, end = (
        tokens.find(tokenizer, token)
        for token in ("<|startoftranscript|>", "<|nospeech|>", "<|endoftext|>")
    )
    words = tokenizer.encode(" " + spoken.text).ids if spoken.text else []
    begins, ends = (tokens.timestamp(tokenizer, at) for at in (spoken.start_s, spoken.end_s))
    told = [begins, *words, ends] if words else [silent]
    return _Example(features=features, words=words, ids=[start, *told, end])


def train(settings: TinyWhisperSettings) -> tuple[TinyWhisper, "Tokenizer"]:
    """Train, or go on with training; the tokenizer is the same in every run of a seed."""
    from faster_whisper.feature_extractor import FeatureExtractor  # noqa: PLC0415  may be missing

    rng = random.Random(settings.seed)
    tokenizer = tokens.train([sentence(rng) for _ in range(2_000)])
    torch.manual_seed(settings.seed)
    end = tokens.find(tokenizer, "<|endoftext|>")
    model = TinyWhisper(tokenizer.get_vocab_size(), end)
    extractor = FeatureExtractor()
    examples = [
        make_example(utterance(rng), extractor, tokenizer) for _ in range(settings.n_utterances)
    ]
    _run(model, examples, settings)
    return model, tokenizer


def _run(model: TinyWhisper, examples: list[_Example], settings: TinyWhisperSettings) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    done = _resume(model, optimizer, settings.work)
    started_s = time.monotonic()
    for step in range(done, settings.steps):
        whole_window = step >= settings.steps - settings.whole_window_steps
        rng = random.Random(settings.seed * 1_000_003 + step)
        size = settings.batch_size // 4 if whole_window else settings.batch_size
        falling = (settings.steps - step) / settings.steps
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * min((step + 1) / 200, falling)
        loss = model.loss(rng.sample(examples, size), whole_window=whole_window)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if (step + 1) % _CHECKPOINT_EVERY == 0 or step + 1 == settings.steps:
            _save(model, optimizer, settings.work, step + 1)
            spent_s = time.monotonic() - started_s
            _log.info("step %d  loss %.3f  %.0f s", step + 1, loss.item(), spent_s)


def _save(model: TinyWhisper, optimizer: torch.optim.Optimizer, work: Path, step: int) -> None:
    work.mkdir(parents=True, exist_ok=True)
    unfinished = work / "checkpoint.part"
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    torch.save(state, unfinished)
    unfinished.replace(work / "checkpoint.pt")


def _resume(model: TinyWhisper, optimizer: torch.optim.Optimizer, work: Path) -> int:
    path = work / "checkpoint.pt"
    if not path.exists():
        return 0
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return int(state["step"])


def convert(model: TinyWhisper, tokenizer: "Tokenizer", work: Path, out: Path) -> None:
    """Write the folder faster-whisper loads: int8 matrices, half-precision rest."""
    from ctranslate2.converters import TransformersConverter  # noqa: PLC0415  may be missing
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415  only here

    folder = work / "transformers"
    model.whisper.save_pretrained(folder)
    fast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, eos_token="<|endoftext|>", unk_token="<|endoftext|>"
    )
    fast.save_pretrained(folder)
    converter = TransformersConverter(str(folder), copy_files=["tokenizer.json"])
    converter.convert(str(out), quantization="int8_float16", force=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and convert."""
    parser = argparse.ArgumentParser(prog="training.tiny_whisper", description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=4_000)
    parser.add_argument("--utterances", type=int, default=4_000)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    settings = TinyWhisperSettings(
        work=given.work, steps=given.steps, n_utterances=given.utterances
    )
    model, tokenizer = train(settings)
    convert(model, tokenizer, settings.work, given.out)


if __name__ == "__main__":
    main()
