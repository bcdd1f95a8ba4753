import json
import random

import pytest

from training.__main__ import main
from training.data import alignment
from training.data.alignment import read_aligned
from training.data.corpus import SentencePair, write_pairs
from training.errors import CorpusError, TrainingError

PAIRS = [
    SentencePair("a b c", "x y z", "chat"),
    SentencePair("d e", "v w", "tatoeba"),
    SentencePair("f", "u", "chat"),
]
AGREED = {(0, 0), (2, 1)}
NONE = set()


@pytest.fixture
def prepared(tmp_path):
    write_pairs(tmp_path / "pairs.tsv", PAIRS)
    return tmp_path / "pairs.tsv"


@pytest.fixture
def links(monkeypatch):
    """Two directions for each pair, as the aligner would give them."""
    half = {(0, 0), (1, 1)}
    found = [(AGREED, AGREED), (half, {(0, 0)}), ({(0, 0)}, NONE)]
    monkeypatch.setattr(alignment, "align", lambda _pairs: iter(found))


def aligned(tmp_path, prepared, *arguments):
    out = tmp_path / "pairs.aligned.tsv"
    assert main(["align", "--from", str(prepared), "--out", str(out), *arguments]) == 0
    return list(read_aligned([out]))


def statistics(tmp_path):
    return json.loads((tmp_path / "pairs.aligned.json").read_text())


@pytest.mark.usefixtures("links")
def test_pairs_get_the_words_they_need_where_the_directions_agree(tmp_path, prepared):
    written = aligned(tmp_path, prepared)
    assert [one.pair for one in written] == PAIRS
    assert [one.needs for one in written] == [(1, 3, 3), (1, 2), None]


@pytest.mark.usefixtures("links")
def test_statistics_stand_beside_the_pairs(tmp_path, prepared):
    aligned(tmp_path, prepared)
    values = statistics(tmp_path)
    assert values["aligner"] == "eflomal"
    assert (values["pairs"], values["scheduled"]) == (3, 2)
    assert values["dropped"] == {"the two directions agree too little": 1}
    assert values["corpora"] == {
        "chat": {"pairs": 2, "scheduled": 1},
        "tatoeba": {"pairs": 1, "scheduled": 1},
    }
    assert values["mean_agreement"] == 0.5


def test_pairs_that_no_schedule_fits_are_kept_without_one(tmp_path, prepared, monkeypatch):
    pairs = [*PAIRS[:2], SentencePair("g", "", "chat")]
    write_pairs(prepared, pairs)
    found = [(NONE, NONE), ({(0, 0)}, {(1, 1)}), (NONE, NONE)]
    monkeypatch.setattr(alignment, "align", lambda _pairs: iter(found))
    assert [one.needs for one in aligned(tmp_path, prepared)] == [None] * 3
    assert statistics(tmp_path)["dropped"] == {
        "no word has a link": 1,
        "the two directions agree too little": 1,
        "a side has no words": 1,
    }


def test_without_an_aligner_the_target_is_spread_evenly(tmp_path, prepared, monkeypatch):
    monkeypatch.setattr(alignment, "align", None)
    written = aligned(tmp_path, prepared, "--ratio")
    assert [one.needs for one in written] == [(1, 2, 3), (1, 2), (1,)]
    values = statistics(tmp_path)
    assert (values["scheduled"], values["dropped"]) == (3, {})
    assert values["aligner"] is values["min_agreement"] is values["mean_agreement"] is None


def test_the_real_aligner_schedules_a_language_whose_pairs_of_words_are_swapped(tmp_path):
    pytest.importorskip("eflomal")
    rng = random.Random(0)
    names = "red green blue one two six north south"
    target = dict(zip(names.split(), "rot grün blau eins zwei sechs nord süd".split(), strict=True))
    pairs = []
    for _ in range(200):
        words = rng.sample(sorted(target), 4)
        turned = (words[1], words[0], words[3], words[2])
        pairs.append(SentencePair(" ".join(words), " ".join(map(target.get, turned)), "test"))
    write_pairs(tmp_path / "pairs.tsv", pairs)
    needs = [one.needs for one in aligned(tmp_path, tmp_path / "pairs.tsv")]
    assert needs.count((2, 2, 4, 4)) > 180


# --- what is refused ------------------------------------------------------------------------------


def test_where_the_aligner_fails_what_was_there_stays(tmp_path, prepared, capsys, monkeypatch):
    before = aligned(tmp_path, prepared, "--ratio")

    def failing(_pairs):
        yield AGREED, AGREED
        reason = "disk full"
        raise TrainingError(reason)

    monkeypatch.setattr(alignment, "align", failing)
    out = tmp_path / "pairs.aligned.tsv"
    assert main(["align", "--from", str(prepared), "--out", str(out)]) == 1
    assert "disk full" in capsys.readouterr().err
    assert list(read_aligned([out])) == before
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a b\tx y\tchat", "4 columns"),
        ("a b\tx y\tchat\t1 2\t", "4 columns"),
        ("a b\tx y\tchat\tone two", "invalid literal"),
        ("a b\tx y\tchat\t1", "2 target words need as many numbers, got 1"),
        ("a b\tx y\tchat\t0 1", "rise from 1"),
        ("a b\tx y\tchat\t1 3", "at most 2 source words"),
        ("a b\tx y z\tchat\t1 2 1", "rise from 1"),
        ("a b\t\udcff\tchat\t1", "invalid start byte"),
    ],
)
def test_a_line_that_align_did_not_write_is_told_with_its_number(tmp_path, line, reason):
    path = tmp_path / "pairs.tsv"
    path.write_text("a\tx\tchat\t1\n" + line + "\n", errors="surrogateescape")
    with pytest.raises(CorpusError, match=f"line 2 of .*{reason}"):
        list(read_aligned([path]))
