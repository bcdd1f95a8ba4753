"""Two models as one: ONNX Runtime and torch get the same rows, and every answer is compared."""

import numpy as np

from engine.models.adapters.adapter import usable_adapter
from engine.models.fingerprint import read_fingerprint
from engine.runtime.causal_model import CausalModel
from engine.runtime.loader import load_weights
from engine.runtime.onnx.onnx_loader import OnnxWeights
from engine.runtime.torch.torch_loader import load_torch
from engine.runtime.weights import read_factors
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.slot_translator import Translator
from tests.support.fakes import AnsweringModel

TOLERANCE = 5e-5


class Twins(AnsweringModel):
    """Two models with the verbs of one; every answer is compared.

    Attributes:
        compared: answers.
        distances: of each answer, the largest difference of two logits.
    """

    def __init__(self, torch_model: CausalModel, onnx_model: CausalModel):
        self.torch_model, self.onnx_model = torch_model, onnx_model
        self.compared = self.evicted = self.truncated = self.states_compared = 0
        self.distances: list[float] = []

    def __getattr__(self, name):
        value = getattr(self.torch_model, name)
        if name in ("n_rows", "capacity", "max_positions", "tokens_fed", "forwards", "flops"):
            assert getattr(self.onnx_model, name) == value, name
        return value

    def truncate(self, n_rows):
        self.truncated += n_rows < self.torch_model.n_rows
        for model in (self.torch_model, self.onnx_model):
            model.truncate(n_rows)

    def use(self, layout):
        for model in (self.torch_model, self.onnx_model):
            model.use(layout)

    def evict(self, gone):
        self.evicted += 1
        for model in (self.torch_model, self.onnx_model):
            model.evict(gone)

    def feed(self, rows):
        wanted, found = self.torch_model.feed(rows).numpy(), self.onnx_model.feed(rows)
        self._compare(found, wanted)
        return wanted

    def next_id(self, rows, suppressed, *, keep_states=False):
        self.torch_model.next_id(rows, (), keep_states=keep_states)
        wanted = self.torch_model.logits().copy()
        chosen = self.onnx_model.next_id(rows, suppressed, keep_states=keep_states)
        if keep_states:
            self._compare(self.onnx_model.states(), self.torch_model.states())
            self.states_compared += 1
        wanted[list(suppressed)] = -np.inf
        id_ = int(wanted.argmax())
        far = self._compare(self.onnx_model.logits(), wanted)
        assert chosen == id_ or wanted[id_] - wanted[chosen] <= 2 * far  # rounding alone parts them
        return id_

    def logits(self):
        return self.onnx_model.logits()

    def states(self):
        return self.onnx_model.states()

    def _compare(self, found, wanted):
        """Return the largest difference; the logits of a random network are large."""
        known = np.isfinite(wanted)
        assert np.array_equal(known, np.isfinite(found))
        far = float(np.abs(wanted[known] - found[known]).max())
        assert far < TOLERANCE * max(1, np.abs(wanted[known]).max())
        self.distances.append(far)
        self.compared += 1
        return far


def both(folder, **changes):
    """The weights of a folder on ONNX Runtime and on torch."""
    settings = ModelSettings(directory=folder, device="cpu", **changes)
    light = load_weights(settings)
    assert isinstance(light, OnnxWeights)
    heavy = load_torch(settings, light.card)
    if settings.adapter is not None:
        layers = heavy.adapted_layers(keep_base=False)
        layers.put(read_adapter(settings.adapter, folder))
    return light, heavy


def read_adapter(adapter, folder):
    return read_factors(usable_adapter(adapter, read_fingerprint(folder)))


def twin(weights, system=Translator, *, capacity=400, **settings):
    """A system whose model is both."""
    light, heavy = weights
    made = system(light, TranslationSettings(**settings), capacity=capacity)
    made.model = Twins(heavy.new_model(capacity), light.new_model(capacity))
    made.model.use(made.resolved.layout)
    return made
