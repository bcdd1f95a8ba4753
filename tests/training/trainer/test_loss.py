import copy
import functools
import random

import pytest
import torch
from torch.nn.functional import cosine_similarity, cross_entropy

from engine.layout.rows import IGNORE
from engine.models.tensor_file import pack_blocks, unpack_blocks
from engine.policy import Offline, ReadN, WaitK
from engine.runtime.torch.attention import Attention
from engine.settings import LayoutSettings
from engine.text.prompt import make_prompt
from tests.support.fakes import random_pair, tiny_tokenizer, tiny_weights
from tests.support.networks import tiny_network
from tests.support.rows import build_rows
from training.trainer import loss as loss_module
from training.trainer.loss import BareLoss, Markers, forbid_markers
from training.trainer.stream import Example, pack, pad


@pytest.fixture(scope="module")
def prompt():
    return make_prompt(tiny_tokenizer(), tiny_weights().card, "de")


@pytest.fixture
def model():
    return copy.deepcopy(tiny_weights(torch.float32).network)


def example(prompt, seed, policy):
    rng = random.Random(seed)
    pair = random_pair(rng, first_id=1 + max(prompt.markers), n_ids=380)
    rows = build_rows(pair, policy, prompt, LayoutSettings(), marker_alone=False)
    return Example(rows, policy.ends_writes)


def examples(prompt, *policies):
    return [example(prompt, seed, policy) for seed, policy in enumerate(policies)]


def loss_of(model, batch, prompt, smoothing, **options):
    return BareLoss(model, Markers.of(prompt), smoothing, **options)(model, batch)


def logits_of(model, batch):
    return model(
        input_ids=batch.ids,
        position_ids=batch.places.encoded,
        attention_mask=batch.bias(Attention.of(model)),
        use_cache=False,
    ).logits


def plain_loss(model, batch, prompt):
    """Cross-entropy over the tokens that each row's policy allows, one row after the other."""
    logits = logits_of(model, batch)
    losses = []
    for sample, ends_writes in enumerate(batch.ends_writes):
        suppressed = prompt.suppressed(ends_writes=bool(ends_writes[0]))  # as the translator does
        allowed = [id_ for id_ in range(logits.shape[-1]) if id_ not in suppressed]
        for row, label in enumerate(batch.labels[sample].tolist()):
            if label != IGNORE:
                chances = logits[sample, row, allowed].log_softmax(-1)
                losses.append(-chances[allowed.index(label)])
    return torch.stack(losses).mean()


def test_the_loss_is_plain_cross_entropy_over_the_allowed_tokens(model, prompt):
    batch = pad(examples(prompt, ReadN(2), WaitK(3), Offline(), ReadN(1), WaitK(1)))
    loss = loss_of(model, batch, prompt, 0.0)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, plain_loss(model, batch, prompt), rtol=0, atol=1e-5)


def test_embeddings_that_their_table_multiplies_are_multiplied_in_training_too(prompt):
    gemma = copy.deepcopy(tiny_network("gemma3", torch.float32))
    batch = pad(examples(prompt, ReadN(2), WaitK(3), Offline()))
    loss, expected = loss_of(gemma, batch, prompt, 0.0), plain_loss(gemma, batch, prompt)
    torch.testing.assert_close(loss, expected, rtol=0, atol=1e-5)
    (mine,) = torch.autograd.grad(loss, gemma.get_input_embeddings().weight)
    (its,) = torch.autograd.grad(expected, gemma.get_input_embeddings().weight)
    torch.testing.assert_close(mine, its, rtol=0, atol=1e-4)


def test_every_labelled_row_counts_the_same_whatever_it_is_batched_with(model, prompt):
    samples = examples(prompt, ReadN(2), WaitK(3), Offline())
    together = loss_of(model, pad(samples), prompt, 0.1)
    parts = [
        (loss_of(model, pad([sample]), prompt, 0.1),
         sum(row.label != IGNORE for row in sample.rows))
        for sample in samples
    ]  # fmt: skip
    mean = sum(loss * n_rows for loss, n_rows in parts) / sum(n_rows for _, n_rows in parts)
    torch.testing.assert_close(together, mean, rtol=0, atol=1e-5)


@pytest.mark.parametrize("policy", [ReadN(2), WaitK(2), Offline()], ids=str)
def test_a_forbidden_marker_gets_no_gradient(model, prompt, policy):
    batch = pad([example(prompt, 0, policy)])
    loss_of(model, batch, prompt, 0.1).backward()
    gradient = model.lm_head.weight.grad.abs().sum(-1)
    allowed = prompt.end_of_write if policy.ends_writes else prompt.end_of_target
    forbidden = sorted(prompt.suppressed(ends_writes=policy.ends_writes))
    assert {*forbidden, allowed} == prompt.markers
    assert gradient[forbidden].max() == 0
    assert gradient[allowed] > 0


