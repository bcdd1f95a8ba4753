"""Train a Whisper so small that tests can carry it: ``python -m tests.tiny_whisper.train``.

It has Whisper's architecture and special tokens and knows some sixty words, said by espeak-ng; it
is a test asset and never offered to anybody. Left alone, cross-attention learns to follow the sound
late and all at once. Here it is known when each word is said, so it is shown: of the decoder's two
layers the first is drawn to the word that was just read, the second to the word that comes next
(guided attention, Tachibana et al. 2018, with spans in place of a diagonal), and a head that is
thrown away names the word at every frame of the encoder. What is heard is cut anywhere, as in live
speech, and half of it follows a prompt. It is trained on in its own length at first, in Whisper's
30 s at the end.

    python -m tests.tiny_whisper.train WORK_FOLDER --out tests/assets/tiny-whisper

An interrupted run goes on where the last checkpoint was written.
"""

import argparse
import copy
import itertools
import json
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

from engine.audio.devices import SAMPLE_RATE_HZ
from tests.tiny_whisper import tokenizer as tokens
from tests.tiny_whisper.synthetic_speech import Utterance, cut, sentence, utterance

if TYPE_CHECKING:
    from faster_whisper.feature_extractor import FeatureExtractor
    from tokenizers import Tokenizer

_log = logging.getLogger(__name__)

_WINDOW_FRAMES = 3_000
_POSITION_S = 0.02  # of the encoder
_TIMES_S = 0.4  # timestamps are told no finer: few to learn, and words have times of their own
_IGNORED = -100
_NOWHERE = (-1, -1)
_CUT = 0.5  # of the examples, at either end
_TIMESTAMPED = 0.7  # of the examples
_CHECKPOINT_EVERY = 25
_LAYERS = 2
_FULL_STOP = 6  # positions: where a word with a full stop fades


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyWhisperSettings:
    """How long it is trained, and on what.

    Attributes:
        work: folder of speech and checkpoints.
        steps: optimiser steps.
        whole_window_steps: of these, the last ones with windows of 30 s.
        batch_size: utterances of a step; a quarter of it with windows of 30 s.
        n_utterances: that are said once and heard again and again.
        learning_rate: highest; warmed up over 100 steps, then it falls to nothing linearly.
        seed: of speech, weights and order.
    """

    work: Path
    steps: int = 2_000
    whole_window_steps: int = 300
    batch_size: int = 12
    n_utterances: int = 2_000
    learning_rate: float = 2e-3
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Example:
    """What the model hears and what it is to say.

    Attributes:
        features: (80, n_frames).
        frames: for each position of the encoder the token of the word that is said there, or
            ``_IGNORED`` where none is; shape (n_frames / 2,).
        ids: from ``<|startofprev|>`` or ``<|startoftranscript|>`` to ``<|endoftext|>``.
        n_prompt: of these, how many it is only told.
        spans: for each id but the last and each layer of the decoder, the positions of the encoder
            to look at: shape (n_ids - 1, 2, 2), -1 for anywhere.
    """

    features: Tensor
    frames: Tensor
    ids: list[int]
    n_prompt: int
    spans: Tensor


class TinyWhisper(nn.Module):
    """The model and the head that helps it learn."""

    def __init__(self, vocabulary_size: int, end: int) -> None:
        super().__init__()
        self.whisper = WhisperForConditionalGeneration(_config(vocabulary_size, end))
        fast = copy.deepcopy(self.whisper.config)
        self.whisper.set_attn_implementation("eager")  # where the decoder looks is wanted
        for layer in self.whisper.model.encoder.layers:
            layer.self_attn.config = fast
        self.heard = nn.Linear(self.whisper.config.d_model, end + 1)  # words come before the end

    def encode(self, features: Tensor) -> Tensor:
        """Encode sound of any length up to 30 s: (B, 80, n_frames) -> (B, n_frames / 2, d)."""
        encoder = self.whisper.model.encoder
        hidden = F.gelu(encoder.conv2(F.gelu(encoder.conv1(features)))).transpose(1, 2)
        hidden = hidden + encoder.embed_positions.weight[: hidden.shape[1]]
        for layer in encoder.layers:
            hidden = layer(hidden, None)
        encoded: Tensor = encoder.layer_norm(hidden)
        return encoded

    def loss(self, batch: Sequence[Example], n_frames: int) -> tuple[Tensor, Tensor, Tensor]:
        """Score a batch in windows of ``n_frames``: words told, words heard, where it looked."""
        encoded = self.encode(_padded_features(batch, n_frames))
        ids = _padded([torch.tensor(example.ids) for example in batch])
        decoded = self.whisper.model.decoder(
            input_ids=ids[:, :-1].clamp(min=0),
            encoder_hidden_states=encoded,
            output_attentions=True,
        )
        wanted = ids[:, 1:].clone()
        for row, example in zip(wanted, batch, strict=True):
            row[: example.n_prompt] = _IGNORED
        logits = self.whisper.proj_out(decoded.last_hidden_state)
        told = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=_IGNORED)
        heard = F.cross_entropy(
            self.heard(encoded).flatten(0, 1),
            self._frames(batch, encoded.shape[1]).flatten(),
            ignore_index=_IGNORED,
        )
        spans = _padded([example.spans for example in batch])
        looked = sum(
            _astray(attention, spans[:, :, layer])
            for layer, attention in enumerate(decoded.cross_attentions)
        )
        return told, heard, torch.as_tensor(looked)

    def _frames(self, batch: Sequence[Example], n_positions: int) -> Tensor:
        nobody = self.heard.out_features - 1
        frames = torch.full((len(batch), n_positions), _IGNORED)
        for row, example in zip(frames, batch, strict=True):
            said = example.frames
            row[: len(said)] = torch.where(said == _IGNORED, nobody, said)
        return frames


