"""Let SimulEval drive a translator that reads sound: speech to text.

    .venv-simuleval/bin/simuleval --agent training/research/simuleval_speech_agent.py \
        --source waves.txt --target references.txt --source-type speech --target-type text \
        --source-segment-size 160 --model DIR --to de --policy adaptive:0.5

Sound comes in segments; text is handed over word by word, once each is whole, as by the agent for
texts (``training.research.simuleval_agent``). SimulEval is imported here only; it is not in
our environment.
"""

import argparse
from pathlib import Path

import numpy as np
from simuleval.agents import SpeechToTextAgent
from simuleval.agents.actions import Action, ReadAction, WriteAction
from simuleval.utils import entrypoint

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import SurtitleError
from engine.metrics.event_log import EventLog
from engine.metrics.units import is_spaced
from training.errors import TrainingError
from training.evaluation.models import measured_model
from training.research import methods
from training.research.simuleval import WholeWords
from training.research.speech_measure import SpeechRunSettings, make_sound_system


@entrypoint
class SurtitleSpeechAgent(SpeechToTextAgent):  # type: ignore[misc]  # SimulEval has no types
    """Return the words that each segment of sound adds to the caption."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        methods.add()
        settings = SpeechRunSettings(
            model=arguments.model,
            data=Path(),
            language=arguments.to,
            policies=(arguments.policy,),
            out=Path(),
            cascade=arguments.cascade,
            layout=arguments.layout,
        )
        try:
            model = measured_model(arguments.model, None, "cpu")
            self._system, _ = make_sound_system(settings, model, arguments.policy, EventLog())
        except (SurtitleError, TrainingError, ValueError) as error:
            raise SystemExit(str(error)) from error
        self._spaced = is_spaced(arguments.to)
        super().__init__(arguments)  # resets

    @staticmethod
    def add_args(parser: argparse.ArgumentParser) -> None:
        """Add our arguments to SimulEval's."""
        parser.add_argument("--model", type=Path, required=True, metavar="DIR")
        parser.add_argument("--to", default="de", metavar="LANG", help="target language")
        parser.add_argument("--policy", default="adaptive:0.5", help="as of speech-evaluate")
        parser.add_argument("--cascade", action="store_true", help="translate the encoder's words")
        parser.add_argument("--layout", default="slots")

    def reset(self) -> None:
        """Begin a new utterance."""
        super().reset()
        self._n_heard = 0
        self._words = WholeWords()

    def policy(self) -> Action:
        """Hear the newest segment; SimulEval asks once for each."""
        if self.states.source and self.states.source_sample_rate != SAMPLE_RATE_HZ:
            rate = self.states.source_sample_rate
            msg = f"sound of {SAMPLE_RATE_HZ} Hz was expected, got {rate}: resample it"
            raise SystemExit(msg)
        ended = bool(self.states.source_finished)
        fresh = np.array(self.states.source[self._n_heard :], np.float32)
        self._n_heard = len(self.states.source)
        text = self._system.hear(fresh, ended=ended)
        if self._spaced:  # otherwise characters are counted, and none is held back
            text = self._words.feed(text)
        if ended:
            text += self._words.flush()
        return WriteAction(text, finished=ended) if text or ended else ReadAction()
