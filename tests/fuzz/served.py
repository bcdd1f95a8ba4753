"""What desktop and server send each other, damaged: read, and where it is sound translated."""

import contextlib
import json
import queue
from functools import partial

from engine.errors import ServerError
from engine.messages import Code
from engine.remote import wire
from engine.remote.captioner import RemoteCaptioner
from engine.remote.service import Service
from engine.remote.wire import Asked, Failure, Leaving, Opened, Opening, Settled
from engine.session.conversations import Conversations
from engine.session.loaded_model import LoadedModel
from engine.settings import ModelSettings, ServerSettings, TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.captioner import Change
from tests.fuzz.sentences import check, text
from tests.support.fakes import save_tiny_model
from tests.support.strangers import damaged, mutated

_SESSIONS = ["s" * 22, "t" * 22, "u" * 64]
_POLICIES = ["", "read:1", "read:3", "wait:2", "offline", "read:0", "x"]
_LONG_S = 60  # for one sentence


def _words(rng):
    words = [
        rng.choice(["abc", "de.", "3,5", "Straße", "漢字", "\x07", "\u202e"]) for _ in range(5)
    ]
    words += [text(rng, 3).replace(" ", "") or "x"]
    return tuple(words[: rng.randint(0, 6)])


def _requests(rng):
    session = rng.choice(_SESSIONS)
    terms = tuple((text(rng, 2), text(rng, 2)) for _ in range(rng.randint(0, 3)))
    settings = TranslationSettings(
        target_language=rng.choice(["de", "fr", "xx"]),
        policy=rng.choice(_POLICIES),
        glossary=terms,
        context_sentences=rng.randint(0, 3),
    )
    asked = Asked(
        session=session,
        number=rng.randint(0, 4),
        words=_words(rng),
        ended=rng.random() < 0.5,
        caption=text(rng),
        haste=rng.randint(1, 8),
    )
    opened = wire.opening(session, settings, takes_any_language=rng.random() < 0.5)
    forms = (opened, asked, Leaving(session=session))
    return [(partial(wire.read_request, type(one)), wire.write(one)) for one in forms]


def _answers(rng):
    note = Code.AS_SAID(sentence=text(rng))
    languages = {"de": text(rng)}
    opened = Opened(model=text(rng), languages=languages, target="de", notices=(note,))
    return [
        (wire.read_answer, wire.write(Change(rng.randint(0, 9), text(rng), 3))),
        (wire.read_answer, wire.write(Settled(n_read=3, finished=rng.random() < 0.5))),
        (wire.read_answer, wire.write(Failure(note))),
        (wire.read_opened, wire.write(opened)),
    ]


def _changed(rng, content):
    match rng.randrange(8):
        case 0 | 1:
            return damaged(content, rng)
        case 2 | 3:
            return json.dumps(mutated(json.loads(content), rng)).encode(errors="replace")
        case 4:
            return rng.choice([b"[", b'{"a":']) * rng.randint(1, 200_000)
        case _:
            return content


class _Stranger(Service):
    """A server that says anything."""

    def __init__(self, rng):
        super().__init__(ServerSettings(address="http://localhost:1"))
        self._rng = rng

    def open(self, _opening):
        return Opened(model="", languages={}, target="xx")

    def ask(self, _asked, _has_waited):
        for _ in range(self._rng.randint(0, 9)):
            yield Change(self._rng.choice([0, 1, 5, 7999]), text(self._rng), 2**31 - 1)
        yield self._rng.choice(
            [Settled(n_read=0, finished=True), Failure(Code.AS_SAID(sentence="no"))]
        )


def _ask_stranger(rng):
    captioner = RemoteCaptioner(_Stranger(rng), TranslationSettings())
    utterance = captioner.open()
    shown = ""
    for n_words in range(1, 4):
        utterance.set_source(Sentence(("a",) * n_words, ended=n_words == 3))
        try:
            while (change := utterance.advance()) is not None:
                assert 0 <= change.kept <= len(shown)
                shown = shown[: change.kept] + change.text
        except ServerError as error:
            check(error)
            utterance.give_up()
        assert utterance.caption == shown


def _obey(conversations, request):
    """Let a server obey a request, and wait for its last answer."""
    told = queue.Queue()
    match request:
        case Opening():
            conversations.open("me", request, told.put)
        case Asked():
            conversations.ask("me", request, told.put)
        case _:
            conversations.leave("me", request.session)
            return
    while isinstance(found := told.get(timeout=_LONG_S), Change):
        pass
    if isinstance(found, Failure):
        check(found.message)


@contextlib.contextmanager
def prepared(folder):
    settings = ModelSettings(
        directory=save_tiny_model(folder / "served"), device="cpu", capacity=300
    )
    conversations = Conversations(LoadedModel(settings, lambda _: None), 2, idle_s=0.0)
    conversations.start()

    def run(rng, _folder, allow):
        allow()
        for read, content in [*_requests(rng), *_answers(rng)]:
            try:
                found = read(_changed(rng, content))
            except ValueError as error:
                check(error)
                continue
            if isinstance(found, Opening | Asked | Leaving):
                _obey(conversations, found)
        _ask_stranger(rng)
        assert conversations.is_alive

    yield run
    conversations.stop()
