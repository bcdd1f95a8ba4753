"""Drafts of models that read source and target as one text: instruct models, and ours.

The layout is the offline one: all source words in one phase. So the source that was read before
stays cached, and each draft computes the new words and the target behind them.
"""

from collections.abc import Sequence
from typing import cast

from engine.layout.rows import Row
from engine.layout.slots import make_planner
from engine.runtime.causal_model import Asking, CausalModel
from engine.translation.base import Conversation
from engine.translation.captioned import n_same
from engine.translation.log_events import log_cut, log_fed
from engine.translation.redraft import Redraft


class CausalDrafts:
    """Make drafts with one model and its cache."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._log = conversation.log
        self._rows = list[Row]()  # those the cache holds

    @property
    def _model(self) -> CausalModel:
        return cast("CausalModel", self._conversation.model)

    def draft(self, utterance: Redraft) -> Asking[list[int]]:
        """Translate all words that were read, from what is committed on."""
        planner = make_planner(utterance.prompt.headers, utterance.layout)
        units = utterance.source.units[: utterance.n_read]
        for unit in units:
            planner.read(unit)
        n_source = len(planner.rows)
        rows = planner.write()
        draft = utterance.drafting = list(utterance.committed)
        for id_ in draft:
            planner.choose(id_)
            rows += planner.write()
        kept = self._keep(rows)
        n_again = _n_again(utterance, n_source, kept)
        rows = rows[kept:]
        same = utterance.fed[: len(draft)] == draft
        while True:
            id_ = yield from self._predict(utterance, rows, n_again)
            if id_ == utterance.prompt.end_of_target:
                break
            loops = utterance.loops_with(id_)
            if utterance.is_cut_before(id_, loops=loops):
                log_cut(self._log, self._conversation.counters, utterance.number, loops=loops)
                break
            same = same and utterance.fed[: len(draft) + 1] == [*draft, id_]
            n_again = int(same)
            draft.append(id_)
            planner.choose(id_)
            rows = planner.write()
        utterance.fed, utterance.n_source = draft, n_source
        return list(draft)

    def _keep(self, rows: Sequence[Row]) -> int:
        """Truncate the cache to what it shares with these rows at the start; return how many.

        Rows stand in order of position, so what a row saw stands before it: where all before it are
        the same, so is what was computed for it. The last one is fed in any case: it is asked.
        """
        del self._rows[self._model.n_rows :]  # it may have been emptied meanwhile
        kept = min(n_same(self._rows, rows), len(rows) - 1)
        self._model.truncate(kept)
        del self._rows[kept:]
        return kept

    def _predict(self, utterance: Redraft, rows: Sequence[Row], n_again: int) -> Asking[int]:
        proposed = yield from self._model.ask_id(rows, utterance.suppressed)
        id_ = utterance.constrained(proposed, self._model.logits())
        self._rows += rows
        self._conversation.counters.tokens_recomputed += n_again
        number = utterance.number
        log_fed(self._log, self._model, number, rows, n_again=n_again)
        self._log.write("written", utterance=number, id=id_, n_read=utterance.n_read)
        return id_


def _n_again(utterance: Redraft, n_source: int, kept: int) -> int:
    """Count the rows of a draft's first forward pass that the draft before had fed as well.

    Args:
        utterance: with the draft before.
        n_source: rows before the assistant header now.
        kept: rows of this draft that are cached.
    """
    if utterance.draft is None:
        return 0
    n_target = len(utterance.prompt.headers.assistant)
    n_target += n_same(utterance.fed, utterance.committed)
    n_kept_of_target = max(0, kept - n_source)
    return max(0, utterance.n_source - kept) + max(0, n_target - n_kept_of_target)
