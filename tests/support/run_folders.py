"""Run folders as ``surtitle-train evaluate`` writes them, without a model or in this process."""

import dataclasses
import json
import random

from engine.metrics.event_log import Translation
from tests.support.fakes import random_word
from training.__main__ import main
from training.evaluation import short_form as workers
from training.evaluation.runs import RunRecord
from training.evaluation.scores import score

WORDS = "der die das Haus Baum Weg geht steht ist war alt neu und oder nicht heute".split()
ALL_POLICIES = "read:3,wait:2,offline"


def translation(**said):
    """A translation of a line that costs nothing; with what is named."""
    numbers = ("index", "tokens_fed", "tokens_recomputed", "forwards", "probes", "flops",
               "n_erased", "n_cut", "peak_memory_bytes")  # fmt: skip
    lists = ("source", "delays", "emitted_ms", "ms", "token_ms")
    nothing = dict.fromkeys(numbers, 0) | dict.fromkeys(lists, ()) | {"hypothesis": ""}
    return Translation(**nothing | said)


def references(rng, n_lines):
    return [" ".join(rng.choices(WORDS, k=rng.randint(3, 9))) for _ in range(n_lines)]


def translations(rng, wanted, *, wrong, late):
    """Copy the references, some words wrong, each word ``late`` source words late."""
    made = []
    for index, reference in enumerate(wanted):
        words = reference.split()
        written = [rng.choice(WORDS) if rng.random() < wrong else word for word in words]
        n_words = len(words)
        delays = tuple(min(place + late, n_words) for place in range(1, n_words + 1))
        made.append(
            Translation(
                index=index,
                source=tuple(words),
                hypothesis=" ".join(written),
                delays=delays,
                emitted_ms=(1.5,) * n_words,
                ms=(2.0,) * n_words,
                token_ms=(1.0,) * n_words,
                tokens_fed=3 * n_words,
                tokens_recomputed=0,
                forwards=n_words,
                probes=0,
                flops=10**9,
                n_erased=0,
                n_cut=0,
                peak_memory_bytes=2**20,
            )
        )
    return made


def silent(translation):
    return dataclasses.replace(translation, hypothesis="", delays=(), emitted_ms=())


def write_run(folder, policies, wanted, **changes):
    """Write a run of ``policies``, a dict of lists of translations."""
    record = RunRecord(
        system="slots",
        language="de",
        model="tiny",
        model_sha256="m",
        adapter_sha256=None,
        slot_length=16,
        source_sha256="source",
        reference_sha256="reference",
    )
    record = dataclasses.replace(record, **changes)
    folder.mkdir(parents=True)
    record.claim(folder)
    summary = [
        score(policy, record.system, made, wanted, record.language).row()
        for policy, made in policies.items()
    ]
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    for policy, made in policies.items():
        rows = [
            json.dumps({**dataclasses.asdict(one), "reference": reference}) + "\n"
            for one, reference in zip(made, wanted, strict=True)
        ]
        (folder / f"{policy}.jsonl").write_text("".join(rows), encoding="utf-8")
    return folder


def two_runs(tmp_path, n_lines=40):
    """Write ``good`` and ``bad``: the second makes more mistakes and lags by a word more."""
    rng = random.Random(7)
    wanted = references(rng, n_lines)
    good = {
        f"wait:{k}": translations(rng, wanted, wrong=0.3 - 0.03 * k, late=k - 1) for k in (1, 3, 5)
    }
    bad = {f"wait:{k}": translations(rng, wanted, wrong=0.6 - 0.03 * k, late=k) for k in (1, 3, 5)}
    for runs, wrong in ((good, 0.1), (bad, 0.4)):
        runs["read:3"] = translations(rng, wanted, wrong=wrong, late=2)
        runs["offline"] = translations(rng, wanted, wrong=wrong, late=99)
    bad["read:5"] = translations(rng, wanted, wrong=0.4, late=4)
    return (
        write_run(tmp_path / "good", good, wanted),
        write_run(tmp_path / "bad", bad, wanted, system="retranslate"),
    )


def work_here(monkeypatch):
    """Let this process, where torch is imported already, be the workers one after the other."""

    def work(shares):
        for share in shares:
            yield from workers._translations(share)

    monkeypatch.setattr(workers, "_from_workers", work)


def write_test_set(folder):
    rng = random.Random(3)

    def text(n_lines):
        lines = [
            " ".join(random_word(rng) for _ in range(rng.randint(2, 7))) for _ in range(n_lines)
        ]
        return "".join(f"{line}\n" for line in lines)

    source, reference = folder / "test.en", folder / "test.de"
    source.write_text(text(4) + "\n")  # the last line is empty
    reference.write_text(text(4) + "eins\n")
    return source, reference


def evaluate_arguments(files, model, out, *more, policies=ALL_POLICIES, to="de"):
    source, reference = map(str, files)
    given = ["--source", source, "--reference", reference, "--to", to, "--policies", policies]
    return ["evaluate", *given, "--model", str(model), "--out", str(out), *more]


def evaluate(files, model, out, *more, **changes):
    return main(evaluate_arguments(files, model, out, *more, **changes))


def summary_of(out):
    return json.loads((out / "summary.json").read_text())
