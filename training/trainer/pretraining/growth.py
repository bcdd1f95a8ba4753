"""Begin a wider model, or one with another vocabulary, with the weights of a trained one.

The wider model computes what the other computes: what is new reads random shares of the stream and
writes nothing into it, so it is learnt from the first step on, and nothing is lost before. A token
that the other tokenizer lacks begins with the mean of the embeddings of its pieces.

Source: Chen et al. 2016, Net2Net, arXiv 1511.05641 (width that preserves the function); zero
writes as in Wang et al. 2023, LiGO, arXiv 2303.00980, section 2, and Evci et al. 2022, GradMax.
"""

from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from engine.models.llama_shape import LlamaShape, read_llama_shape
from engine.runtime.guarded_loading import pretrained_network
from training.errors import TrainingError


@torch.no_grad()
def grow(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Copy the weights of a smaller Llama into a new one.

    Args:
        model: a Llama with random weights, at least as wide, of as many layers and equal heads,
            each with keys of its own.
        tokenizer: of the model.
        folder: of the smaller one, with its tokenizer.

    Raises:
        TrainingError: the folder's model does not fit into this one.
    """
    shape = read_llama_shape(folder)
    _check(shape, model, folder)
    small = pretrained_network(
        folder, dtype=torch.float32, packing=None, device=torch.device("cpu")
    )
    spoken = PreTrainedTokenizerFast.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False
    )
    theirs = dict(small.named_parameters())
    narrow, wide = shape.hidden, model.config.hidden_size
    for name, weight in model.named_parameters():
        old: Tensor = theirs[name]
        if name.endswith(("embed_tokens.weight", "lm_head.weight")):
            old = _embeddings(old, tokenizer, spoken)
            weight.zero_()
            weight[: len(old), :narrow] = old
        elif weight.dim() == 1:  # norms: the mean square is now that of more numbers
            weight.fill_(float(old.mean()))
            weight[:narrow] = old
            weight.mul_((narrow / wide) ** 0.5)
        else:
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                weight.zero_()  # what is new writes nothing yet
            weight[: old.shape[0], : old.shape[1]] = old


def _check(shape: LlamaShape, model: PreTrainedModel, folder: Path) -> None:
    config = model.config
    fits = (
        shape.kv_heads == shape.heads
        and config.hidden_size >= shape.hidden
        and config.intermediate_size >= shape.feed_forward
        and config.num_attention_heads >= shape.heads
        and config.num_hidden_layers == shape.layers
        and config.hidden_size * shape.heads == shape.hidden * config.num_attention_heads
    )
    if not fits:
        msg = (
            f"expected a model as wide as that of {folder} or wider, with {shape.layers} layers "
            f"and heads of {shape.hidden // shape.heads}: change the shape, or leave grown_from out"
        )
        raise TrainingError(msg)


def _embeddings(
    old: Tensor, tokenizer: PreTrainedTokenizerFast, spoken: PreTrainedTokenizerFast
) -> Tensor:
    """Assign each token of a tokenizer the embedding of its text in another one, shape (ids, D)."""
    known = spoken.get_vocab()
    rows = torch.zeros(len(tokenizer), old.shape[1])
    for token, id_ in tokenizer.get_vocab().items():
        if token in known:
            rows[id_] = old[known[token]]
            continue
        pieces = spoken.backend_tokenizer.model.tokenize(token)
        if pieces:
            rows[id_] = old[[piece.id for piece in pieces]].mean(0)
    return rows
