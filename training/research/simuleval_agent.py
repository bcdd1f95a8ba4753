"""Let SimulEval drive our engine, text to text.

    .venv-simuleval/bin/simuleval --agent training/research/simuleval_agent.py --source F \
        --target F --source-type text --target-type text --to de --policy read:3

SimulEval passes a word and counts the returned text as written with that word's delay; each piece
begins a new word there, and none can be taken back. The model may extend a word after it has read
more, so a word is returned once the next word begins, or the line ends: the text SimulEval joins is
our caption, and its delays are the times at which each word was known to be whole. The delays of
our own evaluation are the times at which it appeared; see ``docs/evaluation.md``. SimulEval is
imported here only; it is not in our environment.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import torch
from simuleval.agents import TextToTextAgent
from simuleval.agents.actions import Action, ReadAction, WriteAction
from simuleval.utils import entrypoint

from engine.errors import SurtitleError
from engine.metrics.event_log import EventLog, is_spaced
from engine.models.resolve import AUTO, resolve
from engine.runtime.loader import load_weights
from engine.settings import SYSTEMS, TranslationSettings
from engine.translation.conversation import Conversation
from engine.translation.factory import make_system
from training.errors import TrainingError
from training.evaluation.models import find_model, measured_model
from training.evaluation.short_form import CAPACITY
from training.research import methods
from training.research.simuleval import WholeWords, WordByWord


@entrypoint
class SurtitleAgent(TextToTextAgent):  # type: ignore[misc]  # SimulEval has no types
    """Return the text that each source word adds to the caption."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        methods.add()
        try:
            self._line = WordByWord(_make_system(arguments))
            self._spaced = is_spaced(arguments.to)
        except (SurtitleError, TrainingError, ValueError) as error:
            raise SystemExit(str(error)) from error
        super().__init__(arguments)  # resets

    @staticmethod
    def add_args(parser: argparse.ArgumentParser) -> None:
        """Add our arguments to SimulEval's, which include ``--device``.

        SimulEval has options that begin with ``--system``, hence ``--translator``.
        """
        parser.add_argument("--to", default="de", metavar="LANG", help="target language")
        parser.add_argument("--from", dest="spoken", default="en", metavar="LANG", help="source")
        policies = "read:N, wait:K, adaptive:TAU, stable:N or offline"
        parser.add_argument("--policy", default="", help=f"{policies} (the model's)")
        parser.add_argument("--model", type=Path, metavar="DIR", help="(the bundled one)")
        parser.add_argument("--adapter", type=Path, metavar="DIR", help="LoRA adapter folder")
        parser.add_argument("--slot", type=int, metavar="N", help="slot length (the model's)")
        parser.add_argument("--translator", choices=tuple(SYSTEMS), default=AUTO)

    def reset(self) -> None:
        """Begin a new line."""
        super().reset()
        self._line.reset()
        self._words = WholeWords()

    def policy(self) -> Action:
        """Translate as far as the newest word allows; SimulEval asks once for each."""
        if not self.states.source:  # an empty line
            return WriteAction("", finished=True)
        ended = bool(self.states.source_finished)
        text = self._line.feed(self.states.source[-1], ended=ended)
        if self._spaced:  # otherwise characters are counted, and none is held back
            text = self._words.feed(text)
        if ended:
            text += self._words.flush()
        return WriteAction(text, finished=ended) if text or ended else ReadAction()


def _make_system(arguments: argparse.Namespace) -> Conversation:
    # As in training.evaluation.short_form: with another number of threads sums may differ in their
    # last bits.
    torch.set_num_threads(1)
    model, card = find_model(
        arguments.model, arguments.to, arguments.adapter, source=arguments.spoken
    )
    layout = resolve(card, arguments.translator).layout
    if arguments.slot is not None:
        layout = replace(layout, slot_length=arguments.slot)
    settings = TranslationSettings(
        target_language=arguments.to,
        source_language=arguments.spoken,
        policy=arguments.policy,
        layout=layout,
        cut_loops=False,  # as evaluate measures
    )
    weights = load_weights(measured_model(model, arguments.adapter, arguments.device))
    return make_system(arguments.translator, weights, settings, capacity=CAPACITY, log=EventLog())
