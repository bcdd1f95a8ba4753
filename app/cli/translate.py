"""Translate in the terminal, a line in, a line out: ``surtitle translate``.

Exit codes as in ``exit_code_of``. torch is imported only after all other checks.
"""

import argparse
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from app.captions.models import MachineReport, fetched_model, known_offers
from app.cli.adapters import adapter_folder, open_library
from app.cli.exit_codes import UsageError, exit_code_of, standard_output, tell
from app.cli.server_options import add_server_options, server_settings
from app.config.preferences import DOUBT_SIGN
from app.config.process import leaving_at_once
from app.config.text_io import LineReader, LineWriter, TextError, check_text, progress_line
from engine.errors import AdapterError, ModelError
from engine.files import bytes_text
from engine.hub.catalogue import NO_ADAPTER, bundled_model, default_adapter, suited_model
from engine.messages import Code
from engine.metrics.event_log import EventLog
from engine.models.adapters.adapter import Adapter, model_card, usable_adapter
from engine.models.encoder_decoder.original import is_encoder_decoder
from engine.models.encoder_decoder.record import converted_folder
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import LANGUAGE_NAMES, ModelCard
from engine.models.resolve import AUTO, STANDARD_OF_DRAFTS, STANDARD_POLICY, check_policy, resolve
from engine.policy import POLICY_FORMS
from engine.settings import (
    DEVICES,
    QUANTISATIONS,
    SYSTEMS,
    ModelSettings,
    ServerSettings,
    TranslationSettings,
)
from engine.text.glossary import read_glossary
from engine.text.sentences import committed_words, is_strange, source_notice, split_sentences
from engine.translation.feed import feed_sentence
from engine.untrusted.model_folder import check_model_folder
from engine.untrusted.plain_files import is_download, model_name

if TYPE_CHECKING:
    from engine.translation.captioner import Captioner, Change

_STDIN = "-"
_LONGEST_SLOT = 1024  # longer than any utterance
_ANEW = (
    "another server, with another model, writes the caption otherwise: what stands there cannot be "
    "taken back, so it begins once more on the same line"
)
_STANDARD = TranslationSettings()
POLICIES = f"{POLICY_FORMS} or offline"
"""How policies are written on the command line."""
CODES = f"{', '.join(LANGUAGE_NAMES)}, as far as the model knows them"
"""The languages that ``--to`` takes."""

_NAME = "translate"


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalSettings:
    """Input, translation and log of one run.

    Attributes:
        model: weights, adapter and device; or the computer that translates.
        translation: language, policy and slots.
        source: a file, or None for standard input.
        log: file of the engine's events, or None.
        live: write captions piece by piece while the words of the line are read.
        marks_doubt: a sign follows captions that the model is not sure of.
    """

    model: ModelSettings | ServerSettings
    translation: TranslationSettings = field(default_factory=TranslationSettings)
    source: Path | None = None
    log: Path | None = None
    live: bool = False
    marks_doubt: bool = False

    def __post_init__(self) -> None:
        if self.source and self.log and _same_file(self.source, self.log):
            msg = f"the log would overwrite the text in {self.source}: name another file for --log"
            raise ValueError(msg)


