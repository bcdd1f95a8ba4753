"""Turn rows into the inputs of a network, alike for training and for translating live."""

from torch import Tensor
from transformers import PreTrainedModel

from engine.runtime.vectors import check_carried


def embedded(network: PreTrainedModel, ids: Tensor, vectors: Tensor) -> Tensor:
    """Return the inputs of rows of which some carry a vector in the place of a token.

    Args:
        network: has the embeddings of tokens.
        ids: int64, shape (B, Q); negative where a row carries a vector.
        vectors: of these rows, line by line, shape (n, width).

    Returns:
        shape (B, Q, width), in the type of the embeddings.

    Raises:
        ValueError: there are fewer or more vectors than rows that carry one.
    """
    carries = ids < 0
    check_carried(int(carries.sum()), vectors)
    tokens: Tensor = network.get_input_embeddings()(ids.clamp(min=0))
    return tokens.masked_scatter(carries[..., None], vectors.to(tokens))