def _astray(attention: Tensor, spans: Tensor) -> Tensor:
    """Score how little of the attention (B, H, Q, K) falls into the spans (B, Q, 2)."""
    at = torch.arange(attention.shape[-1])
    inside = (at >= spans[..., :1]) & (at < spans[..., 1:])  # (B, Q, K)
    mass = (attention * inside[:, None]).sum(-1)  # (B, H, Q)
    guided = (spans[..., 1] > 0)[:, None].expand_as(mass)
    return -(mass[guided] + 1e-4).log().mean()


def _config(vocabulary_size: int, end: int) -> WhisperConfig:
    return WhisperConfig(
        vocab_size=vocabulary_size,
        d_model=96,
        encoder_layers=2,
        decoder_layers=_LAYERS,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=224,
        decoder_ffn_dim=208,
        dropout=0.0,
        pad_token_id=end,
        bos_token_id=end,
        eos_token_id=end,
        decoder_start_token_id=end + 1,
        suppress_tokens=[],
        begin_suppress_tokens=[end],
    )


def _padded(rows: list[Tensor]) -> Tensor:
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=_IGNORED)


def _padded_features(batch: Sequence[Example], n_frames: int) -> Tensor:
    padded = torch.zeros(len(batch), batch[0].features.shape[0], n_frames)
    for row, example in zip(padded, batch, strict=True):
        row[:, : example.features.shape[1]] = example.features.float()
    return padded


