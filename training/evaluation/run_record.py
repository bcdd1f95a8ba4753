"""``run.json``: what a run folder holds, so that it is never continued with something else."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import cast

from engine.adapters.adapter import model_card
from engine.models.file_hash import file_sha256
from engine.policy import parse_policy
from engine.settings import ModelSettings, TranslationSettings, at_least
from training.data.corpus import replacing
from training.errors import TrainingError, UsageError

FILE_NAME = "run.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """All that decides what a policy translates, but for the policy itself.

    Attributes:
        system: ``slots`` or ``retranslate``.
        language: two-letter code of the target.
        model: name on its card.
        model_sha256: of its files, see ``fingerprint``.
        adapter_sha256: likewise; None where there is no adapter.
        slot_length: positions.
        layout: one of ``engine.settings.LAYOUTS``.
        cut_loops: writes that looped were ended.
        source_sha256: of the source file.
        reference_sha256: of the reference file.
    """

    system: str
    language: str
    model: str
    model_sha256: str
    adapter_sha256: str | None
    slot_length: int
    source_sha256: str
    reference_sha256: str
    layout: str = "slots"
    cut_loops: bool = False

    @classmethod
    def of(
        cls,
        system: str,
        model: ModelSettings,
        translation: TranslationSettings,
        source: Path,
        reference: Path,
    ) -> "RunRecord":
        """Say what decides the translations of a test set.

        Raises:
            ModelError: the model's card cannot be read.
            TrainingError: a file cannot be read.
        """
        return cls(
            system=system,
            language=translation.target_language,
            model=model_card(model.directory, None).name,
            model_sha256=fingerprint(model.directory),
            adapter_sha256=None if model.adapter is None else fingerprint(model.adapter),
            slot_length=translation.layout.slot_length,
            layout=translation.layout.name,
            cut_loops=translation.cut_loops,
            source_sha256=readable_sha256(source),
            reference_sha256=readable_sha256(reference),
        )

    def claim(self, folder: Path) -> None:
        """Write the record into a run folder, or check that the folder holds this very run.

        Raises:
            TrainingError: its record cannot be read or written.
            UsageError: the folder holds another run.
        """
        path = folder / FILE_NAME
        if not path.exists():
            with replacing(path) as partial:
                content = json.dumps(asdict(self), indent=2, ensure_ascii=False)
                partial.write_text(content + "\n", encoding="utf-8")
            return
        other = read_record(folder)
        for field in fields(self):
            mine, its = getattr(self, field.name), getattr(other, field.name)
            if mine != its:
                name = field.name.removesuffix("_sha256").replace("_", " ")
                told = "" if field.name.endswith("sha256") else f" ({its}, not {mine})"
                msg = f"{folder} holds a run with another {name}{told}: choose another --out"
                raise UsageError(msg)


def check_run(policies: Sequence[str], limit: int | None) -> None:
    """See that there is something to measure.

    Raises:
        PolicyError: there is no such policy.
        ValueError: no policy is named, or no line is left.
    """
    if not policies:
        msg = "at least one policy is needed, for example --policies read:3,offline"
        raise ValueError(msg)
    for policy in policies:
        parse_policy(policy)
    if limit is not None:
        at_least("--limit", limit, 1)


def read_record(folder: Path) -> RunRecord:
    """Read the record of a run folder.

    Raises:
        TrainingError: the folder holds no run, or its record is garbled.
    """
    path = folder / FILE_NAME
    try:
        content = cast("dict[str, object]", json.loads(path.read_text(encoding="utf-8")))
        return RunRecord(**content)  # type: ignore[arg-type]
    except FileNotFoundError as error:
        msg = f"{folder} holds no run: it has no {FILE_NAME}; name a folder that evaluate wrote"
        raise TrainingError(msg) from error
    except (OSError, ValueError, TypeError) as error:
        msg = f"{path} cannot be read ({error}): run evaluate again into another folder"
        raise TrainingError(msg) from error


def readable_sha256(path: Path) -> str:
    """Hash a file that a person named.

    Raises:
        TrainingError: it cannot be read.
    """
    try:
        return file_sha256(path)
    except OSError as error:
        msg = f"{path} cannot be read ({error.strerror}): name a file that is there"
        raise TrainingError(msg) from error


def fingerprint(folder: Path) -> str:
    """Hash what a model or adapter folder says with: weights, tokenizer, configuration, card.

    Raises:
        TrainingError: a file cannot be read.
    """
    paths = sorted(path for path in folder.glob("*") if path.suffix in {".safetensors", ".json"})
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0{readable_sha256(path)}\n".encode())
    return digest.hexdigest()
