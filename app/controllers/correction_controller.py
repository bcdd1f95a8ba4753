"""Corrects rows of the transcript in their place, which are captioned again then."""

from functools import partial

from PySide6.QtCore import QObject, Slot

from app.config.lanes import CORRECTED
from app.controllers.caption_controller import CaptionController
from app.controllers.glossary_controller import GlossaryController
from app.main_window.banner import Banner
from app.main_window.transcript_view import Transcript
from app.session.engine_bridge import EngineBridge
from engine.events import Event, FurtherCaptionEnded, UtteranceEnded
from engine.speech.hypothesis import same_word_key
from engine.translation.captioned import n_same
from engine.utterances import Utterance

_ALWAYS = "always write"  # a topic of the banner
_MOST_WORDS = 3  # of a name


class CorrectionController(QObject):
    """Translate what was corrected, and offer to write a name so from now on."""

    def __init__(
        self,
        bridge: EngineBridge,
        captions: CaptionController,
        glossary: GlossaryController,
        transcript: Transcript,
        banner: Banner,
    ) -> None:
        super().__init__(transcript)
        self._bridge, self._captions = bridge, captions
        self._glossary, self._banner = glossary, banner
        self._texts: dict[int, str] = {}  # by key of a row
        self._numbers: dict[int, frozenset[int]] = {}  # of the words that it has now, likewise
        self._utterances: dict[int, dict[int, Utterance]] = {}  # by key and number of a first word
        transcript.corrected.connect(self._correct)
        bridge.apart_changed.connect(self._follow)
        captions.cleared.connect(self._forget)

    @Slot(int, str)
    def _correct(self, key: int, text: str) -> None:
        words = text.split()
        text = " ".join(words)
        before = self._captions.correct(key, text) if words else None
        if before is None or before == text:
            return
        self._texts[key], self._utterances[key] = text, {}
        self._numbers[key] = self._bridge.correct(words)
        self._offer(before.split(), words)

    @Slot(object, object)
    def _follow(self, event: Event, utterance: Utterance) -> None:
        """Show and keep the captions of a row once all its sentences have them."""
        if utterance.lane != CORRECTED or not isinstance(
            event, UtteranceEnded | FurtherCaptionEnded
        ):
            return
        said = {word.number for word in utterance.words}
        key = next((key for key, numbers in self._numbers.items() if said & numbers), None)
        if key is None:  # it was corrected once more
            return
        found = self._utterances[key]
        found[min(said)] = utterance
        ended = [one for _, one in sorted(found.items()) if one.ended]
        if self._numbers[key] <= {word.number for one in ended for word in one.words}:
            self._captions.correct(key, self._texts[key], ended)

    @Slot()
    def _forget(self) -> None:
        self._texts.clear()
        self._numbers.clear()
        self._utterances.clear()
        self._banner.withdraw(_ALWAYS)

    def _offer(self, before: list[str], words: list[str]) -> None:
        """Offer to write the corrected words so from now on, if they are few, as a name has."""
        n_head = n_same(before, words)
        n_tail = n_same(before[n_head:][::-1], words[n_head:][::-1])
        fresh = " ".join(words[n_head : len(words) - n_tail]).strip('.,;:!?…"“”„')
        wrong = before[n_head : len(before) - n_tail]
        if not wrong or not fresh or len(fresh.split()) > _MOST_WORDS:
            return
        if same_word_key(fresh) == same_word_key(" ".join(wrong)):
            return
        text = self.tr("Always write “{}”?").format(fresh)
        add = partial(self._glossary.add_name, fresh)
        self._banner.show_offer(text, _ALWAYS, (self.tr("&Always"), add), passes=True)
