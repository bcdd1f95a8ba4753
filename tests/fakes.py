"""Stand-ins for tests: a tiny random model with a tokenizer of its own, and a model that obeys."""

import functools
import random

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from engine.layout import Headers
from engine.model import Weights
from engine.prompt import Prompt
from training.examples import TokenizedPair
from training.tokenizer import END, END_OF_WRITE, make_card, train_tokenizer

LETTERS = "abcdefgh"


def bare_prompt(n_system=1, n_user=1, n_assistant=1):
    """A prompt without a tokenizer; ids from 900 are headers and markers."""
    return Prompt(
        headers=Headers(
            system=tuple(range(900, 900 + n_system)),
            user=tuple(range(910, 910 + n_user)),
            assistant=tuple(range(920, 920 + n_assistant)),
        ),
        end_of_source=930,
        end_of_write=931,
        end_of_target=932,
        markers=frozenset({930, 931, 932}),
    )


def random_word(rng):
    return "".join(rng.choice(LETTERS) for _ in range(rng.randint(1, 6)))


@functools.cache
def tiny_tokenizer() -> PreTrainedTokenizerFast:
    rng = random.Random(0)
    lines = [" ".join(random_word(rng) for _ in range(6)) for _ in range(300)]
    return train_tokenizer(lines, vocabulary=384, languages=["de", "fr"])


@functools.cache
def tiny_weights(dtype=torch.float64, seed=0) -> Weights:
    """A random Llama of two layers whose logits are spread, so that it says many things."""
    tokenizer = tiny_tokenizer()
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=384,
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        initializer_range=0.3,
        tie_word_embeddings=False,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    network = LlamaForCausalLM(config).to(dtype).eval()
    with torch.no_grad():  # ends are likely, so that writes are as short as real ones
        for marker in (END_OF_WRITE, END):
            network.lm_head.weight[tokenizer.convert_tokens_to_ids(marker)] *= 3
    card = make_card(name="tiny", languages=["de", "fr"], slot_length=16, policies=["read:3"])
    return Weights(network=network, tokenizer=tokenizer, card=card)


def random_pair(rng, *, n_ids=800, aligned=True):
    """Random words of one to three tokens on both sides, with a random rising schedule."""

    def words():
        return tuple(
            tuple(rng.randrange(n_ids) for _ in range(rng.randint(1, 3)))
            for _ in range(rng.randint(1, 9))
        )

    source, target = words(), words()
    needs = sorted(rng.randint(1, len(source)) for _ in target)
    return TokenizedPair(source, target, tuple(needs) if aligned else None)
