"""Score captions of a file: ``surtitle score SOURCE REFERENCE``; the window runs it, too.

Lines of the source are fed word by word, as if they were spoken; each caption is compared with the
same line of the reference. With ``--sound`` a recording of the source is recognised, too, and
compared with the source. ``surtitle-train evaluate`` computes the same scores, and more.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.cli.check import Report, reported_failures, write_json
from app.cli.convert import convert_first
from app.cli.exit_codes import exit_code_of
from app.cli.translate import TerminalSettings, add_options, chosen_settings
from app.config.system.early_interrupt import leaving_at_once
from app.config.system.messages import AppCode
from app.config.system.text_io import TextError
from engine.errors import message_of
from engine.hub.catalogue import suited_speech_model
from engine.metrics.word_errors import word_error_rate

if TYPE_CHECKING:
    from engine.metrics.translation import Translation

_NAME = "score"
_STANDARD_RECOGNIZER = "base.en"

_WORDS = {
    "bleu": "BLEU: {}",
    "chrf": "chrF: {}",
    "signature": "Signature of BLEU: {}",
    "al": "Average lagging (AL): {} words",
    "laal": "Length-adaptive average lagging (LAAL): {} words",
    "n_lines": "Lines: {}",
    "n_empty": "Lines without a caption: {}",
    "ms_per_word": "Computing: {} ms a word",
    "model": "Model: {}",
    "wer": "Word error rate: {}",
    "real_time_factor": "Recognising: {} s of computing for each second of speech",
}


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``score`` to the commands of ``surtitle``."""
    parser = subparsers.add_parser(
        _NAME,
        help="score captions of a file against a reference",
        description="Translate a file word by word and report BLEU, chrF and lagging; with --sound "
        "also the word error rate of a recording of it.",
    )
    parser.add_argument("source", metavar="SOURCE", help="lines of text, UTF-8")
    parser.add_argument("reference", metavar="REFERENCE", help="their translations, line by line")
    parser.add_argument("--sound", type=Path, metavar="FILE", help="a recording of the source")
    parser.add_argument(
        "--asr",
        default=_STANDARD_RECOGNIZER,
        metavar="MODEL",
        help="speech model that recognises it, of either kind, as for surtitle listen",
    )
    parser.add_argument("--json", action="store_true", help="write JSON lines, for programs")
    add_options(parser)
    parser.set_defaults(run=run, live=False)


def run(arguments: argparse.Namespace) -> int:  # noqa: TID251  a command reads its own
    """Run the command and return its exit code."""
    report = write_json if arguments.json else _write_text

    def work() -> None:
        with reported_failures(as_json=arguments.json):
            settings = chosen_settings(arguments)
            pairs = read_pairs(Path(arguments.source), Path(arguments.reference))
            convert_first(settings.own_model)
            with leaving_at_once():
                score_file(settings, pairs, report)
                if arguments.sound is not None:
                    text, library = " ".join(source for source, _ in pairs), arguments.model_library
                    spoken = settings.translation.source_language
                    named = suited_speech_model(arguments.asr, spoken)
                    _score_sound(arguments.sound, text, (named, spoken), library, report)

    return exit_code_of(_NAME, work)


def read_pairs(source: Path, reference: Path) -> list[tuple[str, str]]:
    """Read lines and their references; empty lines are left out.

    Raises:
        TextError: a file cannot be read, or they have unlike numbers of lines.
    """
    sources, references = _lines(source), _lines(reference)
    if len(sources) != len(references):
        code = AppCode.UNLIKE_LINES
        names = {"source": source.name, "reference": reference.name}
        raise TextError(code(**names, n_source=len(sources), n_reference=len(references)))
    pairs = zip(sources, references, strict=True)
    return [(line.strip(), reference.strip()) for line, reference in pairs if line.strip()]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScore:
    """Scores of a file; lagging in source words, averaged over the lines with a caption.

    Attributes:
        bleu, chrf: of the whole, by sacreBLEU.
        signature: of BLEU, to reproduce it.
        al: average lagging (Ma et al. 2019).
        laal: length-adaptive average lagging (Papi et al. 2022).
        n_lines: translated lines.
        n_empty: lines without a caption; left out of the lagging.
        ms_per_word: milliseconds of computing for a source word.
    """

    bleu: float
    chrf: float
    signature: str
    al: float
    laal: float
    n_lines: int
    n_empty: int
    ms_per_word: float


