"""Time a typed word: slots against encoding the whole prompt again, same weights, one run.

Three systems translate the same sentences word by word, in turn, sentence by sentence:

* slots: ``engine.translation.slot_translator``, which feeds every token once.
* re-encoded: the same policy, but at each write the whole prompt (system, user header, source so
  far, assistant header, target so far) goes through ``generate`` of transformers, greedy, with the
  library's own cache within the call, up to the marker that ends the write. With wait-k it stops
  where the next word begins.
* re-translated: no policy; at each word the whole prompt goes through ``generate`` up to the end
  of a whole translation, and what two translations in a row agree on is committed (local agreement,
  Liu et al. 2020, https://arxiv.org/abs/2005.11185).

Both others lay their rows in causal order at the positions the weights were trained on (the source
in one slot, made longer where it must be); else these weights would translate badly.

Tokens and forwards are counted by one hook on the network for all: what is computed is counted.
"""

import argparse
import itertools
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module
from transformers import (
    GenerationConfig,
    PreTrainedModel,
    StoppingCriteria,
    StoppingCriteriaList,
)

from engine.policy import Action, Progress, parse_policy
from engine.runtime.torch.torch_loader import TorchWeights, load_torch
from engine.settings import ModelSettings, TranslationSettings
from engine.text.prompt import make_prompt, word_ids
from engine.text.sentences import Sentence
from engine.translation.captioned import set_sentence
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from training.errors import TrainingError
from training.evaluation.model_choice import find_model

SENTENCES = Path(__file__).with_name("sentences.en")
COLUMNS = (
    "date", "machine", "policy", "system", "sentences", "ms a source word: mean", "p50", "p95",
    "tokens a sentence", "forwards a sentence", "target words a sentence", "time / slots",
    "tokens / slots",
)  # fmt: skip


@dataclass
class Counter:
    """What the network computed since the last reset."""

    tokens: int = 0
    forwards: int = 0

    def attach(self, network: PreTrainedModel) -> None:
        network.register_forward_pre_hook(self._count, with_kwargs=True)

    def _count(self, _network: Module, _arguments: object, named: dict[str, Tensor]) -> None:
        self.tokens += named["input_ids"].shape[1]
        self.forwards += 1

    def reset(self) -> None:
        self.tokens = self.forwards = 0


@dataclass
class Measured:
    """What one system needed for all sentences."""

    ms: list[float] = field(default_factory=list)  # for each source word
    tokens: int = 0
    forwards: int = 0
    n_sentences: int = 0
    target_words: int = 0
    captions: list[str] = field(default_factory=list)

    def add(self, ms: list[float], counter: Counter, caption: str) -> None:
        self.ms += ms
        self.tokens += counter.tokens
        self.forwards += counter.forwards
        self.n_sentences += 1
        self.target_words += len(caption.split())
        self.captions.append(caption)

    def summary(self) -> dict[str, float]:
        p50, p95 = np.percentile(self.ms, [50, 95])
        return {
            "n_sentences": self.n_sentences,
            "ms_per_word_mean": float(np.mean(self.ms)),
            "ms_per_word_p50": float(p50),
            "ms_per_word_p95": float(p95),
            "tokens": self.tokens / self.n_sentences,
            "forwards": self.forwards / self.n_sentences,
            "target_words": self.target_words / self.n_sentences,
        }


class Slots:
    """Our engine, with a caption for each source word."""

    def __init__(self, weights: TorchWeights, settings: TranslationSettings) -> None:
        self._translator = Translator(weights, settings)

    def open(self) -> None:
        self._utterance = self._translator.open()

    def set_source(self, words: Sequence[str], *, ended: bool) -> None:
        set_sentence(self._translator, self._utterance, Sentence(tuple(words), ended=ended))
        for _ in changes(self._translator, self._utterance):
            pass

    @property
    def caption(self) -> str:
        return self._utterance.caption


