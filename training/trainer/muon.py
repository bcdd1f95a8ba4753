"""Muon: matrices are moved by their orthogonalised momentum, everything else by AdamW.

Sources: Jordan et al. 2024, https://kellerjordan.github.io/posts/muon (iteration and coefficients);
Liu et al. 2025, Muon is scalable for LLM training, arXiv 2502.16982, section 2.2 (the scale that
lets both halves share a learning rate's size, and weight decay).

``torch.optim.Muon`` iterates matrix by matrix in bfloat16, which many CPUs only emulate; here
matrices of one shape are stacked and iterated together in the precision of the caller.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import cast

import torch
from torch import Tensor, nn

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)
_ITERATIONS = 5
_MOMENTUM = 0.95


class Muon(torch.optim.AdamW):
    """AdamW for embeddings, norms and heads; orthogonalised momentum for the other matrices."""

    def __init__(
        self,
        matrices: Iterable[nn.Parameter],
        others: Iterable[nn.Parameter],
        *,
        rate: float,
        matrix_rate_scale: float,
        weight_decay: float,
        dtype: torch.dtype,
    ) -> None:
        """Take the parameters of one model.

        Args:
            matrices: of two dimensions, inside the layers.
            others: moved by AdamW.
            rate: learning rate of the others.
            matrix_rate_scale: the matrices' rate over the others'.
            weight_decay: of both, decoupled.
            dtype: of the iterations: bfloat16 where it is fast, else float32.
        """
        groups = [
            {"params": list(matrices), "orthogonal": True, "rate_scale": matrix_rate_scale},
            {"params": list(others), "orthogonal": False, "rate_scale": 1.0},
        ]
        super().__init__(groups, lr=rate, betas=(0.9, 0.98), weight_decay=weight_decay, fused=True)
        self._dtype = dtype

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Update all parameters; the gradients of the matrices are set to None."""
        for group in self.param_groups:
            if group["orthogonal"]:
                self._move_matrices(group)
        return cast("float | None", super().step(closure))

    def _move_matrices(self, group: dict[str, object]) -> None:
        rate, decay = cast("float", group["lr"]), cast("float", group["weight_decay"])
        by_shape = defaultdict[torch.Size, list[nn.Parameter]](list)
        for parameter in cast("list[nn.Parameter]", group["params"]):
            if parameter.grad is not None:
                by_shape[parameter.shape].append(parameter)
        for shape, parameters in by_shape.items():
            directions = orthogonalise(
                torch.stack([self._momentum(parameter) for parameter in parameters]), self._dtype
            )
            scale = 0.2 * max(shape) ** 0.5
            for parameter, direction in zip(parameters, directions, strict=True):
                parameter.mul_(1 - rate * decay).add_(direction, alpha=-rate * scale)
                parameter.grad = None  # so that AdamW leaves it alone

    def _momentum(self, parameter: nn.Parameter) -> Tensor:
        """Add a gradient to its momentum; return Nesterov's look-ahead."""
        gradient = cast("Tensor", parameter.grad)
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())  # AdamW needs a count in every state
            state["momentum"] = torch.zeros_like(parameter)
        state["step"] += 1
        momentum: Tensor = state["momentum"]
        momentum.lerp_(gradient, 1 - _MOMENTUM)
        return gradient.lerp(momentum, _MOMENTUM)


def orthogonalise(matrices: Tensor, dtype: torch.dtype) -> Tensor:
    """Bring all singular values of each matrix near 1 (0.7 to 1.2), by Newton and Schulz.

    Args:
        matrices: floating, shape (N, A, B).
        dtype: of the computation.

    Returns:
        shape (N, A, B), of ``dtype``.
    """
    a, b, c = _COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    x = (matrices.mT if tall else matrices).to(dtype)
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_ITERATIONS):
        gram = x @ x.mT  # (N, A, A), A the shorter side
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x