def _same_file(source: Path, log: Path) -> bool:
    try:
        return source.samefile(log)
    except OSError:  # the log rarely exists yet
        return False


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = subparsers.add_parser(
        "translate",
        help="translate lines of text in the terminal",
        description="Translate English text: a line in, a line out. Text is UTF-8.",
    )
    parser.add_argument(
        "source",
        nargs="?",
        default=_STDIN,
        metavar="FILE",
        help="the text; without it, or with -, standard input",
    )
    add_options(parser)
    add_server_options(parser)
    parser.add_argument("--live", action="store_true", help="show captions while they grow")
    parser.set_defaults(run=run)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that ``chosen_settings`` reads."""
    for option, metavar, text in (
        ("--to", "CODE", f"target language: {CODES} ({_STANDARD.target_language})"),
        (
            "--policy",
            "POLICY",
            f"{POLICIES} ({STANDARD_POLICY}; a model that makes drafts: {STANDARD_OF_DRAFTS})",
        ),
    ):  # no default: the same options before the command count here, too
        parser.add_argument(option, default=argparse.SUPPRESS, metavar=metavar, help=text)
    add_model_options(parser)
    parser.set_defaults(server=None, server_token_file=None, server_certificate=None)
    parser.add_argument(
        "--from",
        dest="spoken",
        default=_STANDARD.source_language,
        metavar="CODE",
        help="language of the text, for models that translate from several (%(default)s)",
    )
    parser.add_argument(
        "--slot", metavar="L", help="positions in a slot (as the model was trained)"
    )
    parser.add_argument(
        "--glossary",
        type=Path,
        metavar="FILE.tsv",
        help="names, and terms with their translations; the speech model prefers them, too",
    )
    parser.add_argument(
        "--context",
        type=int,
        default=_STANDARD.context_sentences,
        metavar="N",
        help="put the N sentences before into the prompt (%(default)s)",
    )
    parser.add_argument(
        "--mark-doubtful",
        action="store_true",
        help=f"write {DOUBT_SIGN} after captions that the model is not sure of",
    )
    parser.add_argument("--log", type=Path, metavar="FILE.jsonl", help="write the engine's events")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that ``chosen_model`` reads."""
    for option, kind, metavar, text in (
        (
            *("--model", Path, "DIR|NAME"),
            "model folder, name of a bundled one, or owner/name on the hub (the bundled one that "
            "knows the language)",
        ),
        ("--device", str, "NAME", f"where to compute: {', '.join(DEVICES)} (auto)"),
    ):  # no default: the same options before the command count here, too
        parser.add_argument(
            option, type=kind, default=argparse.SUPPRESS, metavar=metavar, help=text
        )
    parser.add_argument(
        "--accept-licence",
        action="store_true",
        help="accept, once, that the model's licence forbids commercial use",
    )
    parser.add_argument(
        "--adapter",
        default=argparse.SUPPRESS,  # as above
        metavar="NAME|DIR|none",
        help="LoRA adapter for the model (a bundled one that helps; see surtitle adapters)",
    )
    parser.add_argument(
        "--quantize",
        "--quantise",
        choices=QUANTISATIONS,
        default="auto",
        help="precision of the weights; auto: full if they fit, else 4 bits",
    )
    parser.add_argument(
        "--system",
        choices=tuple(SYSTEMS),
        default=AUTO,
        help="slots, or retranslate all words at each step; auto: what the model was trained for",
    )


