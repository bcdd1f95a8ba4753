"""Count the cost of computing: arithmetic of a forward pass, memory of the process."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Floating-point operations of a network, a multiplication and an addition counted apart.

    Twice the parameters for every row fed, plus attention (Kaplan et al. 2020, section 2.1,
    https://arxiv.org/abs/2001.08361; without softmax, norms and rotations). Our choices: an
    embedding table that is not also the output layer is only looked up, so it does not count; the
    output layer counts for every row, though only that of the last is needed.

    Attributes:
        parameters: those that multiply.
        per_sight: operations of one query with one cached row, in all layers.
    """

    parameters: int
    per_sight: int

    @classmethod
    def of(cls, network: "PreTrainedModel") -> Self:
        """Read the configuration of a network."""
        config = network.config
        n_heads = config.num_attention_heads
        head_size = getattr(config, "head_dim", None) or config.hidden_size // n_heads
        table = network.get_input_embeddings()
        looked_up = sum(parameter.numel() for parameter in table.parameters())
        tied = bool(config.tie_word_embeddings)
        return cls(
            parameters=network.num_parameters() - (0 if tied else looked_up),
            # queries times keys, then weights times values: two products of two operations
            per_sight=4 * config.num_hidden_layers * n_heads * head_size,
        )

    def flops(self, n_rows: int, n_cached: int) -> int:
        """Count a forward pass of ``n_rows``, with ``n_cached`` rows in the cache after it.

        A dense kernel computes masked rows too, so all of them count.
        """
        return n_rows * (2 * self.parameters + self.per_sight * n_cached)


def peak_memory_bytes() -> int:
    """Return the peak memory of the process (resident set); 0 if unknown.

    Linux counts that of the process that started this one into ``ru_maxrss`` (getrusage(2), Notes),
    so it is read from ``/proc`` there.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        pass  # another system
    try:
        import resource  # noqa: PLC0415  there is none on Windows
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