def test_label_smoothing_has_the_loss_and_the_gradients_of_torch(model, prompt):
    batch = pad(examples(prompt, ReadN(2), WaitK(3)))
    rows = logits_of(model, batch).flatten(0, 1)
    allowed = forbid_markers(rows, batch.ends_writes.flatten(), Markers.of(prompt))
    theirs = cross_entropy(allowed, batch.labels.flatten(), label_smoothing=0.1)
    weights = list(model.parameters())
    wanted = torch.autograd.grad(theirs, weights)
    loss = loss_of(model, batch, prompt, 0.1)
    torch.testing.assert_close(loss, theirs, rtol=1e-5, atol=1e-5)
    for found, one in zip(torch.autograd.grad(loss, weights), wanted, strict=True):
        torch.testing.assert_close(found, one, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("architecture", ["llama", "falcon-alibi"])
def test_dropout_reaches_all_that_is_added_to_the_states_and_only_in_training(architecture, prompt):
    """Where everything is left out, nothing is known: all allowed tokens are equally likely."""
    model = copy.deepcopy(tiny_network(architecture, torch.float32))
    batch = pad(examples(prompt, ReadN(2), ReadN(3)))
    known = loss_of(model, batch, prompt, 0.0)
    loss = BareLoss(model, Markers.of(prompt), 0.0)
    loss.use_dropout(1.0)
    torch.testing.assert_close(loss(model, batch), known)  # eval mode
    model.train()
    allowed = model.config.vocab_size - len(prompt.suppressed(ends_writes=False))
    torch.testing.assert_close(loss(model, batch), torch.tensor(float(allowed)).log())


# --- the working copy -----------------------------------------------------------------------------


def test_more_rows_than_a_chunk_are_scored_as_one(model, prompt, monkeypatch):
    batch = pad(examples(prompt, ReadN(2), WaitK(3), Offline(), ReadN(1)))
    whole = loss_of(model, batch, prompt, 0.1)
    monkeypatch.setattr(loss_module, "_CHUNK", 7)
    torch.testing.assert_close(loss_of(model, batch, prompt, 0.1), whole, rtol=0, atol=1e-5)


def test_lines_of_padding_change_neither_loss_nor_gradients(model, prompt):
    samples = examples(prompt, ReadN(2), WaitK(3))
    plain, filled = pad(samples), pack([[one] for one in samples], n_lines=5, length=90)
    assert filled.ids.shape == (5, 90)
    grads = []
    for batch in (plain, filled):
        model.zero_grad()
        loss = loss_of(model, batch, prompt, 0.1)
        loss.backward()
        grads.append((loss.detach(), *(p.grad.clone() for p in model.parameters())))
    for one, other in zip(*grads, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-5)


def test_in_bfloat16_the_gradients_of_float32_weights_are_float32_and_nearly_the_same(
    model, prompt
):
    batch = pad(examples(prompt, ReadN(2), WaitK(3), Offline()))
    grads = []
    for dtype in (torch.float32, torch.bfloat16):
        model.zero_grad()
        loss_of(model, batch, prompt, 0.0, dtype=dtype).backward()
        grads.append([p.grad.clone() for p in model.parameters()])
    for exact, rounded in zip(*grads, strict=True):
        assert rounded.dtype == torch.float32
        assert cosine_similarity(exact.flatten(), rounded.flatten(), dim=0) > 0.97


def test_what_is_learnt_for_4_bits_is_computed_as_4_bits_keep_it(model, prompt):
    batch = pad(examples(prompt, ReadN(2), Offline()))
    in_4_bits = BareLoss(model, Markers.of(prompt), 0.1)
    in_4_bits.use_4_bits()
    loss = in_4_bits(model, batch)
    loss.backward()
    layers = [weight for weight in model.model.layers.parameters() if weight.dim() == 2]
    gradients = [weight.grad.clone() for weight in layers]
    for weight in layers:
        weight.data = torch.from_numpy(unpack_blocks(*pack_blocks(weight.detach().numpy())))
    model.zero_grad()
    kept = loss_of(model, batch, prompt, 0.1)
    kept.backward()
    torch.testing.assert_close(loss, kept, rtol=0, atol=1e-5)
    for gradient, weight in zip(gradients, layers, strict=True):
        torch.testing.assert_close(gradient, weight.grad, rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_what_is_compiled_gives_the_loss_and_gradients_of_the_plain_one(model, prompt, monkeypatch):
    # Whether the code made of the graphs computes what they say is torch's own to test, in minutes.
    graphs_alone = functools.partial(torch.compile, backend="aot_eager")
    monkeypatch.setattr("training.trainer.loss.torch.compile", graphs_alone)
    del model.model.layers[1:]  # all are compiled alike
    batch = pad(examples(prompt, ReadN(2), WaitK(3)))
    results = []
    for compiled in (False, True):
        model.zero_grad()
        loss = loss_of(model, batch, prompt, 0.1, compiled=compiled)
        loss.backward()
        results.append((loss.detach(), *(p.grad.clone() for p in model.parameters())))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-4)
