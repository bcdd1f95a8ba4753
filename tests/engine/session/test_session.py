import json
import threading

import pytest

from engine.events import (
    CaptionChanged,
    Clear,
    Cleared,
    Configure,
    EndPassage,
    Failed,
    LoadProgress,
    Notice,
    Ready,
    Refused,
    Statistics,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.messages import Code
from engine.session.session import Session
from engine.settings import ModelSettings, TranslationSettings
from engine.text.sentences import without_full_stop
from tests.support.commands import fed, typed
from tests.support.sessions import WAIT_S, Listener, at_once, running


def failure(model, translation=TranslationSettings(), **arguments):  # noqa: B008  frozen
    listener = Listener()
    session = Session(model, translation, listener, **arguments)
    session.start()
    failed = listener.wait_for(Failed)
    session.send(fed(["a."]))  # nobody obeys, nobody minds
    session.stop()
    assert listener.events[-1] == failed
    assert "\n" not in str(failed.message)
    return str(failed.message)


# --- starting and stopping ------------------------------------------------------------------------


def test_loading_is_told_until_the_model_is_ready(model):
    with running(model) as (_, listener):
        pass
    *progress, ready = listener.events
    assert [type(event) for event in progress] == [LoadProgress] * len(progress)
    fractions = [event.fraction for event in progress]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] <= 1
    assert (ready.model, ready.languages) == ("tiny", {"de": "German", "fr": "French"})
    assert ready.load_s > 0


def test_a_session_by_slots_replaces_a_policy_of_drafts_and_says_so(model):
    with running(model, policy="stable:2") as (session, listener):
        ready = listener.events[-1]
        assert [notice.code for notice in ready.notices] == [Code.POLICY_REPLACED]
        assert not ready.makes_drafts
        session.send(Configure(TranslationSettings(policy="stable:3", target_language="fr")))
        assert listener.wait_for(Notice).message.code is Code.POLICY_REPLACED
        session.send(fed(["ab", "cd", "ef."]))
        listener.wait_for(UtteranceEnded)
        said = listener.receiver.text
    assert said == at_once(model, "ab cd ef.", policy="read:3", language="fr")
    assert Refused not in listener.kinds


def test_after_stop_no_thread_is_left_and_nothing_more_is_told(model):
    with running(model) as (session, listener):
        session.send(fed("ab cd ef gh ab cd ef gh.".split()))
        session.stop()
        n_events = len(listener.events)
        assert not any(thread.name == "surtitle-engine" for thread in threading.enumerate())
        session.stop()  # twice does no harm
        session.send(fed(["ab."]))
        assert len(listener.events) == n_events


def test_a_session_that_is_stopped_with_patience_translates_what_it_was_told(model):
    text = "ab cd ef gh. abc d ef. fgh a."
    with running(model) as (session, listener):
        session.send(fed(text.split()))
        session.send(EndPassage())
        session.stop(WAIT_S)
        assert listener.receiver.text == at_once(model, text)
        assert sum(isinstance(event, UtteranceEnded) for event in listener.events) == 3


@pytest.mark.parametrize("patience_s", [0.0, 0.01])
def test_a_session_can_be_stopped_while_it_loads(model, patience_s):
    loading, go_on = threading.Event(), threading.Event()
    events = []

    def report(event):
        events.append(event)
        loading.set()
        assert go_on.wait(WAIT_S)

    session = Session(model, TranslationSettings(), report)
    session.start()
    session.send(fed(["ab."]))
    assert loading.wait(WAIT_S)
    stopper = threading.Thread(target=session.stop, args=(patience_s,))
    stopper.start()
    while not session._stopping.wait(WAIT_S):
        pass
    go_on.set()
    stopper.join(WAIT_S)
    assert not stopper.is_alive()
    assert {type(event) for event in events} <= {LoadProgress, Ready}


# --- words ----------------------------------------------------------------------------------------


def test_words_fed_one_by_one_give_the_captions_of_the_text(model):
    text = "ab cd ef gh. abc d ef. fgh a"
    with running(model) as (session, listener):
        for word in text.split():
            session.send(fed([word]))
        session.send(EndPassage())
        listener.wait_for(UtteranceEnded, 3)
        assert [words for words, _ in listener.receiver.text] == [
            ("ab", "cd", "ef", "gh."), ("abc", "d", "ef."), ("fgh", "a"),
        ]  # fmt: skip
        # the first two end in a full stop, so it does not matter when their words came
        assert listener.receiver.text[:2] == at_once(model, text, together=1)[:2]


def test_words_that_are_fed_end_their_passage_with_a_whole_sentence(model):
    with running(model) as (session, listener):
        session.send(fed("ab cd ef gh. abc".split()))
        session.send(fed(["d", "ef."]))
        listener.wait_for(UtteranceEnded, 2)
        session.send(typed(["ab", "gh."]))  # would edit a passage that goes on
        listener.wait_for(UtteranceEnded)
        said = [words for words, _ in listener.receiver.text]
        assert said == [("ab", "cd", "ef", "gh."), ("abc", "d", "ef."), ("ab", "gh.")]


