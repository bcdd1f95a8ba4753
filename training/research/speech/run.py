"""Train a translator to read sound, stage by stage (EASiST over slots, or interleaved).

* ``words``: a new encoder learns the words that are said, by CTC. Ours: there is no pretrained one.
* ``translate``: encoder and adapter learn to be read by the translator, on whole utterances.
* ``joint``: encoder, adapter and policy head, on translations in parts, whole ones, and decisions.

The translator stays as it is unless ``parts`` names it. A stage begins with the model folder of
the one before (``--base``) and writes another; the first begins with a folder of a translator.
Files in the run folder are those of every run (``training.trainer.run``); ``steps.jsonl`` also has
each loss.
"""

import copy
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from engine.metrics.translation import Translation
from engine.models.model_card import ModelCard, read_card
from engine.models.speech_card import SpeechCard
from engine.runtime.sound.encoder import SpeechEncoder
from engine.settings import LayoutSettings
from engine.text.prompt import make_prompt
from engine.untrusted.regular_file import file_sha256
from training.errors import CorpusError, UsageError
from training.evaluation.run_record import fingerprint
from training.research.heads.policy_head import read_direction
from training.research.speech.augmentation import masked, other_voice, stretched
from training.research.speech.batches import Sample, batch_of, heard, spectrum
from training.research.speech.folder import (
    Hearing,
    load_encoder,
    samples_of_block,
    shape_of,
    write_model,
)
from training.research.speech.network import SpokenLoss, SpokenNetwork, admit_words
from training.research.speech.settings import SpeechTrainSettings
from training.research.speech.sound_corpus import Line, read_sound, read_table
from training.research.speech.utterances import draw_reads, live_rows, offline_rows, spoken
from training.research.speech.wav2vec.folder import INNER, WEIGHTS, load_wav2vec
from training.trainer.checkpoint import Counters
from training.trainer.dev_watch import Sources
from training.trainer.distributed import Processes
from training.trainer.finetuning.base_model import Base, base_network, find_base, find_folder
from training.trainer.material import find_method, fingerprint_of
from training.trainer.precision import computes_bf16
from training.trainer.pretraining.export import name_weights
from training.trainer.pretraining.run import save_model
from training.trainer.run import Result, Run, Task, Write, open_watch
from training.trainer.samples.batches import Example
from training.trainer.samples.loss import Markers
from training.trainer.steps import Pass, Step

_POOL = 32
"""Steps whose utterances are arranged by length together."""

_MEASURED = 500
"""Utterances whose spectra tell mean and scale of the bins."""


def train_speech(settings: SpeechTrainSettings, processes: Processes) -> None:
    """Train a stage to its end, or to ``stop_after_steps``, and write a model folder.

    Raises:
        SurtitleError: the base cannot be used.
        TrainingError: the run cannot start or continue; its checkpoint is kept.
    """
    _check(settings, processes)
    if processes.rank == 0:
        find_folder(settings)
    processes.wait()
    base = find_base(settings, ())
    stage = Stage(settings, processes, base)
    task = stage.task()
    watch = open_watch(settings, task.fingerprint)
    Run(task, settings, processes, watch).train()


def _check(settings: SpeechTrainSettings, processes: Processes) -> None:
    if settings.hub is not None or len(settings.data) != 1:
        msg = "speech is trained on one table of a corpus: name it with --data LANG=train.tsv"
        raise UsageError(msg)
    if settings.dev.sets:
        msg = "speech is measured by surtitle-research speech-evaluate: leave out dev sets"
        raise UsageError(msg)
    if processes.shards:
        msg = "the network of a stage is not sharded: launch without FSDP"
        raise UsageError(msg)
    if settings.speech.stage == "words" and settings.speech.losses != ("words",):
        msg = "the first stage has no adapter that a translator could read: its loss is words alone"
        raise UsageError(msg)


