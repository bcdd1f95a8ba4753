"""Load a model with an encoder and a decoder for CTranslate2, after its only conversion.

CTranslate2 and sentencepiece belong to the extra ``translation`` and are imported here. Nothing is
fetched.
"""

import logging
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Never, Self, cast

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer as Backend

from engine.errors import ModelError, is_failure, message_of
from engine.messages import Code
from engine.models.encoder_decoder.original import is_original
from engine.models.encoder_decoder.record import END, UNKNOWN, Record, Vocabulary, read_record
from engine.models.encoder_decoder.tokenizer import (
    SentencePieceTokenizer,
    make_decoder,
    read_processor,
)
from engine.models.fingerprint import weight_files
from engine.models.model_card import ModelCard
from engine.runtime.causal_model import Ask, Asking, Result, answered, peak_memory_bytes
from engine.runtime.ctranslate2.conversion import (
    WEIGHTS,
    Progress,
    held,
    read_converted,
    ready_folder,
)
from engine.runtime.processor import suits_one_thread
from engine.runtime.weights import LoadReport
from engine.settings import LayoutSettings, ModelSettings
from engine.untrusted.faults import detail_of
from engine.untrusted.limited_process import try_pieces
from engine.untrusted.plain_files import model_name

if TYPE_CHECKING:
    from ctranslate2 import Translator


_SUPPRESSED = -1e30
"""CTranslate2 gives tokens that may not be chosen the lowest number of float32."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A translation.

    Attributes:
        ids: of the target, its prefix among them; the end marker last, unless it was cut.
        logits: shape (len(ids), V), -inf for ids that may not be chosen.
    """

    ids: list[int]
    logits: NDArray[np.float32]