def test_a_passage_that_was_ended_is_translated_to_its_end_although_more_words_come(model):
    with running(model) as (session, listener):
        session.send(fed("ab cd ef gh ab cd".split()))
        session.send(EndPassage())
        session.send(fed(["ef", "gh."]))
        listener.wait_for(UtteranceEnded, 2)
        expected = at_once(model, "ab cd ef gh ab cd") + at_once(model, "ef gh.")
        assert listener.receiver.text == expected


def test_a_session_tells_when_all_was_cleared_before_it_begins_the_words_that_follow(model):
    with running(model) as (session, listener):
        session.send(fed(["ab", "cd."]))
        session.send(Clear())
        session.send(fed(["gh."]))
        listener.wait_for(Cleared)
        listener.wait_for(UtteranceEnded)
        cleared = listener.events.index(Cleared())
        opened = [
            n for n, event in enumerate(listener.events) if isinstance(event, UtteranceOpened)
        ]
        assert [n > cleared for n in opened] == [False, True]


def test_other_settings_hold_from_the_next_utterance_on(model):
    with running(model) as (session, listener):
        session.send(fed(["ab", "cd."]))
        listener.wait_for(UtteranceEnded)
        session.send(Configure(TranslationSettings(policy="offline", target_language="fr")))
        session.send(fed(["ef", "gh."]))
        listener.wait_for(UtteranceEnded)
        assert listener.receiver.text == [
            *at_once(model, "ab cd."),
            *at_once(model, "ef gh.", policy="offline", language="fr"),
        ]


def test_statistics_come_after_a_caption_and_count_every_token_once(model, tmp_path):
    with running(model, log=tmp_path / "log.jsonl") as (session, listener):
        session.send(fed("ab cd ef gh.".split()))
        listener.wait_for(UtteranceEnded)
        statistics = listener.wait_for(Statistics)
    assert (statistics.tokens_recomputed, statistics.probes) == (0, 0)
    assert statistics.ms_per_word > 0
    assert 0 < statistics.cached_rows <= statistics.tokens_fed
    lines = map(json.loads, (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines())
    logged = [line for line in lines if line["event"] == "fed"]
    assert statistics.tokens_fed == sum(len(line["ids"]) for line in logged)
    assert statistics.forwards == len(logged)
    assert listener.kinds.index(Statistics) > listener.kinds.index(CaptionChanged)


def test_two_sessions_in_one_process_do_not_touch_each_other(model):
    texts = ["ab cd ef gh. abc.", "hh gg ff. a b c dd."]
    with running(model) as (one, first), running(model, language="fr") as (other, second):
        for mine, its in zip(*map(str.split, texts), strict=False):
            one.send(fed([mine]))
            other.send(fed([its]))
        n_words = min(len(text.split()) for text in texts)
        one.send(fed(texts[0].split()[n_words:]))
        other.send(fed(texts[1].split()[n_words:]))
        first.wait_for(UtteranceEnded, 2)
        second.wait_for(UtteranceEnded, 2)
    assert first.receiver.text == at_once(model, texts[0], together=1)
    assert second.receiver.text == at_once(model, texts[1], language="fr", together=1)
    assert first.threads.isdisjoint(second.threads)


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_model_that_cannot_be_loaded_is_told_in_one_sentence(tmp_path):
    message = failure(ModelSettings(directory=tmp_path))
    assert "is no Surtitle model" in message


def test_a_log_that_cannot_be_written_is_told_in_one_sentence(model, tmp_path):
    assert "nowhere" in failure(model, log=tmp_path / "nowhere" / "log.jsonl")


@pytest.mark.parametrize(
    "settings",
    [
        TranslationSettings(target_language="xx", policy="offline"),
        TranslationSettings(target_language="fr", policy="fast"),
    ],
)
def test_a_change_that_cannot_be_obeyed_is_refused_and_everything_goes_on_as_before(
    model, settings
):
    with running(model) as (session, listener):
        session.send(Configure(settings))
        refused = listener.wait_for(Refused)
        assert "\n" not in str(refused.message)
        session.send(fed("ab cd ef gh.".split()))
        listener.wait_for(UtteranceEnded)
        assert listener.receiver.text == at_once(model, "ab cd ef gh.")


@pytest.mark.parametrize(
    "word", ["\ud83d", "\x00", "\u202e\u2066", "<|end_of_source|>", "x" * 3000]
)
def test_a_word_of_any_characters_does_not_stop_the_session(model, word):
    with running(model, policy="read:1") as (session, listener):
        session.send(fed([word]))
        session.send(EndPassage())
        session.send(fed(["ab."]))
        listener.wait_for((Failed, UtteranceEnded))
        while Failed not in listener.kinds and listener.receiver.words.get(
            max(listener.receiver.ended, default=0)
        ) != ("ab.",):
            listener.wait_for((Failed, UtteranceEnded))
        assert Failed not in listener.kinds


# --- lanes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lane", ["", "me"])
def test_a_passage_that_ends_without_a_full_stop_is_translated_like_one_with_it(model, lane):
    with running(model, policy="read:3") as (session, listener):  # nothing after four words
        for text in ("ab cd ef gh.", "ab cd ef gh"):
            for word in text.split():
                session.send(fed([word], lane))
            session.send(EndPassage(lane))
        listener.wait_for(UtteranceEnded, n_times=2)
    (_, marked), (words, bare) = listener.receiver.text
    assert words == ("ab", "cd", "ef", "gh")
    assert bare == without_full_stop(marked)