class Stage:
    """One stage: owner of the trained network and of its material."""

    def __init__(self, settings: SpeechTrainSettings, processes: Processes, base: Base) -> None:
        """Load the network of the stage before, or begin an encoder."""
        self._settings, self._processes, self._base = settings, processes, base
        self._optimisation = settings.optimisation
        ((self._language, self._table),) = settings.data.items()
        self._prompt = make_prompt(base.tokenizer, base.card, self._language)
        self._layout = LayoutSettings(
            slot_length=base.card.slot_length, name=find_method(settings).layout
        )
        lines = read_table(self._table)
        self._network = self._load(lines)
        card = self._network.encoder.card
        self._block_samples = samples_of_block(self._network.encoder)
        self._spoken = [
            spoken(line, base.tokenizer, self._block_samples, card.positions) for line in lines
        ]
        self._admit_words()
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
        direction = read_direction(base.folder, card, width)
        if direction is not None:
            with torch.no_grad():
                network.head.weight.copy_(direction)
        network.train_only(settings.speech)
        return network

    def _encoder(self, card: ModelCard, width: int, lines: Sequence[Line]) -> Hearing:
        """Begin an encoder, or load that of the hub, or of the stage before."""
        speech, folder = self._settings.speech, self._base.folder
        vocabulary = len(self._base.tokenizer) + 1  # the last one is the blank
        if speech.pretrained is not None:
            return load_wav2vec(
                speech.pretrained, width, vocabulary if "words" in speech.losses else 0
            )
        if speech.stage == "words":
            shape = asdict(speech.encoder)
            encoder = SpeechEncoder(SpeechCard(**shape, vocabulary=vocabulary), width)
            _measure_bins(encoder, self._table, lines)
            return encoder
        loaded = load_encoder(folder, card, width)
        if not isinstance(loaded, SpeechEncoder):
            return loaded
        encoder = SpeechEncoder(shape_of(loaded.card), width)
        encoder.load_state_dict(loaded.state_dict())
        return encoder

    def _admit_words(self) -> None:
        speech, layer = self._settings.speech, self._network.encoder.words
        if layer is not None and "words" in speech.losses:
            ids = {id_ for one in self._spoken for id_ in one.words}
            admit_words(layer, ids, new=speech.stage == "words" or speech.pretrained is not None)

    def _usable_numbers(self) -> list[int]:
        """Return the utterances that a loss of the stage can be computed of."""
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
        """Return what a run trains and keeps."""
        settings = self._settings
        own: dict[str, object] = {"speech": settings.speech}
        pretrained = settings.speech.pretrained
        inner = self._base.folder / INNER if pretrained is None else pretrained
        if not isinstance(self._network.encoder, SpeechEncoder):
            own["encoder"] = file_sha256(inner / WEIGHTS)
        digests = fingerprint_of(
            settings, settings.data, fingerprint(self._base.folder), self._base.card, own
        )
        return Task(
            fingerprint=digests,
            total_pairs=len(self._usable) * self._optimisation.epochs,
            step_pairs=self._optimisation.batch_pairs,
            network=cast("PreTrainedModel", self._network),
            loss=self.loss,
            steps=self._steps,
            result=Result(name="model", gather=self._gather, translate=_no_dev_sets),
            values=lambda: dict(self.loss.last),
        )

    def _steps(self, taken: Counters) -> Iterator[Step]:
        """Yield the steps after those that were taken, without end."""
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
        one, losses = self._spoken[number], self._settings.speech.losses
        rng = random.Random(seed)
        encoder = self._network.encoder
        mel = heard(encoder, read_sound(self._table, one.line))
        offline = live = None
        decided: tuple[int, ...] = ()
        if "offline" in losses:
            rows = offline_rows(one, self._prompt, self._layout)
            offline = Example(rows, ends_writes=False)
        if {"simultaneous", "policy"} & set(losses) and one.pair.needs is not None:
            rows, decided = live_rows(one, draw_reads(one.pair, rng), self._prompt, self._layout)
            live = Example(rows, ends_writes=True)
        n_blocks = one.n_blocks
        if isinstance(encoder, SpeechEncoder):
            speech, mean = self._settings.speech, encoder.mean.numpy(force=True)
            if speech.warp:
                spread = encoder.scale.reciprocal().numpy(force=True)
                mel = other_voice(mel, spread, speech.warp, rng)
                if offline is None and live is None:  # their rows count blocks
                    block = len(mel) // n_blocks
                    mel = stretched(mel, speech.warp, block, rng)
                    n_blocks = len(mel) // block
            mel = masked(mel, mean, speech.masks, rng)
        return Sample(mel, n_blocks, one.words, offline, live, decided)

    def _gather(self, trained: nn.Module) -> Write:
        network = cast("SpokenNetwork", getattr(trained, "module", trained))
        encoder = copy.deepcopy(network.encoder)
        has_head = bool(network.head.weight.any())
        head = network.head.weight.detach().clone() if has_head else None
        own = network.translator if "translator" in self._settings.speech.parts else None
        return partial(self._write, encoder, head, own)

    def _write(
        self,
        encoder: Hearing,
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


def _measure_bins(encoder: SpeechEncoder, table: Path, lines: Sequence[Line]) -> None:
    """Set mean and scale of the bins of a new encoder, by utterances from the whole corpus."""
    chosen = lines[:: max(1, len(lines) // _MEASURED)]
    frames = np.concatenate([spectrum(read_sound(table, line), 1) for line in chosen])
    encoder.mean.copy_(torch.from_numpy(frames.mean(0)))
    encoder.scale.copy_(torch.from_numpy(1 / frames.std(0).clip(1e-3)))


def _no_dev_sets(sources: Sources, language: str, policy: str) -> list[Translation]:  # noqa: ARG001  as of other runs
    msg = "a stage of speech has no dev sets"
    raise UsageError(msg)