def make_example(
    spoken: Utterance,
    extractor: "FeatureExtractor",
    tokenizer: "Tokenizer",
    *,
    prompt: str = "",
    timestamps: bool = True,
) -> Example:
    """Turn an utterance into what the model hears and what it is to say.

    Args:
        spoken: at most 30 s.
        extractor: of features.
        tokenizer: of a tiny Whisper.
        prompt: what was said before.
        timestamps: tell when speech begins and ends; without, as words are given their times.
    """
    features = torch.from_numpy(np.asarray(extractor(spoken.samples), np.float16))
    features = features[:, : features.shape[1] // 2 * 2]
    frames = torch.full((features.shape[1] // 2,), _IGNORED)
    told: list[tuple[int, tuple[int, int]]] = []
    for word in spoken.words:
        span = (round(word.start_s / _POSITION_S), max(1, round(word.end_s / _POSITION_S)))
        first, *more = tokenizer.encode(" " + word.text).ids
        frames[span[0] : span[1]] = first
        told += [(first, span), *((one, (span[1] - _FULL_STOP, span[1] + 2)) for one in more)]
    start, silent, end = (
        tokens.find(tokenizer, token)
        for token in ("<|startoftranscript|>", "<|nospeech|>", "<|endoftext|>")
    )
    if not told:
        told = [(silent, _NOWHERE)]
    elif timestamps:
        told.insert(0, (_time(tokenizer, spoken.words[0].start_s), told[0][1]))
        told.append((_time(tokenizer, spoken.words[-1].end_s), told[-1][1]))
    else:
        told.insert(0, (tokens.find(tokenizer, "<|notimestamps|>"), _NOWHERE))
    told = [(start, _NOWHERE), *told, (end, _NOWHERE)]
    before = tokenizer.encode(" " + prompt).ids if prompt else []
    if before:
        before.insert(0, tokens.find(tokenizer, "<|startofprev|>"))
    told = [*((one, _NOWHERE) for one in before), *told]
    spans = [(here[1], following[1]) for here, following in itertools.pairwise(told)]
    return Example(
        features=features,
        frames=frames,
        ids=[one for one, _ in told],
        n_prompt=len(before) + (0 if timestamps else 1),
        spans=torch.tensor(spans),
    )


def _time(tokenizer: "Tokenizer", at_s: float) -> int:
    return tokens.timestamp(tokenizer, round(at_s / _TIMES_S) * _TIMES_S)


def _draw(rng: random.Random, extractor: "FeatureExtractor", tokenizer: "Tokenizer") -> Example:
    """Make an example as a recogniser of live speech meets it."""
    spoken = utterance(rng, n_sentences=rng.choice((1, 1, 1, 2, 2, 3, 4)))
    ends_s = [0.0, *(word.end_s for word in spoken.words[:-3])]
    start_s = rng.choice(ends_s) if rng.random() < _CUT else 0.0
    last_s = len(spoken.samples) / SAMPLE_RATE_HZ
    end_s = rng.uniform(start_s + 1.0, max(last_s, start_s + 1.0))
    heard = cut(spoken, start_s, end_s if rng.random() < _CUT else last_s)
    before = [sentence(rng) for _ in range(rng.choice((0, 0, 1, 2, 4)))]
    before += [word.text for word in spoken.words if word.end_s <= start_s]
    return make_example(
        heard,
        extractor,
        tokenizer,
        prompt=" ".join(before),
        timestamps=rng.random() < _TIMESTAMPED,
    )


def train(settings: TinyWhisperSettings) -> tuple[TinyWhisper, "Tokenizer"]:
    """Train, or go on with training; the tokenizer is the same in every run of a seed."""
    from faster_whisper.feature_extractor import FeatureExtractor  # noqa: PLC0415  may be missing

    rng = random.Random(settings.seed)
    tokenizer = tokens.train([sentence(rng) for _ in range(2_000)])
    torch.manual_seed(settings.seed)
    end = tokens.find(tokenizer, "<|endoftext|>")
    model = TinyWhisper(tokenizer.get_vocab_size(), end)
    extractor = FeatureExtractor()
    examples = [_draw(rng, extractor, tokenizer) for _ in range(settings.n_utterances)]
    examples.sort(key=lambda example: example.features.shape[1])
    _run(model, examples, settings)
    return model, tokenizer


def _run(model: TinyWhisper, examples: list[Example], settings: TinyWhisperSettings) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    done = _resume(model, optimizer, settings.work)
    started_s = time.monotonic()
    for step in range(done, settings.steps):
        rng = random.Random(settings.seed * 1_000_003 + step)
        falling = (settings.steps - step) / settings.steps
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * min((step + 1) / 100, falling)
        if step < settings.steps - settings.whole_window_steps:
            batch = _alike(examples, settings.batch_size, rng)
            longest = max(example.features.shape[1] for example in batch)
            n_frames = min(_WINDOW_FRAMES, longest + 2 * rng.randrange(100))
        else:
            batch, n_frames = rng.sample(examples, settings.batch_size // 4), _WINDOW_FRAMES
        losses = model.loss(batch, n_frames)
        optimizer.zero_grad()
        sum(losses, torch.zeros(())).backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if (step + 1) % _CHECKPOINT_EVERY == 0 or step + 1 == settings.steps:
            _save(model, optimizer, settings.work, step + 1)
            spent_s = time.monotonic() - started_s
            told, heard, astray = (part.item() for part in losses)
            _log.info(
                "step %d  told %.3f  heard %.3f  astray %.3f  %.0f s",
                *(step + 1, told, heard, astray, spent_s),
            )


def _alike(examples: list[Example], n: int, rng: random.Random) -> list[Example]:
    """Draw examples of about the same length, out of those sorted by it."""
    first = rng.randrange(max(1, len(examples) - 4 * n))
    return rng.sample(examples[first : first + 4 * n], n)


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
    written = out / "tokenizer.json"  # half of it is blanks
    tidy = json.loads(written.read_text(encoding="utf-8"))
    written.write_text(json.dumps(tidy, ensure_ascii=False, separators=(",", ":")), "utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Train and convert."""
    parser = argparse.ArgumentParser(prog="tests.tiny_whisper.train", description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=2_000)
    parser.add_argument("--utterances", type=int, default=2_000)
    parser.add_argument("--whole-window-steps", type=int, default=300)
    parser.add_argument("--learning-rate", type=float, default=2e-3)
    given = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    settings = TinyWhisperSettings(
        work=given.work,
        steps=given.steps,
        whole_window_steps=given.whole_window_steps,
        n_utterances=given.utterances,
        learning_rate=given.learning_rate,
    )
    model, tokenizer = train(settings)
    convert(model, tokenizer, settings.work, given.out)


if __name__ == "__main__":
    main()
