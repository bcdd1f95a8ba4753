import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QThread, Slot

from app.session.engine_bridge import EngineBridge
from engine.events import (
    CaptionChanged,
    Clear,
    Configure,
    EndPassage,
    Failed,
    FeedWords,
    Flush,
    Flushed,
    FurtherLanguage,
    LoadAdapter,
    LoadProgress,
    Ready,
    SetWords,
    UnloadAdapter,
    UseAdapter,
    UseLanguages,
    UtteranceEnded,
    text_of,
    untimed,
)
from engine.messages import Code
from engine.settings import ModelSettings, TranslationSettings
from tests.support.app.fake_engine import FakeEngine
from tests.support.commands import fed, typed

MODEL = ModelSettings(directory=Path("nowhere"))
GERMAN = TranslationSettings()
MISSING = "no module named torch"
FRENCH = TranslationSettings(target_language="fr")
POLISH = FurtherLanguage("pl")


class Receiver(QObject):
    """Keeps the events, and the thread each came in."""

    def __init__(self):
        super().__init__()
        self.events = []
        self.threads = set()

    @Slot(object)
    def take(self, event):
        self.events.append(event)
        self.threads.add(QThread.currentThread())

    def has(self, kind):
        return any(isinstance(event, kind) for event in self.events)


def plain(command):
    if not isinstance(command, SetWords | FeedWords):
        return command
    return replace(command, words=untimed(word.text for word in command.words))


def told_rows(bridge):
    """The rows of waiting words, as they are told."""
    told = []
    bridge.waiting_changed.connect(
        lambda rows: told.append(tuple((lane, text_of(words)) for lane, words in rows))
    )
    return told


class Ended(QObject):
    """Keeps the words of utterances that ended."""

    def __init__(self, bridge):
        super().__init__()
        self.words = []
        bridge.utterance_changed.connect(self.take)

    @Slot(object, object)
    def take(self, event, utterance):
        if isinstance(event, UtteranceEnded):
            self.words += utterance.source.split()


class Rig:
    def __init__(self, qtbot, engine):
        self.engine = engine
        self.bridge = EngineBridge(engine.make)
        self.receiver = Receiver()
        self.bridge.event_came.connect(self.receiver.take)
        self._qtbot = qtbot
        self.n_heard = Counter()  # by lane

    def start(self, translation=GERMAN):
        self.bridge.start(MODEL, translation)

    def begin(self):
        """Start, and wait until the model is loaded."""
        self.start()
        self.wait_for(Ready)
        return self

    def hear(self, command):
        """Hear words as a listener does, in whose thread this is."""
        if isinstance(command, FeedWords):
            first = self.n_heard[command.lane] + 1
            self.n_heard[command.lane] += len(command.words)
            numbered = enumerate(command.words, start=first)
            words = tuple(replace(word, number=number) for number, word in numbered)
            command = replace(command, words=words)
        self.bridge.send(command)

    def wait_for(self, kind):
        self.wait(lambda: self.receiver.has(kind))

    def wait(self, condition):
        self._qtbot.waitUntil(condition)

    def calls(self, number=-1):
        """What a session was sent, without the times and numbers of the words."""
        return [plain(call) for call in self.engine.sessions[number].calls]


@pytest.fixture
def rig(qtbot):
    rigs = []

    def make(**settings):
        rigs.append(Rig(qtbot, FakeEngine(**settings)))
        return rigs[-1]

    yield make
    for one in rigs:
        one.bridge.stop()


def test_what_the_worker_reports_arrives_in_the_gui_thread(rig):
    one = rig().begin()
    one.bridge.type_words(["Good", "morning"])
    one.wait_for(CaptionChanged)
    assert one.engine.sessions[0].report_threads == {"fake-engine"}
    assert one.receiver.threads == {QThread.currentThread()}


