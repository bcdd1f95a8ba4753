"""A translator learns to read sound, stage by stage (EASiST over slots, or interleaved).

* ``words``: a new encoder learns the words that are said, by CTC. Ours: there is no pretrained one.
* ``translate``: encoder and adapter learn to be read by the translator, on whole utterances.
* ``joint``: encoder, adapter and policy head, on translations in parts, whole ones, and decisions.

The translator stays as it is unless ``parts`` names it. A stage (``speech-train``) begins with the
model folder of the one before (``--base``) and writes another; the first begins with a folder of a
translator. Files in the run folder are those of every run (``training.trainer.run``);
``steps.jsonl`` also has each loss. Source: EASiST (Fu et al. 2025), section 3.3.

A block of sound is one unit of the source, as a word of a text is (``engine.translation.spoken``):
its rows carry ids from -1 down. A schedule in words becomes one in blocks by the times at which
words end: a word is known when its block has ended.
"""

import argparse
import copy
import math
import random
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import cross_entropy, ctc_loss, linear
from transformers import PreTrainedModel

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.layout.rows import IGNORE, Places, Row
from engine.models.model_card import (
    ENCODER_FILE,
    FRAMES_MERGED,
    ModelCard,
    SpeechCard,
    read_card,
    translator_sha256,
)
from engine.policy import Offline, Policy
from engine.runtime.sound import Frames, LogMel, SpeechEncoder, block_samples, load_speech_encoder
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_store import embedded
from engine.settings import LayoutSettings, at_least, check_choice
from engine.text.prompt import Prompt, make_prompt, word_ids
from engine.text.tokenizer import WordTokenizer
from engine.untrusted.plain_files import file_sha256
from training.commands.recipe import add_recipe, add_setting, settings_of
from training.commands.train import train_and_tell
from training.errors import CorpusError, UsageError
from training.evaluation.runs import fingerprint
from training.research.adaptive import HEAD_FILE, read_head, save_head
from training.research.methods import LEVELS, nested_boundaries
from training.research.speech_corpus import Line, read_sound, read_table
from training.settings import FALLS, NEW, PRECISIONS, TrainSettings
from training.trainer.checkpoint import Counters
from training.trainer.dev_watch import open_watch
from training.trainer.export import name_weights
from training.trainer.finetuning import Base, base_network, find_base, find_folder
from training.trainer.loss import Markers, forbid_markers
from training.trainer.material import find_method, fingerprint_of
from training.trainer.pretraining import save_model
from training.trainer.processes import Processes, computes_bf16
from training.trainer.run import Result, Run, Task, Write
from training.trainer.samples import AlignedReads, Ids, TokenizedPair, build_samples
from training.trainer.stream import Batch, Example, Pass, Step, pad

RECIPES = Path(__file__).parent / "recipes" / "speech"
STAGES = ("words", "translate", "joint")
PARTS = ("encoder", "adapter", "head", "translator")
LOSSES = ("words", "offline", "simultaneous", "policy")
NOT_ASKED = -1
"""Of a row after which nothing is decided."""

_POOL = 32  # steps whose utterances are arranged by length together
_MEASURED = 500  # utterances whose spectra give mean and scale of the bins
_NEVER = -30.0
"""Bias of an id that no text of the corpus has: e^-30 of a sum is less than its rounding."""
_ADAPTER, _WORDS = ("merge_first", "merge_second", "out"), "words"
_MASKED_BINS, _MASKED_SHARE = 15, 0.05
_LEFT_OUT = frozenset({ENCODER_FILE, HEAD_FILE})  # of the stage before


