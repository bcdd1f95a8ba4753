"""A translator by a model: the network and its cache, the settings, the counters, the log.

``engine.translation.factory`` makes the kinds by name; code that feeds words need not know them.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from engine.errors import ModelError
from engine.events import n_same
from engine.layout.rows import Headers, Row
from engine.messages import Code
from engine.metrics.event_log import SCHEMA, EventLog, is_spaced
from engine.models.resolve import Resolved, resolve
from engine.policy import Policy
from engine.runtime.causal_model import AnyModel
from engine.runtime.ctranslate2.encoder_decoder_loader import EncoderDecoderWeights
from engine.runtime.loader import AnyWeights
from engine.settings import TranslationSettings
from engine.text.prompt import (
    Context,
    NoContext,
    Prompt,
    full_stop_ids,
    word_ids,
    word_units,
    words_begun,
)
from engine.text.sentences import Sentence
from engine.text.source import read_source
from engine.text.tokenizer import WordTokenizer
from engine.translation.constraints import Constraints
from engine.translation.feed import translate_unseen
from engine.translation.own_words import OwnWords
from engine.translation.translated import Number, Passed, SourceText, Translated, Unit

_COMMON_WORD = "people"
"""A model that has no token for it reads letters, and knows no word better than another."""

_ROWS_BESIDE = 512
"""Rows beside the system prompt in which a term is translated alone."""


@dataclass(slots=True)
class Counters:
    """Rows computed more than once, and why; writes that were cut because they looped."""

    tokens_recomputed: int = 0
    probes: int = 0
    loops_cut: int = 0


class Conversation(ABC):
    """One model and its cache, with the current settings: a ``Captioner``.

    Attributes:
        model: with its cache, whose first rows are the system prompt's.
        settings: as they were asked for.
        resolved, policy, prompt, constraints, terms: for utterances that are opened now, after
            ``next_number``; terms are those of the glossary that stand in no prompt.
        words_begun: of every id, how many words of the target language it begins.
        cached_system: system rows that the cache holds; the code that feeds them sets it.
    """

    system: ClassVar[str]
    policy: Policy
    prompt: Prompt
    settings: TranslationSettings
    resolved: Resolved
    constraints: Constraints | None
    words_begun: list[int]
    terms: tuple[tuple[str, str], ...]

    def __init__(
        self,
        weights: AnyWeights,
        settings: TranslationSettings,
        *,
        capacity: int = 2048,
        log: EventLog | None = None,
        model: AnyModel | None = None,
    ) -> None:
        """Make model and cache, of ``capacity`` rows; with a ``model`` its own is used."""
        self._capacity = capacity
        self.weights = weights
        self.model: AnyModel = model or weights.new_model(capacity)
        self.counters = Counters()
        self.log = log or EventLog()
        self.cached_system: tuple[int, ...] = ()
        self.haste = 1
        self._n_utterances = 0
        self._said = dict[int, str]()  # by the utterance's number
        self._own_words: tuple[TranslationSettings, OwnWords] | None = None
        self.configure(settings)

    @abstractmethod
    def open(self) -> Translated:
        """Open an utterance with the current settings."""

    def configure(self, settings: TranslationSettings) -> None:
        """Use these settings for utterances that are opened from now on, all of them or none.

        Raises:
            ModelError: the model does not know the language, gets too long a prompt to leave room
                for a sentence, or cannot run the layout.
            PolicyError: the policy is written wrongly, or the system cannot follow it.
            ContextError: the glossary is too long or too large.
        """
        card, language = self.weights.card, settings.target_language
        resolved = resolve(card, self.system, settings)
        is_prompted = not (card.knows_slots or card.family)
        told, copied = (settings.glossary, ()) if is_prompted else ((), settings.glossary)
        context = make_context(self.weights, settings, told)
        self._check_room(context.prompt())
        constraints = (
            Constraints(
                target_tokenizer(self.weights),
                self.weights.decoder,
                language,
                copied,
                reads_english=settings.reads_english,
            )
            if settings.constrained
            else None
        )
        self.model.use(resolved.layout)  # the last that may refuse
        self.settings, self.resolved, self._context = settings, resolved, context
        self.policy = resolved.policy
        self.terms = tuple(copied) if settings.constrained else ()
        terms = {word for term, _ in settings.glossary for word in term.lower().split()}
        has_words = len(word_ids(self.weights.tokenizer, _COMMON_WORD)) == 1
        self._term_words = terms if has_words else None
        self.words_begun = words_begun(self.weights.tokenizer, language)
        self.prompt = context.prompt()
        self.constraints = constraints
        self.log.write(
            "session",
            schema=SCHEMA,
            system=resolved.system,
            model=card.name,
            parameters=self.weights.n_parameters,
            language=language,
            policy=str(resolved.policy),
            slot_length=resolved.layout.slot_length,
        )

    def _check_room(self, prompt: Prompt) -> None:
        n_rows = len(prompt.headers.system)
        if 2 * n_rows > self._capacity:
            model, capacity = self.weights.card.name, self._capacity
            raise ModelError(Code.PROMPT_TOO_LONG(model=model, n_rows=n_rows, capacity=capacity))

    def go_on_after(self, other: Self) -> None:
        """Number utterances and count work where another one stopped."""
        self._n_utterances, self.counters = other._n_utterances, other.counters
        self.haste, self._said = other.haste, other._said
        self.model.tokens_fed += other.model.tokens_fed
        self.model.forwards += other.model.forwards
        self.model.flops += other.model.flops

    def forget(self) -> None:
        """Empty the cache, the system prompt's rows too."""
        self.model.truncate(0)
        self.cached_system = ()

    def close(self) -> None:  # noqa: B027  only another computer's holds what must be released
        """Do nothing: what it holds goes with it, even where its model has failed."""

    def next_number(self) -> int:
        """Number a new utterance; its prompt gets the sentences before."""
        n_told = self.settings.context_sentences
        if n_told:
            self.prompt = self._context.prompt(list(self._said.values())[-n_told:])
        self._n_utterances += 1
        return self._n_utterances

    @property
    def reads_any_script(self) -> bool:
        return not self.settings.reads_english

    @property
    def context_rows(self) -> int:
        return self._context.n_rows(self.prompt)

    def forget_sentences(self) -> None:
        """Keep all sentences so far out of prompts."""
        self._said.clear()

    def _note(self, number: int, words: Sequence[str]) -> None:
        self._said[number] = " ".join(words)
        for old in sorted(self._said)[: -self.settings.context_sentences - 1]:
            del self._said[old]

    def source_text(self, utterance: Translated, sentence: Sentence) -> SourceText:
        """Log the words of an utterance; turn them into what the model reads."""
        words, ended, full_stop = sentence.words, sentence.ended, sentence.full_stop
        number, kept = utterance.number, n_same(utterance.words, words)
        stops = {"full_stop": full_stop} if full_stop else {}
        news = list(words[kept:])
        self.log.write("source", utterance=number, kept=kept, words=news, ended=ended, **stops)
        self._note(number, words)
        english = self.settings.reads_english
        read = read_source(
            words, ended=ended, english=english, any_script=not english, terms=self._term_words
        )
        units, ends, passed, numbers = list[Unit](), list[int](), list[Passed](), list[Number]()
        n_words = n_typed = 0
        for part in read:
            passed += [Passed(text, len(units), n_words) for text in part.before]
            n_typed += part.n_words
            if part.text:
                units += word_units(self.weights.tokenizer, part.text)
                ends += [n_typed - 1] * (len(units) - len(ends) - 1) + [n_typed]
                numbers += [(len(units), quantity) for quantity in part.numbers]
                n_words += 1
            passed += [Passed(text, len(units), n_words) for text in part.after]
        texts = [part.text for part in read if part.text]
        stop = full_stop_ids(self.weights.tokenizer, "".join(texts[-1:]), full_stop)
        source = SourceText(
            *(words, ended, tuple(units), len(units), stop),
            *(tuple(passed), tuple(numbers), tuple(ends)),
        )
        is_read = bool(read and read[-1].text)
        if not ended or source.is_untranslatable:
            return source
        before = utterance.source.units[: utterance.n_read]
        alone = sentence.end_alone or not is_read
        return source.with_end(stop + utterance.end, before, alone=alone)

    def keep_system(self, headers: Headers) -> int:
        """Truncate the cache to the rows of this system prompt; return how many it holds."""
        n_rows = n_same(self.cached_system, headers.system)
        self.model.truncate(n_rows)
        self.cached_system = self.cached_system[:n_rows]
        return n_rows

    def own_words(self) -> OwnWords | None:
        """Return the model's own words for the current terms; None where there are no terms."""
        settings, terms = self.settings, self.terms
        if not terms or not is_spaced(settings.target_language):
            return None
        if self._own_words is None or self._own_words[0] is not settings:
            plain = replace(settings, glossary=(), context_sentences=0)
            n_rows = 2 * len(self.prompt.headers.system) + _ROWS_BESIDE
            beside = functools.cache(lambda: type(self)(self.weights, plain, capacity=n_rows))
            own = OwnWords(
                terms,
                lambda text: translate_unseen(beside(), text),
                reads_english=settings.reads_english,
            )
            self._own_words = settings, own
        return self._own_words[1]

    def log_fed(self, utterance: int, rows: Sequence[Row], *, n_again: int = 0) -> None:
        self.log.write(
            "fed",
            utterance=utterance,
            ids=[row.id for row in rows],
            positions=[row.position for row in rows],
            times=[row.time for row in rows],
            n_again=n_again,
            flops=self.model.last_flops,
            cached_rows=self.model.n_rows,
        )

    def log_cut(self, utterance: int, *, loops: bool) -> None:
        self.counters.loops_cut += loops
        self.log.write("cut", utterance=utterance, why="loop" if loops else "length")

    def log_end(self, utterance: int, mean_log_probability: float | None = None) -> None:
        self.log.write(
            "ended",
            utterance=utterance,
            mean_log_probability=mean_log_probability or 0.0,
            tokens_fed=self.model.tokens_fed,
            forwards=self.model.forwards,
            tokens_recomputed=self.counters.tokens_recomputed,
            probes=self.counters.probes,
            flops=self.model.flops,
            cached_rows=self.model.n_rows,
            peak_memory_bytes=self.model.peak_memory_bytes,
        )


def make_context(
    weights: AnyWeights, settings: TranslationSettings, glossary: Sequence[tuple[str, str]]
) -> Context | NoContext:
    """Return what makes the prompts of a model; one with an encoder and a decoder has none."""
    card, language = weights.card, settings.target_language
    is_apart = isinstance(weights, EncoderDecoderWeights)
    if is_apart or not settings.reads_english:
        card.check_pair(settings.source_language, language)
    if isinstance(weights, EncoderDecoderWeights):
        return NoContext(weights.end_id, weights.marker_ids)
    return Context(weights.tokenizer, card, language, glossary)


def target_tokenizer(weights: AnyWeights) -> WordTokenizer:
    """Return what cuts words of the target; Marian has a tokenizer for each language."""
    if isinstance(weights, EncoderDecoderWeights):
        return weights.target_tokenizer
    return weights.tokenizer