def test_a_pause_holds_nothing_back_that_was_said_before_it(rig):
    one = rig()
    one.bridge.pause(paused=True)
    one.hear(fed(["Was", "said"], "me"))
    one.bridge.type_words(["Typed"])
    one.hear(EndPassage("me"))
    one.bridge.send(EndPassage())
    one.start()
    one.wait_for(UtteranceEnded)
    heard = [fed(["Was", "said"], "me"), EndPassage("me")]
    assert one.calls() == heard
    one.bridge.pause(paused=False)
    assert one.calls() == [*heard, typed(["Typed"]), EndPassage()]


def test_of_a_line_that_was_begun_before_the_pause_only_the_rest_waits(rig):
    one = rig()
    told = told_rows(one.bridge)
    one.begin()
    one.bridge.type_words(["Today", "we"])
    one.bridge.pause(paused=True)
    one.bridge.type_words(["Today", "we", "talk"])
    one.bridge.send(Configure(FRENCH))
    one.bridge.send(EndPassage())
    one.bridge.type_words(["Another", "line"])
    one.bridge.send(EndPassage())
    assert told[-1] == (("", "talk"), ("", "Another line"))
    one.bridge.send(Clear())
    one.bridge.type_words(["New"])
    one.bridge.send(EndPassage())
    assert told[-1] == (("", "New"),)


def test_an_engine_that_cannot_be_imported_is_a_failure_in_one_sentence(qtbot):
    def make(*_):
        raise ImportError(MISSING)

    bridge = EngineBridge(make)
    with qtbot.waitSignal(bridge.event_came) as caught:
        bridge.start(MODEL, GERMAN)
    message = Code.ENGINE_NOT_LOADED(reason=MISSING)
    assert caught.args == [Failed(message=message)]
    bridge.stop()


def test_what_the_session_began_of_words_before_a_clear_does_not_come_after_it(rig):
    one = rig().begin()
    told = []
    one.bridge.utterance_changed.connect(lambda _, utterance: told.append(utterance.source))
    one.bridge.type_words(["old"])
    one.bridge.send(EndPassage())
    one.bridge.send(Clear())  # while the events of the old words are on their way
    ended = Ended(one.bridge)
    one.bridge.type_words(["new"])
    one.bridge.send(EndPassage())
    one.wait(lambda: bool(ended.words))
    assert ended.words == ["new"]
    assert "old" not in told


def test_an_open_line_is_captioned_by_the_next_session_alone_even_if_one_was_prepared_in_vain(rig):
    one = rig().begin()
    one.bridge.type_words(["old"])
    one.bridge.send(EndPassage())
    one.bridge.prepare(MODEL, FRENCH)
    one.start()
    one.receiver.events.clear()
    one.wait_for(UtteranceEnded)
    captions = [event for event in one.receiver.events if isinstance(event, CaptionChanged)]
    assert [event.text for event in captions] == ["OLD"], "of the one that replaced it"
    assert one.calls() == [typed(["old"]), EndPassage()]


@pytest.mark.usefixtures("qtbot")
def test_stopping_while_the_engine_is_imported_leaves_no_thread():
    is_importing, may_import = threading.Event(), threading.Event()
    engine = FakeEngine()

    def make(*arguments):
        is_importing.set()
        may_import.wait(20)
        return engine.make(*arguments)

    bridge = EngineBridge(make)
    bridge.start(MODEL, GERMAN)
    is_importing.wait(20)
    threading.Timer(0.05, may_import.set).start()
    bridge.stop()
    assert engine.sessions[0].report_threads == set()  # it was made, and never started


def test_adapters_are_asked_for_in_order_and_none_is_left_out(rig):
    may_load = threading.Event()
    one = rig(may_load=may_load)
    one.start()
    one.bridge.send(LoadAdapter(Path("one")))
    one.bridge.send(LoadAdapter(Path("two"), use=False))
    one.bridge.type_words(["Good"])
    one.bridge.send(UseAdapter("two"))
    one.bridge.send(UseAdapter(None))
    one.bridge.send(UnloadAdapter("one"))
    one.bridge.send(Clear())
    may_load.set()
    one.wait_for(Ready)
    assert one.calls() == [
        LoadAdapter(Path("one")),
        LoadAdapter(Path("two"), use=False),
        UseAdapter("two"),
        UseAdapter(None),
        UnloadAdapter("one"),
    ]


