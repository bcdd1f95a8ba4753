"""Captions without a model: the source words. It imports no model library."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from engine.events import Event
from engine.session.further_languages import FurtherLanguages
from engine.session.serving import Serving
from engine.settings import TranslationSettings
from engine.translation.captioned import Captioned, Captioner, Change, n_same
from engine.translation.passage import Passage


class SourceCaptions(Serving):
    """The passages of all lanes, captioned by their own words."""

    def __init__(
        self,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """Start without words; ``wake`` as for ``FurtherLanguages``."""
        further = FurtherLanguages(translation, report, wake)
        super().__init__(self._begin_passage, report, further)
        self._captioner = SourceCaptioner(translation)

    def _begin_passage(self, lane: str) -> Passage:
        captioner = cast("Captioner[Captioned]", self._captioner)  # given what it opened
        further = self._further.captions
        return Passage(captioner, lane, reads_any_script=True, further=further)

    def _configure(self, translation: TranslationSettings) -> None:
        self._captioner.configure(translation)
        self._further.configure(translation)


class SourceUtterance:
    """An utterance whose caption is its source."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.words: tuple[str, ...] = ()
        self.ended = self.finished = False
        self.caption = ""

    @property
    def n_words_read(self) -> int:
        """The words in the caption."""
        return len(self.caption.split())


class SourceCaptioner:
    """Captions each utterance with its own words, so in their language."""

    def __init__(self, settings: TranslationSettings) -> None:
        self.configure(settings)
        self._n_utterances = 0

    def configure(self, settings: TranslationSettings) -> None:
        """Use these settings for utterances that are opened from now on."""
        self.settings = replace(settings, target_language=settings.source_language)

    def open(self) -> SourceUtterance:
        """Open an utterance."""
        self._n_utterances += 1
        return SourceUtterance(self._n_utterances)

    def set_source(
        self,
        utterance: SourceUtterance,
        words: Sequence[str],
        *,
        ended: bool,
        full_stop: str = "",  # noqa: ARG002  a translator needs them
        end_alone: bool = False,  # noqa: ARG002
    ) -> bool:
        """Set the words of an utterance; return whether its caption was cut back."""
        utterance.words, utterance.ended, utterance.finished = tuple(words), ended, False
        kept = n_same(utterance.caption, " ".join(words))
        is_cut = kept < len(utterance.caption)
        utterance.caption = utterance.caption[:kept]
        return is_cut

    def advance(self, utterance: SourceUtterance) -> Change | None:
        """Write the rest of the words; None if there is none."""
        utterance.finished = utterance.ended
        kept, source = len(utterance.caption), " ".join(utterance.words)
        if kept == len(source):
            return None
        utterance.caption = source
        return Change(kept=kept, text=source[kept:], n_read=len(utterance.words))

    def confidence(self, _utterance: SourceUtterance) -> None:
        """Return nothing: the source is not translated."""

    def give_up(self, utterance: SourceUtterance) -> None:
        """Leave an utterance as it is."""
        utterance.finished = True