class EncoderDecoderModel:
    """The network in one conversation; ``n_rows`` counts the newest source and target."""

    def __init__(
        self, translator: "Translator", vocabulary: Vocabulary, encoder: int, decoder: int
    ) -> None:
        """Take a loaded network; ``encoder`` and ``decoder`` count the numbers in their weights."""
        self._translator = translator
        self._ids = vocabulary.ids
        self._encoder, self._decoder = encoder, decoder
        self.tokens_fed = self.forwards = self.flops = self.last_flops = self.n_rows = 0

    @property
    def peak_memory_bytes(self) -> int:
        return peak_memory_bytes()

    def run(self, work: Asking[Result]) -> Result:
        """Return the result of a generator that calls ``translate`` itself."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderDecoderWeights:
    """A model that CTranslate2 computes, see ``engine.runtime.weights.Weights``.

    Attributes:
        positions: the most tokens of a source and of a target; None without a limit.
        tokenizer: of sources.
        base: None: no adapter is made for such a model.
    """

    translator: "Translator"
    record: Record
    vocabulary: Vocabulary
    positions: int | None
    tokenizer: SentencePieceTokenizer
    target_tokenizer: SentencePieceTokenizer
    decoder: Backend
    card: ModelCard
    report: LoadReport = field(default_factory=LoadReport)
    base: None = None

    @property
    def n_parameters(self) -> int:
        return self.record.encoder + self.record.decoder

    @property
    def end_id(self) -> int:
        return self.vocabulary.ids[END]

    @property
    def marker_ids(self) -> frozenset[int]:
        """Ids of all tokens that no text has."""
        ids = self.vocabulary.ids
        return frozenset(ids[token] for token in self.record.markers if token in ids)

    def with_card(self, card: ModelCard) -> Self:
        return replace(self, card=card)

    def new_model(self, capacity: int) -> EncoderDecoderModel:  # noqa: ARG002  nothing is cached
        record = self.record
        return EncoderDecoderModel(self.translator, self.vocabulary, record.encoder, record.decoder)

    def share_processor(self) -> None:
        """Do nothing: the number of threads was chosen when the network was loaded."""

    def give_memory_back(self) -> None:
        """Do nothing: CTranslate2 holds what it used for the next translation."""


def load_encoder_decoder(
    settings: ModelSettings,
    progress: Progress = lambda _name, _part: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> EncoderDecoderWeights:
    """Load such a model; convert it before if that was not done yet.

    Of a downloaded one the original is deleted once the converted one was loaded. float16 is taken
    on CUDA, else int8; float32 where weights shall be whole.

    Raises:
        ModelError: folder or device cannot be used, a library is missing, or the licence was not
            accepted.
        FetchCancelledError: ``cancelled`` returned True during a conversion.
    """
    folder = settings.directory
    name = model_name(folder)
    try:
        import ctranslate2  # noqa: PLC0415  may be missing
        import sentencepiece  # noqa: F401, PLC0415  likewise
    except ImportError as error:
        raise ModelError(
            Code.TRANSLATION_LIBRARIES_MISSING(name=name, reason=str(error))
        ) from error
    n_gpus = ctranslate2.get_cuda_device_count()
    if settings.device == "mps" or (settings.device == "cuda" and not n_gpus):
        raise ModelError(Code.NO_GPU_FOR_TRANSLATION(name=name, device=settings.device))
    device = "cuda" if n_gpus and settings.device != "cpu" else "cpu"
    is_whole = device == "cuda" or settings.quantise == "none"
    precision = "float16" if is_whole else "int8"
    converted = ready_folder(
        folder,
        precision,
        accepts_licence=settings.accepts_licence,
        progress=progress,
        cancelled=cancelled,
    )
    try:
        weights = _loaded(converted, device, precision)
    except ModelError:
        raise
    except BaseException as error:
        if not is_failure(error):
            raise
        detail = detail_of(error) if isinstance(error, Exception) else type(error).__name__
        raise ModelError(Code.CONVERTED_WRONG(folder=str(converted), detail=detail)) from error
    if settings.is_download:
        delete_original(folder, converted)
    return weights


def _loaded(folder: Path, device: str, precision: str) -> EncoderDecoderWeights:
    import ctranslate2  # noqa: PLC0415  may be missing

    record = read_record(folder)
    converted = read_converted(folder, record)
    vocabulary = converted.vocabulary
    sides = []
    for name in (record.source_pieces, record.target_pieces):
        try_pieces(folder / name)
        processor = read_processor(folder / name)
        sides.append(SentencePieceTokenizer(processor, vocabulary, record.markers, UNKNOWN))
    translator = ctranslate2.Translator(
        str(folder),
        device=device,
        compute_type="float32" if device == "cpu" and precision == "float16" else precision,
        intra_threads=1 if suits_one_thread(record.encoder + record.decoder) else 0,
    )
    return EncoderDecoderWeights(
        translator=translator,
        record=record,
        vocabulary=vocabulary,
        positions=converted.positions,
        tokenizer=sides[0],
        target_tokenizer=sides[1],
        decoder=make_decoder(vocabulary, record.markers, UNKNOWN),
        card=record.card,
        report=LoadReport(
            quantise="int8" if precision == "int8" else "none",
            needed_bytes=(folder / WEIGHTS).stat().st_size,
        ),
    )


_log = logging.getLogger(__name__)


def delete_original(folder: Path, converted: Path) -> None:
    """Delete the weights of a downloaded original, once its converted ones were loaded.

    A file that came later, or is no plain file, stays.
    """
    if not is_original(folder) or converted.parent != folder:
        return
    try:
        converted_ns = (converted / WEIGHTS).stat().st_mtime_ns
        with held(folder, lambda: True) as is_held:
            for name in weight_files(folder) if is_held else ():
                found = (folder / name).lstat()
                changed_ns = max(found.st_mtime_ns, found.st_ctime_ns)
                if stat.S_ISREG(found.st_mode) and changed_ns <= converted_ns:
                    (folder / name).unlink()
    except FileNotFoundError:
        return  # it was deleted before
    except (ModelError, OSError) as error:
        _log.warning("the original in %s was not deleted: %s", folder, message_of(error))
