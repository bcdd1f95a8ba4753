"""Fetches data sets of the Hugging Face hub as aligned TSV files, once, into the run folder."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from engine.errors import first_line
from training.data.align_report import Report
from training.data.aligned_pairs import MIN_AGREEMENT, AlignedPair, schedule
from training.data.corpus import SentencePair, replacing
from training.data.orthography import tidy
from training.errors import TrainingError
from training.settings import HubData

_log = logging.getLogger(__name__)


def fetch(hub: HubData, source_language: str, folder: Path) -> dict[str, Path]:
    """Fetch a data set for every language whose file does not exist yet.

    Returns:
        aligned TSV by target language.

    Raises:
        TrainingError: ``datasets`` or the aligner is missing, or the data cannot be fetched or
            written.
    """
    files = {language: folder / f"{language}.tsv" for language in hub.languages}
    for language, path in files.items():
        if path.exists():
            continue
        pairs = list(_pairs(_rows(hub, language), hub, source_language, language))
        with replacing(path) as fresh, fresh.open("w", encoding="utf-8") as out:
            out.writelines(aligned.as_line() for aligned in _aligned(pairs, hub.schedule))
        _log.info("wrote %s: %d pairs", path, len(pairs))
    return files


def _rows(hub: HubData, language: str) -> Iterable[Mapping[str, object]]:
    try:
        from datasets import load_dataset  # noqa: PLC0415  seconds, and few need it
    except ImportError as error:
        msg = "data of the hub need datasets: install it with pip install 'surtitle[hub]'"
        raise TrainingError(msg) from error
    config = hub.config.replace("{language}", language) or None
    files = {hub.split: hub.files.replace("{language}", language)} if hub.files else None
    try:
        rows = load_dataset(
            hub.name,
            config,
            data_files=files,
            split=hub.split,
            revision=hub.revision or None,
        )
    except Exception as error:
        reason = first_line(error)
        msg = (
            f"the {language} data of {hub.name} cannot be fetched from the hub ({reason}): see "
            "that there is a network, or name local files with --data"
        )
        raise TrainingError(msg) from error
    return cast("Iterable[Mapping[str, object]]", rows)


def _pairs(
    rows: Iterable[Mapping[str, object]], hub: HubData, source_language: str, language: str
) -> Iterator[SentencePair]:
    """Yield source and target of every row that has both."""
    for row in rows:
        translation = row.get("translation")
        if not isinstance(translation, dict) or not {source_language, language} <= set(translation):
            msg = (
                f"a row of {hub.name} should have a 'translation' with {source_language} and "
                f"{language}, got {str(row)[:80]}: choose another data set or configuration"
            )
            raise TrainingError(msg)
        source, target = tidy(translation[source_language]), tidy(translation[language])
        if source and target:
            yield SentencePair(source, target, hub.name)


def _aligned(pairs: list[SentencePair], how: str) -> Iterator[AlignedPair]:
    if how == "none":
        return (AlignedPair(pair, None) for pair in pairs)
    return schedule(pairs, Report(MIN_AGREEMENT if how == "align" else None))
