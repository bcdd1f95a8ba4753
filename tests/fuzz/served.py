"""What desktop and server send each other, damaged: read, and where it is sound translated."""

import contextlib
import json
import queue

from engine.errors import ServerError
from engine.messages import Code
from engine.remote import wire
from engine.remote.captioner import RemoteCaptioner
from engine.remote.wire import Asked, Changed, Failure, Offer, Opened, Opening, Settled
from engine.session.conversations import Conversations
from engine.session.loaded_model import LoadedModel
from engine.settings import ModelSettings, TranslationSettings
from engine.text.sentences import Sentence
from tests.fuzz.sentences import check, text
from tests.support.fakes import save_tiny_model
from tests.support.strangers import damaged, mutated

_SESSIONS = ["s" * 22, "t" * 22, "u" * 64]
_POLICIES = ["", "read:1", "read:3", "wait:2", "offline", "read:0", "x"]
_LONG_S = 60  # for one sentence


def _sentence(rng):
    words = [
        rng.choice(["abc", "de.", "3,5", "Straße", "漢字", "\x07", "\u202e"]) for _ in range(5)
    ]
    words += [text(rng, 3).replace(" ", "") or "x"]
    return Sentence(tuple(words[: rng.randint(0, 6)]), ended=rng.random() < 0.5)


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
        sentence=_sentence(rng),
        caption=text(rng),
        haste=rng.randint(1, 8),
    )
    return [
        (wire.read_opening, wire.write_opening(Opening(session=session, settings=settings))),
        (wire.read_asked, wire.write_asked(asked)),
        (wire.read_leave, wire.write_leave(session)),
    ]


def _answers(rng):
    note = Code.AS_SAID(sentence=text(rng))
    return [
        (wire.read_answer, wire.write_answer(Changed(rng.randint(0, 9), text(rng), 3))),
        (wire.read_answer, wire.write_answer(Settled(n_read=3, finished=rng.random() < 0.5))),
        (wire.read_answer, wire.write_answer(Failure(note))),
        (wire.read_opened, wire.write_opened(Opened(context_rows=3, notices=(note,)))),
        (wire.read_offer, wire.write_offer(Offer(model=text(rng), languages={"de": text(rng)}))),
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


class _Stranger:
    """A server that says anything."""

    server = "stranger"

    def __init__(self, rng):
        self._rng = rng

    def open(self, _opening):
        return Opened()

    def ask(self, _asked, _has_waited):
        for _ in range(self._rng.randint(0, 9)):
            yield Changed(self._rng.choice([0, 1, 5, 7999]), text(self._rng), 2**31 - 1)
        yield self._rng.choice(
            [Settled(n_read=0, finished=True), Failure(Code.AS_SAID(sentence="no"))]
        )

    def close(self):
        pass


def _ask_stranger(rng):
    captioner = RemoteCaptioner(_Stranger(rng), TranslationSettings())
    utterance = captioner.open()
    shown = ""
    for n_words in range(1, 4):
        utterance.set_source(("a",) * n_words, ended=n_words == 3)
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
            conversations.leave("me", request)
            return
    while isinstance(found := told.get(timeout=_LONG_S), Changed):
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
            if isinstance(found, Opening | Asked | str):
                _obey(conversations, found)
        _ask_stranger(rng)
        assert conversations.is_alive

    yield run
    conversations.stop()