class _Generator:
    """``generate`` over a prompt that is encoded whole."""

    def __init__(
        self, weights: TorchWeights, settings: TranslationSettings, *, ends_writes: bool
    ) -> None:
        self._weights = weights
        self._slot_length = weights.card.slot_length
        self.prompt = make_prompt(weights.tokenizer, weights.card, settings.target_language)
        self.end = self.prompt.end_of_write if ends_writes else self.prompt.end_of_target
        self._suppressed = sorted(self.prompt.suppressed(ends_writes=ends_writes))
        pieces = weights.tokenizer.convert_ids_to_tokens(range(len(weights.tokenizer)))
        self._starts_word = torch.tensor([str(one).startswith(("Ġ", "▁")) for one in pieces])

    def starts(self, id_: int) -> bool:
        return bool(self._starts_word[id_])

    def units(self, words: Sequence[str], *, ended: bool) -> list[list[int]]:
        units = [word_ids(self._weights.tokenizer, word) for word in words]
        if ended:
            units[-1].append(self.prompt.end_of_source)
        return units

    def generate(
        self, units: list[list[int]], target: list[int], *, max_new: int, one_word: bool = False
    ) -> list[int]:
        """Go on with the target up to the end marker, or for one word and the token behind it."""
        headers = self.prompt.headers
        source = [id_ for unit in units for id_ in unit]
        before = [*headers.system, *headers.user, *source]
        after = [*headers.assistant, *target]
        ids = torch.tensor([before + after])
        slot_end = len(before) + -len(source) % self._slot_length
        positions = [*range(len(before)), *range(slot_end, slot_end + len(after))]
        next_word = _NextWord(self._starts_word, ids.shape[1])
        generated = self._weights.network.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            position_ids=torch.tensor([positions]),
            generation_config=GenerationConfig(
                use_cache=True,
                do_sample=False,
                max_new_tokens=max_new,
                suppress_tokens=self._suppressed,
                eos_token_id=self.end,
                pad_token_id=self._weights.tokenizer.pad_token_id,
            ),
            stopping_criteria=StoppingCriteriaList([next_word] if one_word else []),
        )
        return generated[0, ids.shape[1] :].tolist()

    def decode(self, target: list[int]) -> str:
        return self._weights.tokenizer.decode(target, skip_special_tokens=True).strip()


class Reencoded:
    """The whole prompt at every write."""

    def __init__(self, weights: TorchWeights, settings: TranslationSettings) -> None:
        self._policy = parse_policy(settings.policy)
        self._generator = _Generator(weights, settings, ends_writes=self._policy.ends_writes)

    def open(self) -> None:
        self._target: list[int] = []
        self._n_read = self._n_read_at_write_end = self._n_written = 0
        self._exhausted = self._finished = False

    def set_source(self, words: Sequence[str], *, ended: bool) -> None:
        units = self._generator.units(words, ended=ended)
        while not self._finished:
            source_ended = ended and self._n_read == len(units)
            progress = Progress(
                n_read=self._n_read,
                n_written=self._n_written,
                n_read_at_write_end=self._n_read_at_write_end,
                exhausted=self._exhausted,
                source_ended=source_ended,
            )
            if self._policy.next_action(progress) is Action.WRITE:
                self._write(units[: self._n_read], source_ended=source_ended)
            elif self._n_read < len(units):
                self._n_read += 1
                self._exhausted = False
            else:
                return

    def _write(self, units: list[list[int]], *, source_ended: bool) -> None:
        """Generate to the end of the write; wait-k before the source's end: one word."""
        one_word = not (self._policy.ends_writes or source_ended)
        max_new = _most_tokens(units[self._n_read_at_write_end :])
        new = self._generator.generate(units, self._target, max_new=max_new, one_word=one_word)
        if one_word:
            new.pop()  # the next word's first token, or the end that came too early
            self._exhausted = not new
            self._n_written += bool(new)
        elif new[-1] != self._generator.end:
            new.append(self._generator.end)  # it ran away
        self._target += new
        if not one_word:
            self._n_read_at_write_end = self._n_read
            self._finished = source_ended

    @property
    def caption(self) -> str:
        return self._generator.decode(self._target)


class Retranslated:
    """The whole prompt at every word; committed is what two translations in a row agree on."""

    def __init__(self, weights: TorchWeights, settings: TranslationSettings) -> None:
        self._generator = _Generator(weights, settings, ends_writes=False)

    def open(self) -> None:
        self._target: list[int] = []
        self._last: list[int] = []

    def set_source(self, words: Sequence[str], *, ended: bool) -> None:
        units = self._generator.units(words, ended=ended)
        max_new = max(1, _most_tokens(units) - len(self._target))
        new = self._generator.generate(units, self._target, max_new=max_new)
        whole = self._target + new
        if ended:
            self._target = whole
            return
        agreed = sum(itertools.takewhile(bool, map(int.__eq__, whole, self._last)))
        while agreed > len(self._target) and not self._begins(whole[agreed:]):
            agreed -= 1  # only whole words, and not the end
        self._last = whole
        self._target = whole[: max(agreed, len(self._target))]

    def _begins(self, rest: list[int]) -> bool:
        """Tell whether a word begins here, or the translation ends."""
        return bool(rest) and (rest[0] == self._generator.end or self._generator.starts(rest[0]))

    @property
    def caption(self) -> str:
        return self._generator.decode(self._target)


