import pytest

from training import alignment
from training.__main__ import main
from training.align import read_aligned
from training.corpus import SentencePair, write_pairs

PAIRS = [
    SentencePair("a b c", "x y z", "chat"),
    SentencePair("d e", "v w", "tatoeba"),
    SentencePair("f", "u", "chat"),
]
AGREED = {(0, 0), (2, 1)}


@pytest.fixture
def prepared(tmp_path):
    write_pairs(tmp_path / "pairs.tsv", PAIRS)
    return tmp_path / "pairs.tsv"


def links_for(links):
    return lambda _pairs: iter(links)


def aligned(tmp_path, prepared):
    out = tmp_path / "aligned.tsv"
    assert main(["align", "--from", str(prepared), "--out", str(out)]) == 0
    return list(read_aligned([out]))


def test_pairs_get_the_words_they_need_where_the_directions_agree(tmp_path, prepared, monkeypatch):
    both = {(0, 0), (1, 1)}
    monkeypatch.setattr(
        alignment, "align", links_for([(AGREED, AGREED), (both, {(0, 0)}), ({(0, 0)}, set())])
    )
    written = aligned(tmp_path, prepared)
    assert [one.pair for one in written] == PAIRS
    assert [one.needs for one in written] == [(1, 3, 3), (1, 2), None]


def test_the_person_is_told_how_many_alignments_are_trusted(
    tmp_path, prepared, monkeypatch, capsys
):
    monkeypatch.setattr(alignment, "align", links_for([(AGREED, AGREED)] + [({(0, 0)}, set())] * 2))
    aligned(tmp_path, prepared)
    assert "1 of 3 pairs" in capsys.readouterr().err


def test_a_missing_file_is_one_sentence(tmp_path, capsys):
    arguments = [
        "align",
        "--from",
        str(tmp_path / "nowhere.tsv"),
        "--out",
        str(tmp_path / "out.tsv"),
    ]
    assert main(arguments) in (1, 2)
    message = capsys.readouterr().err
    assert "nowhere.tsv" in message
    assert message.count("\n") == 1


def test_without_an_aligner_the_target_is_spread_evenly(tmp_path, prepared):
    out = tmp_path / "aligned.tsv"
    assert main(["align", "--ratio", "--from", str(prepared), "--out", str(out)]) == 0
    assert [one.needs for one in read_aligned([out])] == [(1, 2, 3), (1, 2), (1,)]
