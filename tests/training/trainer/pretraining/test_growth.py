import copy

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from tests.support.fakes import save_plain_model, tiny_tokenizer
from training.errors import TrainingError
from training.trainer.pretraining.growth import grow
from training.trainer.pretraining.tokenizer import train_tokenizer

TEXTS = ["the house is old", "das Haus ist alt", "we see the garden", "wir sehen den Garten"] * 9


@pytest.fixture
def folder(tmp_path):
    """A small model, each of whose heads has keys of its own."""
    folder = save_plain_model(tmp_path / "small")
    config = LlamaConfig.from_pretrained(folder)
    config.num_key_value_heads = config.num_attention_heads
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def wider(folder, vocabulary, **changes):
    """A model with random weights, half as wide again."""
    torch.manual_seed(3)
    config = LlamaConfig.from_pretrained(folder)
    head = config.hidden_size // config.num_attention_heads
    config.update(
        {
            "hidden_size": config.hidden_size + 2 * head,
            "num_attention_heads": config.num_attention_heads + 2,
            "num_key_value_heads": config.num_attention_heads + 2,
            "intermediate_size": config.intermediate_size + 64,
            "head_dim": head,
            "vocab_size": vocabulary,
            **changes,
        }
    )
    return LlamaForCausalLM(config).eval()


def test_a_grown_model_computes_what_the_smaller_one_does(folder):
    tokenizer = tiny_tokenizer()
    small = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    large = wider(folder, small.config.vocab_size)
    grow(large, tokenizer, folder)
    known = len(tokenizer)
    ids = torch.randint(0, known, (2, 17))
    with torch.no_grad():
        one, other = (each(ids).logits[..., :known] for each in (large, small))
    torch.testing.assert_close(one, other, rtol=0, atol=1e-3)


def test_what_is_new_is_learnt_from_the_first_steps_on(folder):
    model = wider(folder, LlamaConfig.from_pretrained(folder).vocab_size)
    grow(model, tiny_tokenizer(), folder)
    grown = copy.deepcopy(model.state_dict())
    ids = torch.randint(0, model.config.vocab_size, (2, 17))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        model(ids, labels=ids).loss.backward()
        optimizer.step()
    narrow = LlamaConfig.from_pretrained(folder).hidden_size
    for name, weight in model.named_parameters():
        if weight.dim() == 1:
            continue  # norms of what is still nearly nothing
        part = weight[narrow:] if "o_proj" in name else weight[:, narrow:]
        before = grown[name]
        old = before[narrow:] if "o_proj" in name else before[:, narrow:]
        assert not torch.equal(part, old), name


def test_a_token_that_was_not_known_begins_as_the_mean_of_its_pieces(folder):
    tokenizer = train_tokenizer(TEXTS, vocabulary=320, languages=["de"])
    small = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    spoken = tiny_tokenizer()
    model = wider(folder, 320)
    grow(model, tokenizer, folder)
    old, new = (each.get_input_embeddings().weight for each in (small, model))
    known = spoken.get_vocab()
    fresh = [token for token in tokenizer.get_vocab() if token not in known]
    kept = [token for token in tokenizer.get_vocab() if token in known]
    assert fresh
    assert kept
    for token in kept:
        row = new[tokenizer.get_vocab()[token], : old.shape[1]]
        assert torch.equal(row, old[known[token]])


@pytest.mark.parametrize(
    "changes", [{"num_hidden_layers": 1}, {"intermediate_size": 8}], ids=["layers", "feed_forward"]
)
def test_a_model_that_cannot_hold_the_other_is_refused_in_one_sentence(folder, changes):
    with pytest.raises(TrainingError, match="expected a model as wide as"):
        grow(wider(folder, 400, **changes), tiny_tokenizer(), folder)
