"""Translate all words again whenever one comes, and keep what the newest drafts agree on.

The way of models that know no slots, and what slots are held against.

Local agreement (Liu et al. 2020, https://www.isca-archive.org/interspeech_2020/liu20s_interspeech.html;
Polák et al. 2022, https://aclanthology.org/2022.iwslt-1.24): of two drafts in a row, the longest
common start is committed; with the policy ``stable:N``, of N drafts. It needs no training and no
slots. The maker of drafts is a ``Drafter``: the weights, cache and counters of
``engine.translation.slot_translator``, so that the two can be held side by side, or a model with an
encoder and a decoder.

The policy says when a draft is made: wait-k at every word from the k-th on, read-n after every n
words, stable n at every word (what drafts agree on is its decision), offline at the end. Our
choices: whole words are committed; a draft continues what is committed, so nothing that was shown
changes.
"""

from typing import Protocol, cast

from engine.events import Confidence
from engine.metrics.event_log import EventLog
from engine.policy import Stable
from engine.runtime.causal_model import AnyModel, Asking
from engine.runtime.ctranslate2.encoder_decoder_loader import EncoderDecoderWeights
from engine.runtime.loader import AnyWeights
from engine.settings import TranslationSettings
from engine.translation.base import AnySystem, Conversation, OnConversation
from engine.translation.captioned import Change, n_same
from engine.translation.causal_drafts import CausalDrafts
from engine.translation.encoder_decoder_drafts import EncoderDecoderDrafts
from engine.translation.log_events import log_end
from engine.translation.redraft import Redraft

_AGREEING = 2  # drafts in a row, where the policy names no number


class Drafter(Protocol):
    """A translator of the words of an utterance that were read."""

    def draft(self, utterance: Redraft) -> Asking[list[int]]:
        """Return the ids of a translation that begins with what is committed."""


class Retranslator(OnConversation[Redraft]):
    """Translate utterances by re-translation, with the verbs of the slot translator."""

    def __init__(
        self,
        weights: AnyWeights,
        settings: TranslationSettings,
        *,
        capacity: int = 2048,
        log: EventLog | None = None,
        model: AnyModel | None = None,
    ) -> None:
        """See ``Conversation``."""
        is_apart = isinstance(weights, EncoderDecoderWeights)
        system = "encoder-decoder" if is_apart else "retranslate"
        super().__init__(
            Conversation(system, weights, settings, capacity=capacity, log=log, model=model)
        )
        self._log = self.conversation.log
        self._drafter: Drafter = (
            EncoderDecoderDrafts(self.conversation, weights)
            if isinstance(weights, EncoderDecoderWeights)
            else CausalDrafts(self.conversation)
        )

    def open(self) -> Redraft:
        """Open an utterance with the current settings."""
        return Redraft(self.conversation, self.own_words())

    def _beside(self, settings: TranslationSettings, capacity: int) -> AnySystem:
        other = Retranslator(self.conversation.weights, settings, capacity=capacity)
        return cast("AnySystem", other)

    def steps(self, utterance: Redraft) -> Asking[Change | None]:
        """See ``System.steps``."""
        change: Change | None = None
        while change is None and not utterance.finished:
            if utterance.draft_is_due(self.conversation.haste):
                change = yield from self._translate(utterance)
            elif utterance.can_read:
                utterance.n_read += 1
                self._log.write("read", utterance=utterance.number, n_read=utterance.n_read)
            else:
                return None
        return change

    def confidence(self, utterance: Redraft) -> Confidence | None:
        """Return how sure the model is of a caption; None for a model that was not calibrated.

        A calibration for slots is none for drafts.
        """
        card, mean = self.conversation.weights.card, utterance.mean_log_probability
        if card.calibration is None or mean is None or card.knows_slots:
            return None
        return card.calibration.confidence(mean)

    def give_up(self, utterance: Redraft) -> None:
        """Leave an utterance as it is after it could not be computed, and empty the cache."""
        utterance.finished = True
        self.conversation.forget()

    def _translate(self, utterance: Redraft) -> Asking[Change | None]:
        """Make a draft and commit what it shares with the one before."""
        draft = utterance.draft
        if not utterance.source.units:
            draft = []
        elif draft is None or utterance.n_read > utterance.n_drafted:
            draft = yield from self._drafter.draft(utterance)
        utterance.draft, utterance.n_drafted = draft, utterance.n_read
        utterance.drafts = [*utterance.drafts, draft][-self._n_agreeing(utterance) :]
        number, n_read = utterance.number, utterance.n_read
        whole = self.conversation.weights.decoder.decode(draft, skip_special_tokens=True).strip()
        self._log.write("drafted", utterance=number, text=whole, n_read=n_read)
        text = utterance.commit(self._n_agreed(utterance, draft))
        if text:
            self._log.write("committed", utterance=number, text=text, n_read=n_read)
        if utterance.finished:
            mean = utterance.mean_log_probability or 0.0
            log_end(self._log, self.model, self.counters, number, mean_log_probability=mean)
        if not text:
            return None
        return Change(len(utterance.caption) - len(text), text, utterance.n_words_read)

    def _n_agreeing(self, utterance: Redraft) -> int:
        """Return how many drafts in a row must share what is committed."""
        return utterance.policy.n if isinstance(utterance.policy, Stable) else _AGREEING

    def _n_agreed(self, utterance: Redraft, draft: list[int]) -> int:
        """Count the ids that are certain: all at the end of the source, else whole words."""
        if utterance.source_ended:
            return len(draft)
        drafts, n_agreed = utterance.drafts, 0
        if len(drafts) == self._n_agreeing(utterance):
            n_agreed = min(n_same(one, draft) for one in drafts)
        while n_agreed > len(utterance.committed) and not all(
            n_agreed == len(ids) or self.conversation.words_begun[ids[n_agreed]] for ids in drafts
        ):
            n_agreed -= 1
        return max(n_agreed, len(utterance.committed))
