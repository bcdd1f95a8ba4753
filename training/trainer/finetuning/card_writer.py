"""Makes the card of an adapter from its fine-tuning run."""

import datetime as dt
import importlib.metadata
from collections.abc import Mapping, Sequence

from engine.models.adapters.card import AdapterCard, AdapterScore, Corpus, check_name
from training.errors import UsageError
from training.settings import TrainSettings
from training.trainer.dev_watch import DevScore
from training.trainer.finetuning.base_model import Base
from training.trainer.material import slot_lengths
from training.trainer.samples.methods import Method


def named(settings: TrainSettings) -> str:
    """Return the name of the adapter: that of the settings, or of its run folder.

    Raises:
        UsageError: the name is not valid for an adapter.
    """
    try:
        return check_name(settings.name or settings.out.resolve().name)
    except ValueError as error:
        msg = f"the adapter {error}; choose one with --name"
        raise UsageError(msg) from error


def describe(
    settings: TrainSettings,
    base: Base,
    n_pairs: Mapping[str, int],
    method: Method,
    scores: Sequence[DevScore],
) -> AdapterCard:
    """Make the card: purpose, base, data (pairs by corpus), seeds and scores of an adapter."""
    licences = dict(settings.licences)
    return AdapterCard(
        name=named(settings),
        base_name=base.name,
        base=base.fingerprint,
        languages=base.card.languages,
        end_of_source=base.card.end_of_source,
        end_of_write=base.card.end_of_write,
        end_of_target=base.card.end_of_target,
        slot_length=base.card.slot_length,
        policies=base.card.policies,
        slot_lengths=slot_lengths(settings, base.card),
        layout=method.layout,
        source_language=settings.source_language,
        description=settings.description,
        licence=settings.licence,
        created_with=f"surtitle {importlib.metadata.version('surtitle')}",
        created_at=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        data=tuple(
            Corpus(name=name, licence=licences.get(name) or "not stated", pairs=n)
            for name, n in sorted(n_pairs.items())
        ),
        commands=settings.commands,
        seeds=(settings.optimisation.seed,),
        scores=tuple(
            AdapterScore(
                test_set="dev",
                lines=one.lines,
                language=one.language,
                policy=one.policy,
                bleu=round(one.bleu, 2),
                laal=None if one.laal is None else round(one.laal, 2),
                signature=one.signature,
            )
            for one in scores
        ),
    )
