import random
import threading

import numpy as np
import pytest

from engine.errors import AudioError, ModelError
from engine.events import Failed, Skip, SourceChanged, UtteranceEnded, text_of
from engine.messages import Code
from engine.speech.events import (
    Behind,
    CaughtUp,
    LeftOut,
    ListeningEnded,
    ListeningFailed,
    Noticed,
    RecognizerReady,
    SoundCame,
    TailChanged,
)
from engine.speech.listener import Lane, Listener, ListeningSettings, Recognition
from tests.support.hand_clock import HandClock
from tests.support.listening_fakes import (
    WORD_S,
    Chunks,
    Echo,
    Loudness,
    Script,
    hear_out,
    script,
    sound_of,
    started,
    to_both,
)
from tests.support.sound_server import wait_until

TEXT = "we went to the old house. then it rained and we stayed there all day long."


class Heard:
    """Whoever gets the events; the test waits for the end."""

    def __init__(self):
        self.events = []
        self.ended = threading.Event()

    def __call__(self, event):
        assert not self.ended.is_set(), f"{event} came after the end"
        self.events.append(event)
        if isinstance(event, ListeningEnded):
            self.ended.set()

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


def listener(lanes, model, *, echo=None, settings=None, clock=None):
    echo = echo or Echo()
    heard = Heard()
    recognition = Recognition(
        make_model=model if callable(model) else lambda: model, make_detector=Loudness
    )
    timing = {"clock": clock} if clock else {}
    made = Listener(lanes, echo, recognition, heard, settings, **timing)
    echo.report = to_both(heard, made)
    return made, echo, heard


def run(lanes, model, **others):
    made, echo, heard = listener(lanes, model, **others)
    hear_out(made)
    return made, echo, heard


def spoken(text=TEXT, seconds=12.0, start_s=0.5):
    words = script(text, start_s)
    return words, Chunks(sound_of(words, seconds))


def test_what_is_said_is_fed_once_in_order_and_every_sentence_ends_an_utterance():
    words, source = spoken()
    _, echo, heard = run([Lane(name="me", source=source)], Script(words))
    assert echo.fed == [("me", word) for word in TEXT.split()]
    assert [word.number for word in echo.words] == list(range(1, len(words) + 1))
    for one, other in zip(echo.words, words, strict=True):
        assert one.end_s == pytest.approx(other.end_s)
    tails = [event.words for event in heard.of(TailChanged)]
    assert max(map(len, tails)) in range(1, 5)
    assert tails[-1] == ()
    assert isinstance(heard.events[0], RecognizerReady)
    assert isinstance(heard.events[-1], ListeningEnded)
    assert len(heard.of(UtteranceEnded)) == 2
    assert source.started
    assert source.stopped


class Bound(Chunks):
    """Sound of one lane that comes in its own time, now late and now early."""

    def __init__(self, samples, rng):
        super().__init__(samples)
        self._rng = rng

    def read(self, timeout_s):
        return None if self._rng.random() < 0.4 else super().read(timeout_s)


@pytest.mark.parametrize("seed", range(4))
def test_two_who_speak_at_once_lose_no_sentence(seed):
    rng = random.Random(seed)
    sentences = {
        lane: " ".join(f"{lane}{n}{'.' if n % 4 == 3 else ''}" for n in range(24))
        for lane in ("me", "them")
    }
    words = {lane: script(text, 0.5 + rng.random()) for lane, text in sentences.items()}
    volumes = {"me": 0.5, "them": 0.9}

    class Both:
        """Tells by how loud it is whose sound it is."""

        def __init__(self):
            self.models = {lane: Script(words[lane]) for lane in words}

        def recognize(self, samples, start_s, prompt):
            lane = "them" if np.abs(samples).max() > 0.7 else "me"
            return self.models[lane].recognize(samples, start_s, prompt)

    lanes = []
    for lane, said in words.items():
        sound = sound_of(said, 14.0)
        sound *= volumes[lane] / np.abs(sound).max()
        lanes.append(Lane(name=lane, source=Bound(sound, rng)))
    settings = ListeningSettings(max_words_waiting=rng.choice([3, 10, 150]))
    _, echo, _ = run(lanes, Both(), settings=settings)
    for lane, text in sentences.items():
        assert [word for one, word in echo.fed if one == lane] == text.split()


