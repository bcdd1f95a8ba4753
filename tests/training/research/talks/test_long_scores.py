"""Test the scores of whole talks: against OmniSTEval's command, and where nothing was written."""

import json
import random
import sys
from dataclasses import replace
from itertools import accumulate

import pytest
from omnisteval.data import Instance
from omnisteval.scoring import LAALScorer

from engine.metrics.latency import real_time_delays
from tests.support.programs.run import ran
from tests.support.run_folders import WORDS, translations
from training.research.talks import Talk, score, soft_resegment

MS = 500.0
"""Of a source word: one whose multiples are exact, since OmniSTEval drops what comes at the end."""


def drawn_talks(rng, n_talks):
    """Draw talks and translations that lag and err; computing comes and goes as speech does."""
    talks, made = [], []
    for _ in range(n_talks):
        lengths = [rng.randint(2, 9) for _ in range(rng.randint(2, 6))]
        texts = [" ".join(rng.choices(WORDS, k=length)) for length in lengths]
        talks.append(Talk(sources=tuple(texts), references=tuple(texts)))
        (one,) = translations(rng, [" ".join(texts)], wrong=0.2, late=rng.randint(0, 4))
        ms = tuple(rng.uniform(1, 700) for _ in one.source)
        shares = sorted(rng.random() for _ in one.delays)
        emitted = tuple(ms[n - 1] * share for n, share in zip(one.delays, shares, strict=True))
        made.append(replace(one, ms=ms, emitted_ms=emitted))
    return talks, made


def run_omnisteval(folder, talks, made):
    """Let OmniSTEval's command cut and score translations; return its segments and scores."""
    segments, references = [], []
    for number, talk in enumerate(talks, start=1):
        for n_before, length in zip(
            accumulate(talk.lengths, initial=0), talk.lengths, strict=False
        ):
            start, end = n_before * MS / 1000, (n_before + length) * MS / 1000
            span = {"wav": f"{number:06d}.wav", "offset": start, "duration": end - start}
            segments.append(f"- {json.dumps(span)}\n")
        references += [f"{text}\n" for text in talk.references]
    (folder / "segments.yaml").write_text("".join(segments))
    (folder / "reference.txt").write_text("".join(references))
    rows = [
        json.dumps(
            {
                "source": f"{number:06d}.wav",
                "prediction": one.hypothesis,
                "delays": [delay * MS for delay in one.delays],
                "elapsed": [delay * MS for delay in real_time_delays(one)],
            }
        )
        for number, one in enumerate(made, start=1)
    ]
    (folder / "hypotheses.jsonl").write_text("".join(f"{row}\n" for row in rows))
    files = {
        "speech_segmentation": "segments.yaml",
        "ref_sentences_file": "reference.txt",
        "hypothesis_file": "hypotheses.jsonl",
        "output_folder": "out",
    }
    options = [f"--{name}={folder / file}" for name, file in files.items()]
    command = [sys.executable, "-m", "omnisteval.cli", "longform", "--word_level", *options]
    ran(*command, text=False, check=True, timeout=500)
    cut = (folder / "out" / "instances.resegmented.jsonl").read_text().splitlines()
    scores = (folder / "out" / "scores.tsv").read_text().splitlines()[1:]
    return [json.loads(row) for row in cut], {
        name: float(value) for name, value in (row.split("\t") for row in scores)
    }


@pytest.mark.slow
def test_cuts_and_scores_are_omnistevals(tmp_path):
    talks, made = drawn_talks(random.Random(4), 12)
    cut, theirs = run_omnisteval(tmp_path, talks, made)
    cuts = [
        soft_resegment(one.hypothesis, talk.references, "de")
        for talk, one in zip(talks, made, strict=True)
    ]
    assert [part.text for own in cuts for part in own] == [row["prediction"] for row in cut]
    ours = score("read:3", made, talks, cuts, cuts, "de")
    assert ours.bleu_soft == pytest.approx(theirs["BLEU"], abs=1e-4)
    assert ours.chrf_soft == pytest.approx(theirs["chrF"], abs=1e-4)
    assert ours.long_yaal * MS == pytest.approx(theirs["LongYAAL (CU)"], abs=1e-4)
    assert ours.long_yaal_ca * MS == pytest.approx(theirs["LongYAAL (CA)"], abs=1e-4)
    assert ours.long_yaal_ca > ours.long_yaal + 0.5
    segments = [Instance.from_dict(row) for row in cut]
    for computing, laal in ((False, ours.stream_laal), (True, ours.stream_laal_ca)):
        assert laal * MS == pytest.approx(LAALScorer(computation_aware=computing)(segments))