def score_file(settings: TerminalSettings, pairs: list[tuple[str, str]], report: Report) -> None:
    """Translate lines word by word, report each, and score them all."""
    from engine.runtime.loader import load_weights  # noqa: PLC0415  torch takes seconds to import
    from engine.translation.factory import make_system  # noqa: PLC0415
    from engine.translation.feed import translate_lines  # noqa: PLC0415

    if not pairs:
        raise TextError(AppCode.NOTHING_TO_SCORE())
    report("stage", {"stage": "loading"})
    weights = load_weights(settings.own_model)
    name, capacity = settings.own_model.system, settings.own_model.capacity
    translations = list["Translation"]()
    for translation in translate_lines(
        lambda log: make_system(name, weights, settings.translation, capacity=capacity, log=log),
        enumerate(source for source, _ in pairs),
    ):
        translations.append(translation)
        report("line", {"n": len(translations), "of": len(pairs)})
    references = [reference for _, reference in pairs]
    scores = score_translations(translations, references, settings.translation.target_language)
    report("score", {**asdict(scores), "model": weights.card.name})


def score_translations(
    translations: "Sequence[Translation]", references: Sequence[str], language: str
) -> FileScore:
    """Score the lines of a file, as ``surtitle-train evaluate`` does."""
    from engine.metrics.lagging import mean_laggings  # noqa: PLC0415
    from engine.metrics.quality import measure_quality  # noqa: PLC0415  sacreBLEU is slow to import

    quality = measure_quality([it.hypothesis for it in translations], references, language)
    laggings = mean_laggings(translations, references, language)
    word_ms = [ms for it in translations for ms in it.ms]
    return FileScore(
        bleu=quality.bleu,
        chrf=quality.chrf,
        signature=quality.bleu_signature,
        al=laggings.al if laggings else 0.0,
        laal=laggings.laal if laggings else 0.0,
        n_lines=len(translations),
        n_empty=sum(not it.delays for it in translations),
        ms_per_word=sum(word_ms) / max(1, len(word_ms)),
    )


def _score_sound(
    path: Path, text: str, asr: tuple[str, str], library: Path, report: Report
) -> None:
    """Recognise a recording at full speed, by a model and in a language; compare it to a text."""
    from engine.audio.sources import AudioSources  # noqa: PLC0415  libraries may be missing
    from engine.errors import ModelError  # noqa: PLC0415
    from engine.speech.recognizers import make_recognizer  # noqa: PLC0415
    from engine.speech.speech_models import found_speech_model, load_speech_model  # noqa: PLC0415
    from engine.speech.vad import SileroDetector  # noqa: PLC0415

    named, spoken = asr
    folder = found_speech_model(named, library)
    if folder is None:
        raise ModelError(AppCode.RECOGNISER_MISSING(name=named))
    report("stage", {"stage": "recognising"})
    model = load_speech_model(folder, "auto", spoken)
    recognizer = make_recognizer(model, SileroDetector())
    source = AudioSources().file(path, lambda _notice: None, real_time=False)
    source.start()
    words = list[str]()
    while not source.ended:
        chunk = source.read(1.0)
        if chunk is not None:
            words += [word.text for part in recognizer.feed(chunk) for word in part.committed]
    words += [word.text for part in recognizer.flush() for word in part.committed]
    rate = word_error_rate(" ".join(words), text)
    report("wer", {"wer": rate, "real_time_factor": recognizer.real_time_factor})


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TextError(AppCode.NO_UTF8_TEXT(path=str(path), reason=message_of(error))) from error
    return text.removesuffix("\n").split("\n") if text else []  # as *translate* reads lines


def _write_text(kind: str, values: Mapping[str, object]) -> None:
    """Write the scores as text, one a line, in words and with their units."""
    if kind in ("score", "wer"):
        for name, value in values.items():
            shown = f"{value:.3f}" if isinstance(value, float) else str(value)
            sys.stdout.write(f"{_WORDS[name].format(shown)}\n")