def test_a_pause_ends_what_no_full_stop_ends_and_a_short_one_ends_nothing():
    words = script("no stop here") + script("and on", 8.0)
    source = Chunks(sound_of(words, 11.0))
    _, _, heard = run([Lane(name="", source=source)], Script(words))
    ends = [i for i, event in enumerate(heard.events) if isinstance(event, UtteranceEnded)]
    assert len(ends) == 2
    placed = [event for event in heard.events[: ends[0]] if isinstance(event, SourceChanged)]
    assert text_of(placed[-1].words) == "no stop here"
    words = script("we went") + script("home again.", 2.0)  # too short a pause
    _, _, heard = run([Lane(name="", source=Chunks(sound_of(words, 4.0)))], Script(words))
    assert len(heard.of(UtteranceEnded)) == 1


def test_the_first_sound_of_each_lane_is_told_once_after_the_model_is_ready():
    here, later = Chunks(sound_of([], 3.0)), Chunks(sound_of([], 3.0))
    n_silent, read = iter(range(5)), later.read
    later.read = lambda timeout_s: read(timeout_s) if next(n_silent, None) is None else None
    _, _, heard = run([Lane(name="them", source=later), Lane(name="me", source=here)], Script([]))
    assert [event.lane for event in heard.of(SoundCame)] == ["me", "them"]
    assert isinstance(heard.events[0], RecognizerReady)


def test_recognising_waits_while_the_translation_has_too_much_to_do():
    words, source = spoken(" ".join(["word"] * 60), 26.0)
    echo = Echo()
    echo.hold()
    settings = ListeningSettings(max_words_waiting=10)
    made, _, heard = listener(
        [Lane(name="", source=source)], Script(words), echo=echo, settings=settings
    )
    with started(made):
        wait_until(lambda: len(echo.fed) >= 10)
        assert not made.join(0.5)
        assert 10 <= len(echo.fed) < 25
        echo.release()
    assert len(echo.fed) == 60
    assert heard.ended.is_set()


def test_stopping_still_translates_what_was_recorded():
    words, source = spoken()
    source._open_end = True
    made, echo, heard = listener([Lane(name="", source=source)], Script(words))
    with started(made):
        made.stop()
    assert len(echo.fed) == len(words)
    assert heard.ended.is_set()


def test_closing_ends_at_once_without_a_word():
    source = Chunks(sound_of([], 0.0), open_end=True)
    made, _, heard = listener([Lane(name="", source=source)], Script([]))
    made.start()
    made.close()
    assert source.stopped
    assert not heard.of(ListeningEnded)


def test_a_recogniser_that_cannot_be_loaded_is_told_and_the_end_comes():
    def missing():
        msg = "no such model"
        raise ModelError(msg)

    _, _, heard = run([Lane(name="", source=Chunks([], open_end=True))], missing)
    assert [str(event.message) for event in heard.of(ListeningFailed)] == ["no such model"]
    assert heard.ended.is_set()


def test_what_nobody_foresaw_becomes_a_sentence_too(caplog):
    def broken():
        raise ZeroDivisionError

    _, _, heard = run([Lane(name="", source=Chunks([]))], broken)
    assert "unexpectedly" in str(heard.of(ListeningFailed)[0].message)
    assert "ZeroDivisionError" in caplog.text


def test_a_file_that_cannot_be_opened_stops_what_was_started():
    class Missing(Chunks):
        def start(self):
            msg = "no such file"
            raise AudioError(msg)

    first = Chunks([])
    made, _, _ = listener(
        [Lane(name="me", source=first), Lane(name="them", source=Missing([]))], Script([])
    )
    with pytest.raises(AudioError, match="no such file"):
        made.start()
    assert first.stopped


def test_a_session_that_fails_ends_listening():
    words, source = spoken()
    echo = Echo()
    echo.hold()
    made, _, heard = listener([Lane(name="", source=source)], Script(words), echo=echo)
    with started(made):
        echo.report(Failed(message=Code.OUT_OF_MEMORY(reason="none")))
    assert not heard.of(ListeningEnded)
    assert heard.of(Failed)


