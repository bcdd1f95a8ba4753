"""Sample translations with the engine's own translator, many side by side.

A trajectory is decided by its source, its policy, its seed and the weights: not by the others that
are sampled with it, but for the rounding of sums.
"""

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.layout.rows import IGNORE, Row
from engine.metrics.event_log import Event, EventLog
from engine.metrics.replay import replay
from engine.metrics.translation import Translation
from engine.policy import parse_policy
from engine.runtime.causal_model import Asking, CausalModel, Numbers, float32, likeliest
from engine.runtime.together import run_together
from engine.runtime.torch.torch_loader import TorchWeights
from engine.runtime.torch.torch_store import TorchStore
from engine.settings import LayoutSettings, TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.feed import growing, known_steps
from engine.translation.slot_translator import Translator

CAPACITY = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A translation to sample.

    Attributes:
        source: text, at least one word.
        language: of the target.
        policy: as ``read:2``.
        seed: of the sampling; None takes the likeliest tokens.
    """

    source: str
    language: str
    policy: str
    seed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """A sampled translation.

    Attributes:
        rows: in arrival order; each row has the token that the model chose after it as its label.
            Writes that were ended by force have no label for their end.
        translation: text and delays.
        n_writes: writes that ended before the source did; ``n_empty`` of them without a token.
    """

    rows: tuple[Row, ...]
    translation: Translation
    n_writes: int
    n_empty: int


@dataclass(slots=True)
class Sampler:
    """Draw an id from the distribution of its logits at a temperature."""

    temperature: float
    rng: random.Random

    def __call__(self, logits: Numbers) -> int:
        """Draw with one number of the generator."""
        numbers = float32(logits).astype(np.float64)
        weights = np.exp((numbers - numbers.max()) / self.temperature)  # (V,)
        sums = weights.cumsum()
        drawn = int(np.searchsorted(sums, self.rng.random() * sums[-1], side="right"))
        return min(drawn, int(weights.nonzero()[0][-1]))  # a product may round up


class Rollouts:
    """Sampling with one network, whose weights may change between two calls of ``sample``."""

    def __init__(
        self, weights: TorchWeights, layout: LayoutSettings, *, n_lanes: int, temperature: float
    ) -> None:
        """Make the cache of ``n_lanes`` translations side by side."""
        self._weights = weights
        self._layout = layout
        self._temperature = temperature
        self._store = TorchStore(weights.network, n_lanes, CAPACITY)
        self._models = [CausalModel(self._store, lane) for lane in range(n_lanes)]
        self._systems = dict[tuple[int, str], _System]()

    def sample(self, requests: Sequence[Request]) -> list[Trajectory]:
        """Translate requests side by side; return their trajectories in order."""
        found = dict[int, Trajectory]()
        # of one language together, and long ones first, so that no lane works alone at the end
        order = sorted(
            range(len(requests)),
            key=lambda n: (requests[n].language, -len(requests[n].source)),
        )
        waiting = iter(order)

        def work(lane: int) -> Asking[None]:
            language, system = "", None
            for number in waiting:
                request = requests[number]
                if system is None or request.language != language:
                    language = request.language
                    system = self._system(lane, language)
                found[number] = yield from system.translate(request, self._choice(request))

        works = [work(lane) for lane in range(min(len(self._models), len(requests)))]
        deque(run_together(self._store, works), maxlen=0)
        return [found[number] for number in range(len(requests))]

    def _choice(self, request: Request) -> Callable[[Numbers], int]:
        if request.seed is None:
            return likeliest
        return Sampler(self._temperature, random.Random(request.seed))

    def _system(self, lane: int, language: str) -> "_System":
        """Return the translator of a lane, which takes a while to make, with an empty cache."""
        key = (lane, language)
        if key not in self._systems:
            model = self._models[lane]
            self._systems[key] = _System(self._weights, model, self._layout, language)
        self._systems[key].begin()
        return self._systems[key]


class _System:
    """A translator in a lane, and its log."""

    def __init__(
        self, weights: TorchWeights, model: CausalModel, layout: LayoutSettings, language: str
    ) -> None:
        settings = TranslationSettings(
            target_language=language, layout=layout, cut_loops=False, constrained=False
        )
        self._events = list[Event]()
        self._log = EventLog(self._events)
        self._translator = Translator(
            weights, settings, capacity=CAPACITY, log=self._log, model=model
        )
        self._session = list(self._events)  # says how the target's units are counted

    def begin(self) -> None:
        """Begin with an empty cache: nothing of other weights, or of another language."""
        self._translator.conversation.forget()

    def translate(self, request: Request, choose: Callable[[Numbers], int]) -> Asking[Trajectory]:
        """Translate a request word by word."""
        self._translator.model.choose = choose
        self._translator.conversation.policy = parse_policy(request.policy)
        self._events[:] = self._session
        words = tuple(request.source.split())
        self._log.write("line", index=0, words=words)
        utterance = self._translator.open()
        for n_words, known in enumerate(growing(Sentence(words, ended=True)), start=1):
            self._log.write("arrived", n_words=n_words, ended=known.ended)
            yield from known_steps(self._translator, utterance, known)
        self._log.write("line_ended", index=0)
        (translation,) = replay(self._events)
        rows = tuple(utterance.fed_rows())
        if utterance.planner.n_evicted_words:  # one pass cannot compute what was forgotten since
            rows = tuple(row._replace(label=IGNORE) for row in rows)
        written = [event["id"] for event in self._events if event["event"] == "written"]
        return Trajectory(
            rows=rows, translation=translation, **_writes(written, utterance.prompt.end_of_write)
        )


def _writes(written: Sequence[int], end: int) -> dict[str, int]:
    """Count the writes but the last one, and those of them without a token."""
    ends = [index for index, id_ in enumerate(written) if id_ == end][:-1]
    n_empty = sum(index == 0 or written[index - 1] == end for index in ends)
    return {"n_writes": len(ends), "n_empty": n_empty}
