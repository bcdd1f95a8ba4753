"""A network with an encoder and a decoder in CTranslate2: it translates a source from a prefix on.

Nothing is kept from one translation to the next: each computes its source and its prefix again,
which is counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Never, cast

import numpy as np
from numpy.typing import NDArray

from engine.models.encoder_decoder.vocabulary import Vocabulary
from engine.runtime.causal_model import Ask, Asking, Result, answered
from engine.runtime.flops import peak_memory_bytes
from engine.settings import LayoutSettings

if TYPE_CHECKING:
    from ctranslate2 import Translator

_SUPPRESSED = -1e30
"""CTranslate2 gives tokens that may not be chosen the lowest number of float32."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """The encoded source.

    Attributes:
        ids: of the target, its prefix among them; the end marker last, unless it was cut.
        logits: shape (len(ids), V), -inf for ids that may not be chosen.
    """

    ids: list[int]
    logits: NDArray[np.float32]


class EncoderDecoderModel:
    """The network in one conversation, with its counters (``engine.runtime.causal_model``).

    Attributes:
        n_rows: tokens of the newest source and target.
    """

    def __init__(
        self, translator: "Translator", vocabulary: Vocabulary, encoder: int, decoder: int
    ) -> None:
        """Take a loaded network.

        Args:
            translator: of CTranslate2.
            vocabulary: its tokens.
            encoder: numbers in the weights of its encoder.
            decoder: the same of its decoder.
        """
        self._translator = translator
        self._ids = vocabulary.ids
        self._encoder, self._decoder = encoder, decoder
        self.tokens_fed = self.forwards = self.flops = self.last_flops = self.n_rows = 0

    @property
    def peak_memory_bytes(self) -> int:
        """The most memory held so far, see ``engine.runtime.flops``."""
        return peak_memory_bytes()

    def run(self, work: Asking[Result]) -> Result:
        """Return the result of work that calls ``translate`` itself, and asks for nothing."""
        return answered(work, _refuse)

    def truncate(self, n_rows: int) -> None:
        """Do nothing: no row is kept."""

    def use(self, layout: LayoutSettings) -> None:
        """Do nothing: a layout is of slots."""

    def forget_steps(self) -> None:
        """Do nothing: no step is prepared."""

    def translate(self, source: Sequence[str], prefix: Sequence[str], most: int) -> Hypothesis:
        """Translate greedily from a prefix on, up to ``most`` tokens with the prefix."""
        result = self._translator.translate_batch(
            [list(source)],
            target_prefix=[list(prefix)],
            beam_size=1,
            max_input_length=0,
            max_decoding_length=most,
            return_end_token=True,
            return_logits_vocab=True,
            disable_unk=True,
        )[0]
        tokens = cast("list[str]", result.hypotheses[0])
        logits = np.stack([np.asarray(row, np.float32) for row in result.logits[0]])
        logits[logits < _SUPPRESSED] = -np.inf
        self._count(len(source), len(tokens), len(tokens) - len(prefix))
        return Hypothesis([self._ids[token] for token in tokens], logits)

    def _count(self, n_source: int, n_target: int, n_steps: int) -> None:
        self.n_rows = n_source + n_target
        self.tokens_fed += self.n_rows
        self.forwards += 1 + max(1, n_steps)
        # two operations for each weight and token; attention is left out, which is small beside it
        self.last_flops = 2 * (n_source * self._encoder + n_target * self._decoder)
        self.flops += self.last_flops


def _refuse(ask: Ask) -> Never:
    msg = f"{len(ask.rows)} rows were asked of a model that keeps none"
    raise ValueError(msg)