def test_what_is_heard_waits_for_the_model_beside_what_is_typed(rig):
    one = rig()
    told = told_rows(one.bridge)
    one.hear(fed(("We", "went."), "me"))
    one.hear(EndPassage("me"))
    one.bridge.type_words(["typed"])
    one.bridge.send(EndPassage())
    one.hear(fed(("And",), "them"))
    assert told[-1] == (("me", "We went."), ("", "typed"), ("them", "And"))
    assert one.bridge.backlog_words == 3
    one.begin()
    assert one.bridge.backlog_words == 0
    assert one.calls() == [
        fed(["We", "went."], "me"),
        EndPassage("me"),
        typed(["typed"]),
        EndPassage(),
        fed(["And"], "them"),
    ]
    assert told[-1] == ()


def test_a_failure_right_after_words_were_translated_translates_them_no_second_time(rig):
    one = rig()
    one.bridge._events._clock = lambda: 0.0  # all that comes is taken in one turn
    told = Ended(one.bridge)

    def speak_and_fail(event):
        if isinstance(event, CaptionChanged) and event.text == "NOW.":
            ears = threading.Thread(target=one.hear, args=(fed(("Then.",), "me"),))
            ears.start()
            ears.join()
            one.engine.sessions[0].fail("it broke")
            one.engine.sessions[0]._thread.join()

    one.begin()
    one.bridge.event_came.connect(speak_and_fail)
    one.hear(fed(("Now.",), "me"))
    one.wait_for(Failed)
    one.start()
    one.wait(lambda: sum(isinstance(event, Ready) for event in one.receiver.events) == 2)
    one.hear(fed(("Last.",), "me"))
    one.wait(lambda: told.words[-1:] == ["Last."])
    assert told.words == ["Now.", "Then.", "Last."]


def test_clear_drops_what_was_heard_and_what_is_heard_then_goes_on(rig):
    one = rig()
    told = told_rows(one.bridge)
    one.hear(fed(("We", "went."), "me"))
    one.hear(EndPassage("me"))
    one.hear(Flush(7))
    one.bridge.type_words(["typed"])
    one.bridge.send(Clear())
    one.hear(fed(("Then",), "me"))
    assert told[-1] == (("me", "Then"),)
    assert one.receiver.has(Flushed), "nothing is left to translate for who listened"
    one.start()
    one.wait(lambda: len(one.engine.sessions) == 1 and bool(one.calls()))
    assert one.calls() == [fed(["Then"], "me")]


def test_a_session_that_fails_leaves_no_listener_waiting(rig):
    one = rig().begin()
    one.engine.sessions[-1].fail("it broke")
    one.hear(fed(("We", "went."), "me"))
    one.hear(Flush(7))
    one.wait_for(Failed)
    one.start()
    one.wait_for(Flushed)
    assert one.calls() == [fed(["We", "went."], "me"), Flush(7)]
    one.start()
    one.wait(lambda: one.bridge._session is one.engine.sessions[-1])
    assert one.calls() == []


def test_what_is_heard_reaches_a_ready_session_without_the_thread_of_the_windows(rig):
    one = rig().begin()
    ears = threading.Thread(target=one.bridge.send, args=(fed(["Now"], "me"),))
    ears.start()
    ears.join()  # no event of this thread is served meanwhile
    assert one.calls() == [fed(["Now"], "me")]


def test_what_is_heard_on_another_thread_keeps_its_order_while_sessions_come_and_go(rig):
    one = rig()
    said = [str(number) for number in range(300)]

    def speak():
        for word in said:
            one.hear(fed([word], "me"))
            is_slow.wait(0.0005)

    is_slow = threading.Event()
    ended = Ended(one.bridge)
    ears = threading.Thread(target=speak)
    ears.start()
    for _ in range(4):
        one.begin()
        one.receiver.events.clear()
    one.wait(lambda: not ears.is_alive())
    last = "299"
    one.wait(lambda: any(last in text_of(call.words) for call in one.calls()))
    newest = [word.text for call in one.calls() for word in call.words]
    n_before = len(said) - len(newest)  # an utterance that ended is not translated again
    assert ended.words[:n_before] + newest == said


