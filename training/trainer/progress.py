"""Show how a run goes: pairs done, rows a second, loss, time left."""

from types import TracebackType
from typing import Self

from tqdm import tqdm


class Progress:
    """A progress bar over sentence pairs; the loss shown is a running mean."""

    def __init__(self, total_pairs: float, done: int, *, shown: bool = True) -> None:
        self._bar: tqdm[None] = tqdm(
            total=round(total_pairs),
            initial=done,
            unit="pair",
            smoothing=0.05,
            mininterval=5,
            disable=not shown,
        )
        self._loss: float | None = None
        self._rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.close()

    def advance(self, *, pairs: int, rows: int, loss: float) -> None:
        """Count a step; rows are tokens fed, padding left out."""
        self._rows += rows
        self._loss = loss if self._loss is None else 0.98 * self._loss + 0.02 * loss
        elapsed = self._bar.format_dict["elapsed"] or 1e-9
        self._bar.set_postfix_str(
            f"loss {self._loss:.3f}, {self._rows / elapsed:.0f} tokens/s", refresh=False
        )
        self._bar.update(pairs)