# --- behind ---------------------------------------------------------------------------------------


class Late(Chunks):
    """Sound that was heard when it was said, while the clock runs on."""

    def read(self, timeout_s):
        chunk = super().read(timeout_s)
        if chunk is None:
            return None
        self._clock.now_s = max(self._clock.now_s, chunk.end_s)
        return type(chunk)(samples=chunk.samples, start_s=chunk.start_s, heard_at_s=chunk.end_s)


@pytest.mark.parametrize(("pass_s", "told"), [(0.2, False), (8.0, True)])
def test_falling_behind_is_told_with_a_smaller_model(pass_s, told):
    clock = HandClock()
    words = script(" ".join(["word"] * 60))

    def take_time():
        clock.now_s += pass_s

    source = Late(sound_of(words, 24.0), clock)
    settings = ListeningSettings(smaller_model="tiny.en")
    _, echo, heard = run(
        [Lane(name="", source=source)],
        Script(words, on_pass=take_time),
        settings=settings,
        clock=clock,
    )
    assert bool(heard.of(Behind)) is told
    assert all(event.smaller_model == "tiny.en" for event in heard.of(Behind))
    assert all("tiny.en" in str(event.message) for event in heard.of(Behind))
    assert len(heard.of(Behind)) <= len(heard.of(CaughtUp)) + 1
    assert (len(echo.fed) == 60) is not told  # else what was too old was left out


def numbered(n_words):
    """A talk of words that differ, and its sound."""
    words = script(" ".join(f"w{number}" for number in range(n_words)))
    return words, sound_of(words, n_words * WORD_S)


def late_talk(*, pass_s, n_words=300, slow_until=10_000, settings=None, live=True):
    """Hear a talk by a model whose passes take so long; return its words, echo and events."""
    clock = HandClock()
    words, sound = numbered(n_words)
    passes = []

    def take_time():
        passes.append(clock.now_s)
        clock.now_s += pass_s if 3 < len(passes) < slow_until else 0.1

    source = Late(sound, clock)
    lane = Lane(name="", source=source, live=live)
    made, echo, heard = run(
        [lane], Script(words, on_pass=take_time), clock=clock, settings=settings
    )
    return words, echo, heard, made


def test_what_is_too_old_is_left_out_with_its_length_and_the_words_of_now_follow():
    words, echo, heard, _ = late_talk(pass_s=7.0)
    told = heard.of(LeftOut)
    assert len(told) > 1
    fed = [word for _, word in echo.fed if word[0] == "w"]  # not the half of a word
    numbers = [int(word[1:]) for word in fed]
    assert numbers == sorted(set(numbers))  # in order, none twice
    lost_s = (len(words) - len(fed)) * WORD_S
    assert sum(event.seconds for event in told) == pytest.approx(lost_s, abs=1.5 * len(told))
    for event in told:
        assert event.seconds > 5
        before = next(word for word in echo.words if word.number == event.after)
        assert event.since_s == pytest.approx(before.spoken_at_s, abs=1.5)
    ages = [word.committed_at_s - word.spoken_at_s for word in echo.words]
    assert max(ages) < 10 + 2 * 7 + 5  # it began a pass at most that late, and never falls behind
    assert sum(ages[-50:]) / 50 < 20


def test_a_talk_that_catches_up_loses_nothing():
    words, echo, heard, _ = late_talk(pass_s=3.0, slow_until=6)
    assert not heard.of(LeftOut)
    assert len(echo.fed) == len(words)


def test_a_file_is_never_left_out_or_behind():
    words, echo, heard, made = late_talk(pass_s=7.0, n_words=90, live=False)
    assert not heard.of(LeftOut) + heard.of(Behind)
    assert len(echo.fed) == len(words)
    assert made.waiting_since_s is None


