"""Listen and translate in the terminal: ``surtitle listen --source mic --to de``.

Captions go to standard output, all else to standard error. Exit codes as in ``exit_code_of``: 0 at
the end of a file or after one Ctrl+C, which still translates all words heard so far; 130 after a
second one. Sound libraries, speech libraries and torch are imported only after all checks.
"""

import argparse
import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from app.captions.cues import LATEST_S
from app.captions.export import SubtitleWriter
from app.captions.models import download_line
from app.cli.exit_codes import exit_code_of, standard_output, tell
from app.cli.listen_options import (
    ListenSettings,
    add_listening_options,
    listen_settings,
    make_source,
)
from app.cli.listen_output import EventQueue, ListeningView, Screen
from app.cli.server_options import add_server_options
from app.config.messages import AppCode
from app.config.process import leaving_at_once
from engine.errors import HubError, ModelError, message_of
from engine.events import Event
from engine.files import bytes_text
from engine.hub.catalogue import SPEECH_BYTES
from engine.settings import ModelSettings
from engine.speech.events import Heard
from engine.utterances import UtteranceTracker

if TYPE_CHECKING:
    from engine.speech.listener import Listener
    from engine.speech.speech_models import AnySpeechModel

_NAME = "listen"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "listen",
        help="translate speech in the terminal",
        description="Translate speech from a microphone, the sound of the computer or a file. "
        "Ctrl+C ends it.",
    )
    add_listening_options(parser)
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own
    return exit_code_of(_NAME, lambda: listen(listen_settings(arguments)))


def listen(settings: ListenSettings) -> None:
    """Translate speech until the sources end."""
    out = standard_output()
    folder = _speech_model_folder(settings)
    utterances = UtteranceTracker()
    view = ListeningView(
        out,
        utterances,
        is_terminal=sys.stdout.isatty(),
        width=lambda: shutil.get_terminal_size().columns,
        marks_doubt=settings.translation.marks_doubt,
    )
    with contextlib.ExitStack() as opened:
        mailbox = EventQueue()
        listener = opened.enter_context(_listening(settings, folder, mailbox.put))
        opened.enter_context(mailbox)  # closed first, so that no thread waits in put
        writers = [
            opened.enter_context(contextlib.closing(SubtitleWriter(path, form)))
            for form, path in settings.subtitles.items()
        ]
        screen = Screen(listener, utterances, view, writers, _tell)
        with mailbox.interrupts():
            try:
                screen.serve(mailbox)
            finally:
                screen.write_rest(listener.heard_s if settings.is_recording else LATEST_S)
        screen.sum_up()


@contextlib.contextmanager
def _listening(
    settings: ListenSettings, folder: Path, report: Callable[[Heard | Event], None]
) -> Iterator["Listener"]:
    with leaving_at_once():
        from engine.session.session import Session  # noqa: PLC0415
        from engine.speech.listener import (  # noqa: PLC0415  likewise
            Lane,
            make_listening,
            noticed,
        )
        from engine.speech.speech_models import (  # noqa: PLC0415  likewise
            load_direct_model,
            load_speech_model,
        )

    asked = settings.translation
    wanted = asked.model.device if isinstance(asked.model, ModelSettings) else "auto"
    device = wanted if wanted in ("cpu", "cuda") else "auto"
    language = asked.translation.source_language
    words = tuple(term for term, _ in asked.translation.glossary)

    def load() -> "AnySpeechModel":
        if settings.hears:
            return load_direct_model(folder)
        return load_speech_model(folder, device, language, words)

    def take(event: Event) -> None:
        report(event)
        listener.take(event)  # made before the session is started

    session = Session(asked.model, asked.translation, take, log=asked.log)
    lanes = [
        Lane(
            name=it.lane,
            source=make_source(it, noticed(it.lane, report), settings),
            live=settings.real_time or not it.is_file,
            whole=settings.is_recording,
            title=Path(it.source).name if it.is_file else "",
        )
        for it in settings.sources
    ]
    listener = make_listening(lanes, session, load, report, recognizer=settings.recognizer)
    listener.start()
    session.start()
    try:
        yield listener
    finally:
        listener.close()
        session.stop()


def _speech_model_folder(settings: ListenSettings) -> Path:
    from engine.hub.download import Fetching  # noqa: PLC0415  as above
    from engine.speech.speech_models import speech_model_folder  # noqa: PLC0415  as above

    name, model = settings.recognizer, settings.translation.model
    if settings.hears and isinstance(model, ModelSettings):
        return model.directory
    try:
        with download_line(name) as progress:
            return speech_model_folder(name, settings.library, Fetching(progress=progress))
    except HubError as error:
        named = f"{name} ({bytes_text(SPEECH_BYTES[name])})" if name in SPEECH_BYTES else name
        reason = message_of(error)
        raise ModelError(AppCode.RECOGNISER_NOT_FETCHED(name=named, reason=reason)) from error


def _tell(sentence: str) -> None:
    tell(_NAME, sentence)