def run(arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own
    return exit_code_of(_NAME, lambda: translate(chosen_settings(arguments), arguments.stdin))


def convert_first(settings: ModelSettings) -> None:
    """Convert a model that must be and is not yet; Ctrl+C then leaves nothing half-written."""
    folder = settings.directory
    if converted_folder(folder, "") is not None or not is_encoder_decoder(folder):
        return
    with leaving_at_once():
        from engine.runtime.ctranslate2.encoder_decoder_loader import load_encoder_decoder  # noqa: PLC0415  slow to import
    with progress_line() as show:
        load_encoder_decoder(
            settings, lambda name, part: show(str(Code.CONVERTING(name=name, done=part)))
        )


def translate(settings: TerminalSettings, stdin: BinaryIO | None) -> None:
    """Translate every line of the source to standard output.

    Args:
        stdin: the input if no source is named; None if it is closed.
    """
    out = standard_output()
    if isinstance(settings.model, ModelSettings):
        convert_first(settings.model)
    with (
        _opened(settings.source, stdin) as reader,
        _opened_log(settings.log) as log,
        leaving_at_once(lambda: _tell_broken(reader)),
    ):
        writer = LineWriter(out, live=settings.live)
        try:
            with _translator(settings, log) as translator:
                _feed_lines(settings, reader, writer, translator)
        finally:
            _tell_broken(reader)


def _feed_lines(
    settings: TerminalSettings, reader: LineReader, writer: LineWriter, translator: "Captioner"
) -> None:
    context_rows = n_strange = 0
    reads_english = settings.translation.reads_english
    for line in reader:
        n_strange += reads_english and any(map(str.isalpha, line)) and is_strange(line.split())
        for piece in _captions(translator, line, settings):
            writer.write(piece)
        writer.end_line()
        context_rows = max(context_rows, translator.context_rows)
    if n_strange:
        lines = "1 line does" if n_strange == 1 else f"{n_strange} lines do"
        _tell(f"{lines} not look like English: unreadable sentences are copied unchanged")
    if context_rows:
        _tell(f"glossary and sentences before took up to {context_rows} rows of the prompt")


@contextlib.contextmanager
def _translator(settings: TerminalSettings, log: EventLog) -> "Iterator[Captioner]":
    source = source_notice(settings.translation.source_language)
    if isinstance(settings.model, ServerSettings):
        from engine.remote.captioner import RemoteCaptioner  # noqa: PLC0415  rarely used
        from engine.remote.service import Service  # noqa: PLC0415

        captioner = RemoteCaptioner(Service(settings.model), settings.translation)
        for note in (*captioner.opened.notices, *filter(None, (source,))):
            _tell(str(note))
        captioner.notify = lambda message: _tell(str(message))
        with contextlib.closing(captioner):
            yield captioner
        return
    from engine.runtime.loader import load_weights  # noqa: PLC0415  libraries take a while to import
    from engine.translation.factory import make_system  # noqa: PLC0415

    weights = load_weights(settings.model)
    weights.share_processor()
    name, capacity = settings.model.system, settings.model.capacity
    resolved = resolve(weights.card, name, settings.translation)
    for note in (*weights.report.notes, *resolved.notices, *filter(None, (source,))):
        _tell(str(note))
    yield make_system(name, weights, settings.translation, capacity=capacity, log=log)


def _captions(translator: "Captioner", line: str, settings: TerminalSettings) -> Iterator[str]:
    """Yield the captions of a line piece by piece, with a blank after each sentence.

    Each sentence is an utterance of its own. Its words are read as if they came one by one if live,
    and at once otherwise. Sentences in scripts the model cannot read are copied unchanged.
    """
    words = committed_words(line, finished=True)
    for sentence in split_sentences(words, translator.settings.limits, finished=True):
        caption = ""
        if translator.settings.reads_english and is_strange(sentence.words):
            yield " ".join(sentence.words) + " "
            continue
        first = 1 if settings.live else len(sentence.words)
        utterance = translator.open()
        for changes in feed_sentence(utterance, sentence, first=first):
            for change in changes:
                shown, caption = caption, caption[: change.kept] + change.text
                if settings.live:
                    yield _live(shown, change)
        if not settings.live:
            yield caption  # whole: another server may have written it otherwise
        confidence = utterance.confidence
        if settings.marks_doubt and confidence is not None and confidence.is_low:
            yield f" {DOUBT_SIGN}"
        yield " "


def _live(shown: str, change: "Change") -> str:
    if change.kept == len(shown):
        return change.text
    _tell(_ANEW)
    return f" {shown[: change.kept]}{change.text}"


def chosen_settings(arguments: argparse.Namespace) -> TerminalSettings:  # noqa: TID251  as above
    """Check the command line; checks that need no file come first."""
    try:
        policy = check_policy(arguments.policy) if arguments.policy else ""
        slot_length = _slot_length(arguments.slot)
        glossary = read_glossary(arguments.glossary) if arguments.glossary else ()
        language = arguments.to or _STANDARD.target_language
        translation = TranslationSettings(
            target_language=language,
            source_language=arguments.spoken,
            policy=policy,
            glossary=glossary,
            context_sentences=arguments.context,
        )
        model: ModelSettings | ServerSettings | None = server_settings(arguments)
        if model is None:
            model, card = chosen_model(arguments, translation)
            _check_pair(card, arguments.spoken, language)
            resolved = resolve(card, model.system, translation)
            if slot_length is not None:
                layout = replace(resolved.layout, slot_length=slot_length)
                translation = replace(translation, layout=layout)
        return TerminalSettings(
            model=model,
            translation=translation,
            source=None if arguments.source == _STDIN else Path(arguments.source),
            log=arguments.log,
            live=arguments.live,
            marks_doubt=arguments.mark_doubtful,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error


def chosen_model(
    arguments: argparse.Namespace,  # noqa: TID251  as above
    translation: TranslationSettings,
) -> tuple[ModelSettings, ModelCard]:
    """Check the options of a model that is loaded here; return it and its card."""
    wanted = translation.target_language
    directory = _model_folder(arguments.model, arguments.model_library, wanted)
    is_apart = is_encoder_decoder(directory)
    if not is_apart:
        check_model_folder(directory)  # fails here at once instead of while loading
    if is_apart and arguments.adapter not in (None, NO_ADAPTER):
        raise AdapterError(Code.NO_ADAPTERS(model=model_name(directory)))
    adapter = (
        None
        if is_apart
        else _adapter(arguments.adapter, directory, arguments.adapter_library, translation)
    )
    model = ModelSettings(
        directory=directory,
        adapter=None if adapter is None else adapter.folder,
        device=arguments.device,
        quantise=arguments.quantize,
        system=arguments.system,
        accepts_licence=arguments.accept_licence,
        is_download=is_download(directory, arguments.model_library),
    )
    return model, model_card(directory, adapter)


def _slot_length(text: str | None) -> int | None:
    """Parse the option; None is the length the model was trained with."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= _LONGEST_SLOT):
        msg = f"a slot has a whole number of positions from 1 to {_LONGEST_SLOT}, got {text!r}"
        raise UsageError(msg)
    return int(text)


def _model_folder(named: Path | None, library: Path, language: str) -> Path:
    if named is not None:
        return bundled_model(named) or fetched_model(named, library)
    folder = suited_model(language)
    if folder is None:
        msg = "no model comes with this copy of Surtitle: name a model folder with --model DIR"
        raise TextError(msg)
    return folder


def _adapter(
    named: str | None, model: Path, library: Path, translation: TranslationSettings
) -> Adapter | None:
    """Return the named adapter, or by default a bundled one that helps this translation.

    An adapter of unknown fit is used with a message.
    """
    if named == NO_ADAPTER:
        return None
    base = read_fingerprint(model)
    if named is None:
        default = default_adapter(base, translation)
        return None if default is None else usable_adapter(default, base)
    adapter = usable_adapter(adapter_folder(named, open_library(library)), base)
    if adapter.reason is not None:
        _tell(str(Code.ADAPTER_UNKNOWN(folder=str(adapter.folder), reason=adapter.reason)))
    return adapter


def _check_pair(card: ModelCard, source: str, target: str) -> None:
    try:
        card.check_pair(source, target)
    except ModelError as error:
        raise UsageError(f"{error}{_instead(source, target)}") from error


def _instead(source: str, target: str) -> str:
    offer = MachineReport().recommended(known_offers(), target, source)
    if offer is None:
        return ""
    return f", for example --model {offer.name} ({bytes_text(offer.n_bytes)}, downloaded once)"


@contextlib.contextmanager
def _opened(source: Path | None, stdin: BinaryIO | None) -> Iterator[LineReader]:
    """Open the source; standard input stays open."""
    if source is None:
        if stdin is None:
            msg = "standard input is closed: name a FILE or send text through a pipe"
            raise TextError(msg)
        yield LineReader(stdin, "standard input")
        return
    try:
        check_text(source)
        stream = source.open("rb")
    except OSError as error:
        msg = f"expected a text file, but {source} cannot be read: {error.strerror}; name another"
        raise TextError(msg) from error
    with stream:
        yield LineReader(stream, str(source))


@contextlib.contextmanager
def _opened_log(path: Path | None) -> Iterator[EventLog]:
    try:
        with EventLog(path) as log:
            yield log
    except OSError as error:
        if path is None:
            raise
        msg = f"the log {path} cannot be written: {error.strerror}; name another file for --log"
        raise TextError(msg) from error


def _tell_broken(reader: LineReader) -> None:
    if reader.n_broken:
        lines = "1 line" if reader.n_broken == 1 else f"{reader.n_broken} lines"
        _tell(
            f"expected UTF-8, but {lines} of {reader.name} had other bytes, first line "
            f"{reader.first_broken}: \N{REPLACEMENT CHARACTER} was read instead; "
            "convert the text to UTF-8"
        )


def _tell(sentence: str) -> None:
    tell(_NAME, sentence)