def test_after_a_correction_in_a_pause_a_later_sentence_has_the_times_of_its_own_words(rig):
    one, begun_s, now_s = rig(), {}, [1.0]
    one.bridge._clock = lambda: now_s[0]

    def follow(event, utterance):
        if isinstance(event, UtteranceEnded):
            begun_s[utterance.source] = utterance.begun_at_s

    one.bridge.utterance_changed.connect(follow)
    one.begin()
    one.bridge.type_words(["We", "went", "home"])
    one.wait_for(CaptionChanged)
    one.bridge.pause(paused=True)
    for now_s[0], line in ((2.0, "We"), (3.0, "We drove off")):
        one.bridge.type_words(line.split())
    one.bridge.send(EndPassage())
    now_s[0] = 9.0
    one.bridge.type_words(["It", "rained"])
    one.bridge.send(EndPassage())
    one.bridge.pause(paused=False)
    one.wait(lambda: len(begun_s) == 2)
    assert begun_s == {"We drove off": 1.0, "It rained": 9.0}


def sessions(one):
    return one.engine.sessions


def test_a_session_that_is_prepared_takes_over_once_it_is_ready(rig):
    one = rig().begin()
    one.bridge.caption_also([POLISH])
    one.bridge.type_words(["Good"])
    one.engine._may_load = threading.Event()
    told = []
    one.bridge.next_came.connect(told.append)
    one.bridge.prepare(MODEL, FRENCH)
    one.wait(lambda: bool(told))
    assert isinstance(told[0], LoadProgress)
    one.bridge.type_words(["Good", "day"])
    assert sessions(one)[0].calls[-1] != sessions(one)[0].calls[0], "it goes on meanwhile"
    one.receiver.events.clear()
    sessions(one)[1]._may_load.set()
    one.wait_for(Ready)
    assert UseLanguages((POLISH,)) in sessions(one)[1].calls
    one.wait(lambda: any(isinstance(call, SetWords) for call in sessions(one)[1].calls))
    assert not sessions(one)[0]._thread.is_alive()


@pytest.mark.parametrize("dropped", [True, False])
def test_a_prepared_session_that_fails_or_is_dropped_leaves_the_one_in_use_alone(rig, dropped):
    one = rig().begin()
    one.receiver.events.clear()
    told = []
    one.bridge.next_came.connect(told.append)
    one.engine._may_load = threading.Event()
    one.engine._failures = [] if dropped else [MISSING]
    one.bridge.prepare(MODEL, FRENCH)
    one.wait(lambda: bool(told))
    if dropped:
        one.bridge.drop_next()
        one.wait(lambda: not sessions(one)[1]._thread.is_alive())
    else:
        sessions(one)[1]._may_load.set()
        one.wait(lambda: isinstance(told[-1], Failed))
    one.engine._may_load = None
    one.bridge.type_words(["Good"])
    one.wait_for(CaptionChanged)
    assert not one.receiver.has(Ready)
    assert not one.receiver.has(Failed)
    one.bridge.prepare(MODEL, FRENCH)
    one.wait_for(Ready)


def test_a_session_is_made_once_all_that_were_dropped_have_ended(rig):
    one, ended, is_slow = rig(), [], threading.Event()

    def end_slowly(_patience_s):
        is_slow.wait(0.1)
        ended.append(len(sessions(one)))

    one.bridge.prepare(MODEL, FRENCH)
    one.wait(lambda: one.bridge._next.session is not None)
    stop, sessions(one)[0].stop = sessions(one)[0].stop, end_slowly
    for _ in range(2):
        one.bridge.drop_next()
        one.bridge.prepare(MODEL, FRENCH)
    one.wait_for(Ready)
    stop()
    assert ended == [1]