def test_what_was_said_while_a_model_loaded_is_kept():
    clock = HandClock()
    words, sound = numbered(100)

    def load():
        clock.now_s += 30.0
        return Script(words, on_pass=lambda: setattr(clock, "now_s", clock.now_s + 0.5))

    _, echo, heard = run([Lane(name="", source=Late(sound, clock))], load, clock=clock)
    assert not heard.of(LeftOut)
    assert len(echo.fed) == len(words)


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_silence_and_noise_that_are_left_out_are_told_to_nobody(noise):
    clock = HandClock()
    words = script("we went home again today and")
    sound = sound_of(words, 120.0) + np.float32(noise)
    passes = []

    def take_time():
        passes.append(clock.now_s)
        clock.now_s += 60.0 if len(passes) == 4 else 0.1

    run_ = run(
        [Lane(name="", source=Late(sound, clock))], Script(words, on_pass=take_time), clock=clock
    )
    assert not run_[2].of(LeftOut)


def test_sound_that_waits_is_told_by_its_age():
    clock = HandClock()
    words, sound = numbered(60)
    ages = []

    def take_time():
        clock.now_s += 2.0
        ages.append(clock.now_s - made.waiting_since_s)

    source = Late(sound, clock)
    made, _, _ = listener(
        [Lane(name="", source=source)], Script(words, on_pass=take_time), clock=clock
    )
    assert made.waiting_since_s is None
    hear_out(made)
    assert min(ages) >= 2.0
    assert made.waiting_since_s is None


def test_heard_words_that_wait_for_their_caption_too_long_are_skipped():
    clock = HandClock()
    words, sound = numbered(120)
    echo = Echo()
    skips = []
    send = echo.send

    def take(command):
        if isinstance(command, Skip):
            skips.append((clock.now_s, echo.backlog_words))
            echo.release()
            echo.hold()
        else:
            send(command)
            if len(echo.words) < 20:
                echo.release()
                echo.hold()

    echo.send = take
    echo.hold()
    made, _, _ = listener(
        [Lane(name="", source=Late(sound, clock))], Script(words), echo=echo, clock=clock
    )
    with started(made):
        wait_until(lambda: len(echo.words) == 120)
        echo.release()
    assert len(skips) > 1
    assert all(0.4 * n_words > 8 for _, n_words in skips)


def test_a_slow_translation_is_not_blamed_on_the_recogniser():
    clock = HandClock()
    words = script(" ".join(["word"] * 60))
    echo = Echo()
    echo.hold()

    def take_time():
        clock.now_s += 0.5 if len(echo.fed) < 20 else 8.0

    source = Late(sound_of(words, 24.0), clock)
    settings = ListeningSettings(smaller_model="tiny.en", max_words_waiting=40)
    made, _, heard = listener(
        [Lane(name="", source=source)],
        Script(words, on_pass=take_time),
        echo=echo,
        settings=settings,
        clock=clock,
    )
    with started(made):
        wait_until(lambda: heard.of(Behind))
        echo.release()
    assert heard.of(Behind)[0].message.code is Code.TRANSLATION_SLOW
    assert not heard.of(Behind)[0].smaller_model


# --- for hours ------------------------------------------------------------------------------------


class Breaking(Chunks):
    """A file that cannot be read to its end."""

    def read(self, timeout_s):
        chunk = super().read(timeout_s)
        if chunk is None:
            raise AudioError(Code.NO_SERVER())
        return chunk

    @property
    def ended(self):
        return False


@pytest.mark.parametrize("whole", [False, True])
def test_what_was_heard_of_a_file_that_breaks_off_is_fed_before_that_is_told(whole):
    words = script("we went to the old house.", 0.5)
    source = Breaking(sound_of(words, words[-1].end_s))
    lane = Lane(name="", source=source, live=False, whole=whole)
    _, echo, heard = run([lane], Script(words))
    assert [word for _, word in echo.fed] == "we went to the old house.".split()
    assert heard.of(ListeningFailed)


@pytest.mark.parametrize("says", [False, True])
def test_a_recording_in_which_nobody_speaks_is_told_by_its_name(says):
    words = script("we went to the old house." if says else "", 0.5)
    lane = Lane(name="", source=Chunks(sound_of(words, 4.0)), live=False, title="talk.wav")
    _, _, heard = run([lane], Script(words))
    told = [str(event.notice.message) for event in heard.of(Noticed)]
    assert told == ([] if says else ["No speech was found in talk.wav"])
