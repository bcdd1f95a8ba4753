"""A long backlog costs each passage the same."""

from typing import TYPE_CHECKING, cast

import pytest

from engine.events import FeedWords, untimed
from engine.metrics.event_log import EventLog
from engine.session.command_queue import CommandQueue
from engine.session.translating import Translating
from engine.settings import TranslationSettings
from engine.translation.passage import Passage
from tests.support.fakes import hashing_translator

if TYPE_CHECKING:
    from engine.session.loaded_model import LoadedModel


class _HashingModel:
    """Translates by hashes in place of a network."""

    def make_system(self, *_: object) -> object:
        return hashing_translator("read:3")


def _visits(n_passages: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how often passages are asked to advance when ``n_passages`` sentences wait."""
    n_visits = 0
    advance = Passage.advance

    def counted(passage: Passage) -> object:
        nonlocal n_visits
        n_visits += 1
        return advance(passage)

    settings = TranslationSettings(catch_up_words=None)
    serving = Translating(
        cast("LoadedModel", _HashingModel()),
        settings,
        lambda _event: None,
        EventLog(),
    )
    commands = CommandQueue()
    for _ in range(n_passages):
        commands.put(FeedWords(untimed(("three", "short", "words.")), "me"))
    serving.obey_waiting(commands)
    with monkeypatch.context() as patches:
        patches.setattr(Passage, "advance", counted)
        while serving.has_work:
            serving.advance()
    return n_visits


def test_a_passage_that_is_translated_is_not_visited_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few, many = _visits(20, monkeypatch), _visits(100, monkeypatch)
    assert many <= 5 * few + 10
