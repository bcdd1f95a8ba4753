import numpy as np
import pytest
import torch

from engine.layout.rows import Row
from engine.runtime.causal_model import Ask
from engine.runtime.rows import Vectors
from engine.runtime.torch.torch_store import TorchStore, embedded, slot_model
from tests.support.fakes import save_plain_model
from tests.support.networks import tiny_network
from tests.support.twins import both


def random_vectors(n, width=64, seed=0):
    return np.random.default_rng(seed).normal(size=(n, width)).astype(np.float32)


def test_vectors_are_found_by_the_ids_of_their_rows():
    vectors, added = Vectors(), random_vectors(5)
    assert vectors.add(added[:2]) + vectors.add(added[2:]) == (-1, -2, -3, -4, -5)
    rows = [Row(-4, 0), Row(7, 1), Row(-1, 2)]
    np.testing.assert_array_equal(vectors.of(rows), added[[3, 0]])
    assert vectors.of([Row(7, 1)]) is None


def test_what_is_forgotten_is_only_what_was_added_before():
    vectors = Vectors()
    vectors.add(random_vectors(5))
    vectors.forget_before(-3)
    assert len(vectors) == 3
    assert vectors.of([Row(-3, 0)]) is not None
    with pytest.raises(KeyError):
        vectors.of([Row(-2, 0)])
    assert vectors.add(random_vectors(1)) == (-6,)


def test_a_row_that_carries_the_embedding_of_a_token_is_as_good_as_the_token():
    network = tiny_network("llama")
    table = network.get_input_embeddings().weight.detach().numpy()
    ids, rng = [5, 9, 70, 3, 44], np.random.default_rng(1)
    for _ in range(10):
        model, twin = slot_model(network, 50), slot_model(network, 50)
        model.vectors = Vectors()
        carries = rng.random(5) < 0.5
        rows = [Row(id_, n, 0) for n, id_ in enumerate(ids)]
        said = [
            row._replace(id=model.vectors.add(table[[row.id]])[0]) if it else row
            for row, it in zip(rows, carries, strict=True)
        ]
        torch.testing.assert_close(model.feed(said), twin.feed(rows), rtol=0, atol=1e-5)


def test_lanes_of_different_lengths_keep_their_own_vectors():
    network = tiny_network("llama")
    carried = random_vectors(3, seed=3)
    store = TorchStore(network, 3, 50)
    asked = [
        Ask(0, [Row(-1, 0, 0), Row(4, 1, 0)], (), False, carried[:1]),
        Ask(1, [Row(8, 0, 0)], ()),
        Ask(2, [Row(6, 0, 0), Row(-1, 1, 0), Row(-2, 2, 0)], (), False, carried[1:]),
    ]
    for ask, found in zip(asked, store.feed(asked), strict=True):
        alone = TorchStore(network, 1, 50).feed([ask._replace(lane=0)])[0]
        torch.testing.assert_close(found.logits, alone.logits, rtol=0, atol=1e-9)


def test_passes_over_fixed_tensors_leave_vectors_to_others():
    network = tiny_network("llama", torch.float32)
    rows, fed = [Row(3, 0, 0), Row(-1, 1, 0)], []
    for static in (True, False):
        model = slot_model(network, 50, static=static)
        model.vectors = Vectors()
        model.vectors.add(random_vectors(1))
        model.next_id(rows, ())
        fed.append(model.logits())
    np.testing.assert_allclose(fed[0], fed[1], rtol=0, atol=1e-5)


def test_fewer_vectors_than_rows_that_carry_one_are_refused():
    network = tiny_network("llama")
    with pytest.raises(ValueError, match="2 rows carry a vector, and there are 1"):
        embedded(network, torch.tensor([[-1, 3, -2]]), torch.zeros(1, 64))


def test_vectors_of_a_batch_get_gradients():
    network = tiny_network("llama")
    vectors = torch.randn(2, 64, dtype=torch.float64, requires_grad=True)
    embedded(network, torch.tensor([[-1, 3, -2]]), vectors).square().sum().backward()
    torch.testing.assert_close(vectors.grad, 2 * vectors.detach())


def test_onnx_runtime_reads_vectors_as_torch_does(tmp_path):
    """In any order of sight, alone, and beside a lane of tokens."""
    light, heavy = both(save_plain_model(tmp_path))
    late = [Row(-1, 90, 1), Row(4, 12, 1), Row(-2, 13, 1), Row(7, 91, 1)]
    asked = [
        Ask(0, [Row(3, 0, 0), Row(-1, 1, 0)], (), True, random_vectors(1)),
        Ask(0, late, (), True, random_vectors(2, seed=1)),
        Ask(0, [Row(-1, 92, 1)], (), False, random_vectors(1, seed=2)),
        Ask(0, [Row(9, 93, 1)], ()),
    ]
    stores = [weights.new_store(2, 50) for weights in (light, heavy)]
    for ask in asked:
        beside = Ask(1, [Row(8, 2 * ask.rows[-1].position, 0)], ())
        answers = [store.feed([ask, beside]) for store in stores]
        for found, wanted in zip(*answers, strict=True):
            np.testing.assert_allclose(found.logits, wanted.logits, rtol=0, atol=5e-5)
            if found.states is not None:
                np.testing.assert_allclose(found.states, wanted.states, rtol=0, atol=5e-5)