System = Slots | Reencoded | Retranslated


def _most_tokens(units: list[list[int]]) -> int:
    """Tell where the engine cuts a write of these source words, too."""
    return 2 * sum(map(len, units)) + 17


class _NextWord(StoppingCriteria):
    """Stop when a second word has begun."""

    def __init__(self, starts_word: Tensor, n_prompt: int) -> None:
        self._starts_word = starts_word
        self._n_prompt = n_prompt

    def __call__(self, input_ids: Tensor, *_: object, **__: object) -> Tensor:
        begun = self._starts_word[input_ids[:, -1]]
        return begun & (input_ids.shape[1] > self._n_prompt + 1)


def translate(system: System, words: Sequence[str]) -> list[float]:
    """Feed a sentence word by word; return the milliseconds of each word."""
    system.open()
    ms = []
    for n in range(1, len(words) + 1):
        start_s = time.perf_counter()
        system.set_source(words[:n], ended=n == len(words))
        ms.append(1000 * (time.perf_counter() - start_s))
    return ms


def measure(
    weights: TorchWeights,
    settings: TranslationSettings,
    sentences: Sequence[Sequence[str]],
    counter: Counter,
) -> dict[str, Measured]:
    """Let all systems translate all sentences; return what each needed."""
    systems: dict[str, System] = {
        "slots": Slots(weights, settings),
        "re-encoded": Reencoded(weights, settings),
        "re-translated": Retranslated(weights, settings),
    }
    measured = {name: Measured() for name in systems}
    for system in systems.values():
        translate(system, sentences[0])  # first use
    for words in sentences:
        for name, system in systems.items():
            counter.reset()
            ms = translate(system, words)
            measured[name].add(ms, counter, system.caption)
    return measured


def rows(policy: str, summaries: dict[str, dict[str, float]], machine: str) -> str:
    """Draw rows of results.md."""
    date = time.strftime("%Y-%m-%d")
    lines = [
        [date, machine, policy, system, *(_cell(value) for value in summary.values())]
        for system, summary in summaries.items()
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.1f}"


def summaries_of(measured: dict[str, Measured]) -> dict[str, dict[str, float]]:
    """Sum up each system, with how many times more than slots it needs."""
    summaries = {name: one.summary() for name, one in measured.items()}
    slots = summaries["slots"]
    for summary in summaries.values():
        for ratio, key in (("time_ratio", "ms_per_word_mean"), ("token_ratio", "tokens")):
            summary[ratio] = summary[key] / slots[key]
    return summaries


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Time a typed word: slots against re-encoding.")
    parser.add_argument("--model", type=Path, metavar="DIR", help="model folder (the bundled one)")
    parser.add_argument("--to", default="de", metavar="LANG", help="(%(default)s)")
    parser.add_argument("--policies", default="read:3,wait:3", metavar="P,P", help="(%(default)s)")
    parser.add_argument("--sentences", type=Path, default=SENTENCES, metavar="FILE")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N sentences")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="(%(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    arguments = parser.parse_args(argv)
    torch.set_num_threads(arguments.threads)
    try:
        directory, card = find_model(arguments.model, arguments.to)
    except TrainingError as error:
        sys.exit(f"typed_word: {error}")
    weights = load_torch(ModelSettings(directory=directory, device="cpu"), card)
    counter = Counter()
    counter.attach(weights.network)
    lines = arguments.sentences.read_text(encoding="utf-8").splitlines()
    sentences = [line.split() for line in lines if line.strip()][: arguments.limit]
    machine = f"{os.cpu_count()} {platform.machine()} cores, {arguments.threads} threads"
    results = {}
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for policy in arguments.policies.split(","):
        settings = TranslationSettings(
            target_language=arguments.to,
            policy=policy,
        )
        measured = measure(weights, settings, sentences, counter)
        summaries = summaries_of(measured)
        print(rows(policy, summaries, machine), flush=True)
        results[policy] = {
            name: {**summary, "captions": measured[name].captions}
            for name, summary in summaries.items()
        }
    if arguments.out is not None:
        content = {"date": time.strftime("%Y-%m-%d"), "machine": machine, "policies": results}
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