# Settings -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderShape:
    """Shape of a new encoder, as in ``engine.models.model_card.SpeechCard``."""

    block_frames: int = 8
    context_frames: int = 4
    left_blocks: int = 16
    width: int = 256
    layers: int = 6
    heads: int = 4
    feed_forward: int = 1024

    def __post_init__(self) -> None:
        at_least("block_frames", self.block_frames, FRAMES_MERGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechSettings:
    """Trained parts and losses of a stage: a recipe's table ``speech``.

    Attributes:
        parts: of the network that are trained; the others stay.
        losses: that are added up.
        policy_weight: of the loss of decisions (lambda of the paper).
        encoder: shape of a new one, in the first stage.
        masks: parts of the spectrum that are hidden of each utterance (SpecAugment); 0: none.
    """

    stage: str = STAGES[0]
    parts: tuple[str, ...] = ("encoder",)
    losses: tuple[str, ...] = ("words",)
    policy_weight: float = 1.0
    encoder: EncoderShape = EncoderShape()
    masks: int = 2

    def __post_init__(self) -> None:
        check_choice("the stage", self.stage, STAGES)
        for part in self.parts:
            check_choice("a part", part, PARTS)
        for loss in self.losses:
            check_choice("a loss", loss, LOSSES)
        if not (self.parts and self.losses):
            msg = "at least one part is trained, by at least one loss"
            raise ValueError(msg)
        at_least("the masks", self.masks, 0)
        at_least("the weight of decisions", self.policy_weight, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechTrainSettings(TrainSettings):
    speech: SpeechSettings = SpeechSettings()


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "speech-train",
        help="teach a translator to read sound, stage by stage",
        description="Train an encoder, its adapter and a policy head for a translator, by the "
        "stage that the recipe names. Run it again to resume a run that was stopped. What is not "
        "named here is as the recipe says.",
    )
    add_recipe(parser, RECIPES, None)  # names the stage
    add = partial(add_setting, settings=SpeechTrainSettings)
    table = "table that speech-data wrote, by the target language"
    add(parser, "--data", "data", table, metavar="LANG=F.tsv")
    base = "model folder of the stage before; first, of a translator (the bundled one)"
    add(parser, "--base", "base", base, metavar="DIR")
    add(parser, "--method", "method", "exposst for slots (the recipe's), easist for interleaved")
    stage = parser.add_argument_group("stage")
    add(stage, "--parts", "speech.parts", "that are trained", metavar="P,P,...")
    add(stage, "--losses", "speech.losses", "that are added up", metavar="L,L,...")
    for name in ("width", "layers", "heads", "feed_forward"):
        add(stage, f"--{name.replace('_', '-')}", f"speech.encoder.{name}", "of a new encoder")
    group = parser.add_argument_group("training")
    add(group, "--rate", "optimisation.rate", "highest learning rate of AdamW")
    add(group, "--warm-up", "optimisation.warm_up_steps", "in which the rate rises")
    add(group, "--fall", "optimisation.fall", "of the rate", choices=FALLS)
    add(group, "--epochs", "optimisation.epochs", "times every utterance is used")
    add(group, "--batch", "optimisation.batch_pairs", "utterances in a step", metavar="N")
    add(group, "--seed", "optimisation.seed")
    machine = parser.add_argument_group("machine")
    add(machine, "--device", "device")
    add(machine, "--pass-tokens", "pass_tokens", "frames computed at once", metavar="N")
    add(machine, "--precision", "precision", "of a translator that stays", choices=PRECISIONS)
    add(machine, "--checkpoint-steps", "checkpoint_steps", "between two checkpoints")
    add(machine, "--stop-after", "stop_after_steps", "pause; run again to go on")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    settings = settings_of("training.research", arguments, RECIPES, SpeechTrainSettings)
    if settings.base == NEW:
        msg = "sound is read by a translator that is there: name its folder with --base"
        raise UsageError(msg)
    train_and_tell(train_speech, settings, settings.out / "model")
    return 0


# Utterances become rows ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """An utterance as ids.

    Attributes:
        n_blocks: of its sound, the last one filled up.
        pair: its source words are blocks.
        words: ids of what is said, for CTC.
    """

    line: Line
    n_blocks: int
    pair: TokenizedPair
    words: Ids


def spoken(line: Line, tokenizer: WordTokenizer, block_samples: int, positions: int) -> Spoken:
    """Encode an utterance, given the samples of a block and its vectors."""
    n_blocks = math.ceil(line.n_samples / block_samples)
    return Spoken(
        line=line,
        n_blocks=n_blocks,
        pair=TokenizedPair(
            source=tuple(
                tuple(range(-1 - positions * block, -1 - positions * (block + 1), -1))
                for block in range(n_blocks)
            ),
            target=tuple(tuple(word_ids(tokenizer, word)) for word in line.target.split()),
            needs=needed_blocks(line, n_blocks, block_samples),
        ),
        words=tuple(id_ for word in line.source.split() for id_ in word_ids(tokenizer, word)),
    )


def needed_blocks(line: Line, n_blocks: int, block_samples: int) -> tuple[int, ...] | None:
    """Return how many blocks each target word needs; None if it is unknown."""
    if not (line.needs and line.ends_ms):
        return None
    block_ms = 1000 * block_samples / SAMPLE_RATE_HZ
    ends = (math.ceil(line.ends_ms[n - 1] / block_ms) for n in line.needs)
    return tuple(min(n_blocks, max(1, end)) for end in ends)


def offline_rows(one: Spoken, prompt: Prompt, layout: LayoutSettings) -> Sequence[Row]:
    """Return the rows of a translation of the whole utterance, labels set."""
    # the marker comes after the sound, since a speech ends when its last block was heard
    (rows,) = build_samples(one.pair, Offline(), prompt, layout, marker_alone=True)
    return rows


def draw_reads(pair: TokenizedPair, rng: random.Random) -> Policy:
    """Draw the level at which an utterance is read in parts; its schedule must be known."""
    assert pair.needs is not None
    return AlignedReads(nested_boundaries(pair.needs, rng.choice(LEVELS)))


def live_rows(
    one: Spoken, policy: Policy, prompt: Prompt, layout: LayoutSettings
) -> tuple[Sequence[Row], tuple[int, ...]]:
    """Return the rows of a translation that is written in parts, and what is decided after each.

    Decisions are those of equation 8 of EASiST: 0 at the last row of the blocks of a part but its
    last, 1 at that of the last, and 1 at all rows that choose a token of its translation.

    Returns:
        rows, labels set; for each 0, 1 or ``NOT_ASKED``.
    """
    (rows,) = build_samples(one.pair, policy, prompt, layout, marker_alone=True)
    positions = len(one.pair.source[0])
    decided = [NOT_ASKED] * len(rows)
    newest: int | None = None  # the last row of the newest block
    for index, row in enumerate(rows):
        if row.id < 0:
            if -row.id % positions == 0:
                newest, decided[index] = index, 0
        elif row.label not in (IGNORE, prompt.end_of_write):
            decided[index] = 1
            if newest is not None:
                decided[newest] = 1
    if newest is not None:
        decided[newest] = 1  # the speech ends here, whatever is left to say
    return rows, tuple(decided)


# Spectra ------------------------------------------------------------------------------------------


def spectrum(samples: Samples, block_samples: int) -> Frames:
    """Return the spectrum of a speech that is filled up with silence, as a stream does."""
    missing = -len(samples) % block_samples
    return LogMel().feed(np.concatenate([samples, np.zeros(missing, np.float32)]))


def masked(mel: Frames, mean: Frames, n_masks: int, rng: random.Random) -> Frames:
    """Hide so many stretches of bins, and as many of time (SpecAugment, Park et al. 2019)."""
    if n_masks:
        mel = mel.copy()
    for _ in range(n_masks):
        n_bins = rng.randint(0, _MASKED_BINS)
        first = rng.randint(0, mel.shape[1] - n_bins)
        mel[:, first : first + n_bins] = mean[first : first + n_bins]
        n_frames = rng.randint(0, int(_MASKED_SHARE * len(mel)))
        start = rng.randint(0, len(mel) - n_frames)
        mel[start : start + n_frames] = mean
    return mel


# Batches ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sample:
    """An utterance that is computed.

    Attributes:
        mel: its spectrum, whole blocks.
        words: ids of what is said.
        offline, live: rows of a whole translation, and of one in parts; None where no loss asks.
        decided: what is decided after each row of ``live``.
    """

    mel: Frames
    n_blocks: int
    words: tuple[int, ...]
    offline: Example | None
    live: Example | None
    decided: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SpokenBatch(Batch):
    """Several utterances; the rows are those of their translations, one translation a line."""

    mel: Tensor  # float32, (U, T, 80); padded
    n_blocks: Tensor  # int64, (U,)
    words: Tensor  # int64, (U, W); padded
    n_words: Tensor  # int64, (U,)
    owner: Tensor  # of each line, its utterance, int64, (B,)
    live: Tensor  # whether a line is a translation in parts, bool, (B,)
    decided: Tensor  # int64, (B, T)


def batch_of(samples: Sequence[Sample]) -> SpokenBatch:
    """Make a batch; it has no rows where no translation is asked for."""
    lines = [
        (index, example, is_live)
        for index, one in enumerate(samples)
        for example, is_live in ((one.offline, False), (one.live, True))
        if example is not None
    ]
    rows = pad([example for _, example, _ in lines]) if lines else _no_rows()
    decided = torch.full(rows.ids.shape, NOT_ASKED)
    for number, (index, _, is_live) in enumerate(lines):
        if is_live:
            own = samples[index].decided
            decided[number, : len(own)] = torch.tensor(own)
    mel = torch.zeros(len(samples), max(len(one.mel) for one in samples), samples[0].mel.shape[1])
    most = max(1, *(len(one.words) for one in samples))
    words = torch.zeros(len(samples), most, dtype=torch.long)
    for index, one in enumerate(samples):
        mel[index, : len(one.mel)] = torch.from_numpy(one.mel)
        words[index, : len(one.words)] = torch.tensor(one.words)
    return SpokenBatch(
        ids=rows.ids,
        places=rows.places,
        labels=rows.labels,
        ends_writes=rows.ends_writes,
        documents=rows.documents,
        advantages=rows.advantages,
        mel=mel,
        n_blocks=torch.tensor([one.n_blocks for one in samples]),
        words=words,
        n_words=torch.tensor([len(one.words) for one in samples]),
        owner=torch.tensor([index for index, *_ in lines], dtype=torch.long),
        live=torch.tensor([is_live for *_, is_live in lines], dtype=torch.bool),
        decided=decided,
    )


def _no_rows() -> Batch:
    none = torch.zeros(0, 0, dtype=torch.long)
    return Batch(none, Places(none, none, none), none, none.bool(), None, none.float())


# Network and losses -------------------------------------------------------------------------------


class SpokenNetwork(nn.Module):
    """Encoder, adapter, translator and policy head as one network; it computes a batch's losses.

    The modules are those that run live: ``SpeechEncoder`` in one pass under its mask, and the
    translator on rows that carry its vectors (``engine.runtime.torch.torch_store``). Gradients
    reach the encoder through a translator that stays as it is. The head has rows for READ and
    WRITE, no bias (equation 2), and begins at 0.
    """

    def __init__(
        self,
        encoder: SpeechEncoder,
        translator: PreTrainedModel,
        markers: Markers,
        *,
        in_bf16: bool = False,
    ) -> None:
        super().__init__()
        self._in_bf16 = in_bf16  # encoder and translator multiply so; weights stay as they are
        self._losses = frozenset(LOSSES)
        self.encoder = encoder
        self.translator = translator
        width: int = translator.config.hidden_size
        self.head = nn.Linear(width, 2, bias=False)
        nn.init.zeros_(self.head.weight)
        self._markers = markers
        self._attention = Attention.of(translator)

    def train_only(self, settings: SpeechSettings) -> None:
        """Let gradients reach the parts of a stage, and no others; compute its losses alone.

        The layer that writes words is trained where its loss is.
        """
        self._losses = frozenset(settings.losses)
        for name, parameter in self.named_parameters():
            part = _part_of(name)
            trained = part in settings.parts
            if part == _WORDS:
                trained = "encoder" in settings.parts and "words" in settings.losses
            parameter.requires_grad_(trained)

    def forward(self, batch: SpokenBatch) -> Mapping[str, Tensor]:
        """Return each loss that the batch has material for, a mean, by its name in ``LOSSES``."""
        losses = dict[str, Tensor]()
        device = batch.mel.device.type
        with torch.autocast(device, torch.bfloat16, enabled=self._in_bf16):
            # the fused attention's backward takes a third of an encoder's step on a processor
            with sdpa_kernel(SDPBackend.MATH) if device == "cpu" else nullcontext():
                encoded = self.encoder(batch.mel, batch.n_blocks)  # (U, N, F, C)
            if self.encoder.words is not None and "words" in self._losses:
                losses["words"] = self._words_loss(encoded, batch)
            if len(batch.owner):
                losses |= self._row_losses(self.encoder.vectors(encoded), batch)
        return losses

    def _words_loss(self, encoded: Tensor, batch: SpokenBatch) -> Tensor:
        assert self.encoder.words is not None
        layer = self.encoder.words
        known = (layer.bias > _NEVER / 2).nonzero()[:, 0]  # (K,); others have no share in the sum
        logits = linear(encoded.flatten(1, 2), layer.weight[known], layer.bias[known])
        return ctc_loss(
            _wide(logits).log_softmax(-1).transpose(0, 1),
            torch.searchsorted(known, batch.words),
            batch.n_blocks * encoded.shape[2],
            batch.n_words,
            blank=len(known) - 1,
            zero_infinity=True,  # an utterance too short for its words
        )

    def _row_losses(self, vectors: Tensor, batch: SpokenBatch) -> Iterator[tuple[str, Tensor]]:
        """Score tokens and decisions of translations, given vectors (U, N, P, width)."""
        labelled = batch.labels != IGNORE
        columns = labelled.any(0).nonzero()[:, 0]  # a third of a batch is asked for a token
        logits, states = self.read(vectors, batch, columns)
        live = batch.live[:, None].expand_as(labelled)
        allowed = forbid_markers(
            logits[labelled[:, columns]], batch.ends_writes[labelled], self._markers
        )  # (N, V)
        each = cross_entropy(allowed, batch.labels[labelled], reduction="none")
        for name, chosen in (("offline", ~live[labelled]), ("simultaneous", live[labelled])):
            if chosen.any():
                yield name, each[chosen].mean()
        asked = batch.decided != NOT_ASKED
        if asked.any():
            decisions = self.head(states[asked].to(self.head.weight))
            yield "policy", cross_entropy(_wide(decisions), batch.decided[asked])

    def read(
        self, vectors: Tensor, batch: SpokenBatch, columns: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Run the rows of a batch in one masked pass.

        Args:
            vectors: of the sound, shape (U, N, P, width).
            batch: with rows.
            columns: of the batch, whose rows get logits, int64, shape (K,); None for all.

        Returns:
            logits, shape (B, K, V), and last states, shape (B, T, width).
        """
        carries = batch.ids < 0
        owners = batch.owner[:, None].expand_as(carries)[carries]
        fed = vectors.flatten(1, 2)[owners, -1 - batch.ids[carries]]
        output = self.translator(
            inputs_embeds=embedded(self.translator, batch.ids, fed),
            position_ids=batch.places.encoded,
            attention_mask=batch.bias(self._attention),
            use_cache=False,
            output_hidden_states=True,
            logits_to_keep=0 if columns is None else columns,
        )
        return output.logits, output.hidden_states[-1]


@dataclass(frozen=True, slots=True)
class SpokenLoss:
    """The losses of a stage, added up; and what each was in the last batch, by its name."""

    settings: SpeechSettings
    last: dict[str, float]

    def __call__(self, network: nn.Module, batch: Batch) -> Tensor:
        assert isinstance(batch, SpokenBatch)
        losses: Mapping[str, Tensor] = network(batch)
        counted = [name for name in LOSSES if name in losses and name in self.settings.losses]
        self.last.clear()
        self.last.update({f"loss_{name}": float(losses[name].detach()) for name in counted})
        weights = {"policy": self.settings.policy_weight}
        return torch.stack([losses[name] * weights.get(name, 1.0) for name in counted]).sum()


def admit_words(layer: nn.Linear, ids: Iterable[int], *, new: bool) -> None:
    """Let a layer write the ids that a corpus has, and the blank, its last one.

    Of a new layer, others are never likeliest: their scores would be chance, and need not be
    computed while it learns. One that has learnt keeps what it knew.
    """
    with torch.no_grad():
        wanted = torch.zeros_like(layer.bias, dtype=torch.bool)
        wanted[[*ids, -1]] = True
        if new:
            layer.bias[~wanted] = _NEVER
        layer.bias[wanted & (layer.bias < _NEVER / 2)] = 0.0


def _wide(logits: Tensor) -> Tensor:
    return logits if logits.dtype == torch.float64 else logits.float()


def _part_of(name: str) -> str:
    module, _, rest = name.partition(".")
    if module != "encoder":
        return module
    inner = rest.partition(".")[0]
    return "adapter" if inner in _ADAPTER else _WORDS if inner == _WORDS else "encoder"


# Model folders ------------------------------------------------------------------------------------


def write_model(start: Path, folder: Path, encoder: SpeechEncoder, head: Tensor | None) -> None:
    """Copy a translator into an empty folder, and put an encoder and a head beside it.

    The head has rows of READ and WRITE, shape (2, width).
    """
    for path in start.iterdir():
        if path.is_file() and path.name not in _LEFT_OUT:
            shutil.copyfile(path, folder / path.name)
    tensors = {
        name: it.detach().float().cpu().contiguous() for name, it in encoder.state_dict().items()
    }
    save_file(tensors, folder / ENCODER_FILE)
    speech = replace(
        encoder.card,
        encoder_sha256=file_sha256(folder / ENCODER_FILE),
        translator_sha256=translator_sha256(folder),
    )
    card = replace(read_card(folder), speech=speech)
    card.save(folder)
    if head is not None:
        save_head(folder, card.name, (head[1] - head[0]).numpy(force=True))


# A stage ------------------------------------------------------------------------------------------


def train_speech(settings: SpeechTrainSettings, processes: Processes) -> None:
    """Train a stage to its end, or to ``stop_after_steps``, and write a model folder."""
    for fits, msg in (
        (len(settings.data) == 1, "speech is trained on one table: name it with --data LANG=F.tsv"),
        (not settings.dev.sets, "speech is measured by speech-evaluate: leave out dev sets"),
        (not processes.shards, "the network of a stage is not sharded: launch without FSDP"),
        (
            settings.speech.stage != "words" or settings.speech.losses == ("words",),
            "the first stage has no adapter that a translator could read: its loss is words alone",
        ),
    ):
        if not fits:
            raise UsageError(msg)
    if processes.rank == 0:
        find_folder(settings)
    processes.wait()
    task = Stage(settings, processes, find_base(settings, ())).task()
    watch = open_watch(settings, task.fingerprint)
    Run(task, settings, processes, watch).train()


class Stage:
    """One stage: owner of the trained network and of its material."""

    def __init__(self, settings: SpeechTrainSettings, processes: Processes, base: Base) -> None:
        self._settings, self._processes, self._base = settings, processes, base
        self._optimisation = settings.optimisation
        ((language, self._table),) = settings.data.items()
        self._prompt = make_prompt(base.tokenizer, base.card, language)
        self._layout = LayoutSettings(
            slot_length=base.card.slot_length, name=find_method(settings).layout
        )
        lines = read_table(self._table)
        self._network = self._load(lines)
        card = self._network.encoder.card
        n_samples = block_samples(card)
        self._spoken = [spoken(line, base.tokenizer, n_samples, card.positions) for line in lines]
        layer = self._network.encoder.words
        if layer is not None and "words" in settings.speech.losses:
            ids = {id_ for one in self._spoken for id_ in one.words}
            admit_words(layer, ids, new=settings.speech.stage == "words")
        self._usable = self._usable_numbers()
        self.loss = SpokenLoss(settings.speech, {})

    def _load(self, lines: Sequence[Line]) -> SpokenNetwork:
        settings, base, device = self._settings, self._base, self._processes.device
        stays = "translator" not in settings.speech.parts
        in_bf16 = computes_bf16(settings.precision, device)
        translator = base_network(
            base, quantise=settings.quantise, device=device, in_bf16=stays and in_bf16
        )
        width: int = translator.config.hidden_size
        card = read_card(base.folder)
        torch.manual_seed(self._optimisation.seed)
        encoder = self._encoder(card, width, lines)
        markers = Markers.of(self._prompt)
        network = SpokenNetwork(encoder, translator, markers, in_bf16=in_bf16).to(device)
        network.eval()  # nothing of it drops anything
        before = read_head(base.folder, card.name, width)
        if before is not None:
            with torch.no_grad():
                network.head.weight.copy_(torch.from_numpy(before.weight))
        network.train_only(settings.speech)
        return network

    def _encoder(self, card: ModelCard, width: int, lines: Sequence[Line]) -> SpeechEncoder:
        speech = self._settings.speech
        if speech.stage == "words":
            vocabulary = len(self._base.tokenizer) + 1  # the last one is the blank
            encoder = SpeechEncoder(
                SpeechCard(**asdict(speech.encoder), vocabulary=vocabulary), width
            )
            chosen = lines[:: max(1, len(lines) // _MEASURED)]
            frames = np.concatenate([spectrum(read_sound(self._table, line), 1) for line in chosen])
            encoder.mean.copy_(torch.from_numpy(frames.mean(0)))
            encoder.scale.copy_(torch.from_numpy(1 / frames.std(0).clip(1e-3)))
            return encoder
        loaded = load_speech_encoder(self._base.folder, card, width)
        shape = replace(loaded.card, encoder_sha256="", translator_sha256="")
        encoder = SpeechEncoder(shape, width)
        encoder.load_state_dict(loaded.state_dict())
        return encoder

    def _usable_numbers(self) -> list[int]:
        settings = self._settings
        positions = self._network.encoder.card.positions
        least = len(self._prompt.headers.system) + 8
        numbers = [
            n
            for n, one in enumerate(self._spoken)
            if one.n_blocks * positions + sum(map(len, one.pair.target)) + least
            <= settings.max_length
            and (set(settings.speech.losses) != {"policy"} or one.pair.needs is not None)
            and self._prompt.markers.isdisjoint(id_ for word in one.pair.target for id_ in word)
        ]
        if not numbers:
            msg = f"{self._table} has no utterance of up to {settings.max_length} rows to train on"
            raise CorpusError(msg)
        in_parts = {"simultaneous", "policy"} & set(settings.speech.losses)
        if in_parts and all(self._spoken[n].pair.needs is None for n in numbers):
            msg = f"no utterance of {self._table} has both a schedule and the times of its words"
            raise UsageError(msg)
        return numbers

    def task(self) -> Task:
        settings, model = self._settings, fingerprint(self._base.folder)
        own = {"speech": settings.speech}
        return Task(
            fingerprint=fingerprint_of(settings, settings.data, model, self._base.card, own),
            total_pairs=len(self._usable) * self._optimisation.epochs,
            step_pairs=self._optimisation.batch_pairs,
            network=cast("PreTrainedModel", self._network),
            loss=self.loss,
            steps=self._steps,
            result=Result(name="model", gather=self._gather),
            values=lambda: dict(self.loss.last),
        )

    def _steps(self, taken: Counters) -> Iterator[Step]:
        size, n_skipped = self._optimisation.batch_pairs, taken.pairs
        epoch = 0
        while True:
            rng = random.Random(f"{self._optimisation.seed} epoch {epoch}")
            order = rng.sample(self._usable, len(self._usable))
            batches = list[list[int]]()
            for start in range(0, len(order), size * _POOL):
                pool = sorted(
                    order[start : start + size * _POOL], key=lambda n: self._spoken[n].n_blocks
                )
                cut = [pool[first : first + size] for first in range(0, len(pool), size)]
                rng.shuffle(cut)
                batches += cut
            for number, batch in enumerate(batches):
                if n_skipped >= len(batch):
                    n_skipped -= len(batch)
                else:
                    yield self._step(batch, f"{self._optimisation.seed} {epoch} {number}")
            epoch += 1

    def _step(self, numbers: Sequence[int], seed: str) -> Step:
        """Make this process's part of a step, in passes of at most ``pass_tokens`` rows."""
        processes = self._processes
        dealt = [numbers[rank :: processes.n_processes] for rank in range(processes.n_processes)]
        chunks = [self._chunks(own) for own in dealt]
        passes, n_rows = list[Pass](), 0
        for chunk in chunks[processes.rank]:
            batch = batch_of([self.sample(n, f"{seed} {n}") for n in chunk])
            n_rows += batch.n_rows + int(batch.n_blocks.sum())
            passes.append(Pass(batch, len(chunk) / len(numbers)))
        while len(passes) < max(map(len, chunks)):
            passes.append(Pass(batch_of([self.sample(numbers[0], seed)]), 0.0))
        return Step(passes, n_pairs=len(numbers), n_rows=n_rows)

    def _chunks(self, numbers: Sequence[int]) -> list[list[int]]:
        frames = self._network.encoder.card.block_frames
        chunks, longest = list[list[int]](), 0
        for n in numbers:
            longest = max(longest, self._spoken[n].n_blocks * frames)
            if not chunks or (len(chunks[-1]) + 1) * longest > self._settings.pass_tokens:
                chunks.append([])
                longest = self._spoken[n].n_blocks * frames
            chunks[-1].append(n)
        return chunks

    def sample(self, number: int, seed: str) -> Sample:
        """Make the sample of an utterance, with parts of its spectrum hidden by the seed."""
        one, speech, encoder = self._spoken[number], self._settings.speech, self._network.encoder
        rng, losses = random.Random(seed), speech.losses
        mel = spectrum(read_sound(self._table, one.line), block_samples(encoder.card))
        offline = live = None
        decided: tuple[int, ...] = ()
        if "offline" in losses:
            rows = offline_rows(one, self._prompt, self._layout)
            offline = Example(rows, ends_writes=False)
        if {"simultaneous", "policy"} & set(losses) and one.pair.needs is not None:
            rows, decided = live_rows(one, draw_reads(one.pair, rng), self._prompt, self._layout)
            live = Example(rows, ends_writes=True)
        mel = masked(mel, encoder.mean.numpy(force=True), speech.masks, rng)
        return Sample(mel, one.n_blocks, one.words, offline, live, decided)

    def _gather(self, trained: nn.Module) -> Write:
        network = cast("SpokenNetwork", getattr(trained, "module", trained))
        encoder = copy.deepcopy(network.encoder)
        has_head = bool(network.head.weight.any())
        head = network.head.weight.detach().clone() if has_head else None
        own = network.translator if "translator" in self._settings.speech.parts else None
        return partial(self._write, encoder, head, own)

    def _write(
        self,
        encoder: SpeechEncoder,
        head: Tensor | None,
        translator: PreTrainedModel | None,
        folder: Path,
    ) -> None:
        if translator is None:
            write_model(self._base.folder, folder, encoder, head)
            return
        trained = folder / "translator"
        trained.mkdir()
        write_model(self._base.folder, trained, encoder, None)
        for path in trained.glob("model*.safetensors*"):
            path.unlink()
        save_model(copy.deepcopy(translator), trained)
        name_weights(trained)
        write_model(trained, folder, encoder, head)
        shutil.rmtree(trained)
