"""Test reading and writing of parallel text."""

import gzip
import lzma

import pytest

from training.data.corpus import (
    BrokenRow,
    SentencePair,
    read_pairs,
    read_rows,
    write_pairs,
)
from training.errors import CorpusError

PAIRS = [
    SentencePair("Good morning.", "Guten Morgen.", "chat"),
    SentencePair('He said "no', "Er sagte „nein", "tatoeba"),
    SentencePair("A line\u2028separator is no border.", "Smile 🙂", "chat"),
]
TSV = "".join(f"{pair.source}\t{pair.target}\t{pair.corpus}\n" for pair in PAIRS).encode()
PACK = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("ending", PACK)
def test_a_tsv_is_read_plain_and_packed(tmp_path, ending):
    path = tmp_path / f"train.tsv{ending}"
    path.write_bytes(PACK[ending](TSV))
    assert list(read_pairs([path])) == PAIRS


@pytest.mark.parametrize("ending", PACK)
def test_two_aligned_files_are_read_plain_and_packed(tmp_path, ending):
    source, target = tmp_path / f"talk.en{ending}", tmp_path / f"talk.de{ending}"
    source.write_bytes(PACK[ending](b"One.\nTwo.\n"))
    target.write_bytes(PACK[ending](b"Eins.\nZwei."))  # the last line may lack its end
    assert list(read_pairs([source, target])) == [
        SentencePair("One.", "Eins.", "talk"),
        SentencePair("Two.", "Zwei.", "talk"),
    ]


@pytest.mark.parametrize("ending", PACK)
def test_what_is_written_is_read_again(tmp_path, ending):
    path = tmp_path / "new folder" / f"out.tsv{ending}"
    write_pairs(path, PAIRS)
    assert list(read_pairs([path])) == PAIRS


def test_a_byte_order_mark_and_carriage_returns_are_no_part_of_the_text(tmp_path):
    path = tmp_path / "windows.tsv"
    path.write_bytes(b"\xef\xbb\xbfHello.\tHallo.\r\nBye.\tTsch\xc3\xbcs.\r\n")
    assert list(read_pairs([path])) == [
        SentencePair("Hello.", "Hallo.", "windows"),
        SentencePair("Bye.", "Tschüs.", "windows"),
    ]


def test_a_pair_without_a_corpus_is_named_after_its_file(tmp_path):
    path = tmp_path / "mail.tsv.gz"
    path.write_bytes(gzip.compress(b"Hello.\tHallo.\nBye.\tCiao.\t\n"))
    assert [pair.corpus for pair in read_pairs([path])] == ["mail", "mail"]


def test_broken_rows_are_handed_on_with_their_line_and_reason(tmp_path):
    path = tmp_path / "mixed.tsv"
    path.write_bytes(b"Hello.\tHallo.\nno tab\nBye.\tTsch\xfcs.\n1\t2\t3\t4\n")
    assert list(read_rows([path])) == [
        SentencePair("Hello.", "Hallo.", "mixed"),
        BrokenRow(path, 2, "wrong number of columns", "no tab"),
        BrokenRow(path, 3, "invalid UTF-8", "Bye.\tTsch\ufffds."),
        BrokenRow(path, 4, "wrong number of columns", "1\t2\t3\t4"),
    ]


def test_strict_reading_stops_at_a_broken_row_and_names_its_place(tmp_path):
    path = tmp_path / "mixed.tsv"
    path.write_bytes(b"Hello.\tHallo.\nBye.\tTsch\xfcs.\n")
    with pytest.raises(CorpusError, match=r"mixed\.tsv has invalid UTF-8 in line 2"):
        list(read_pairs([path]))


@pytest.mark.parametrize(("n_source", "n_target"), [(3, 5), (5, 3), (1, 2)])
def test_unequal_line_counts_are_both_named(tmp_path, n_source, n_target):
    source, target = tmp_path / "talk.en", tmp_path / "talk.de"
    source.write_text("Hello.\n" * n_source)
    target.write_text("Hallo.\n" * n_target)
    message = rf"talk\.en has {n_source} and .*talk\.de has {n_target};"
    with pytest.raises(CorpusError, match=message):
        list(read_pairs([source, target]))


@pytest.mark.parametrize("ending", PACK)
def test_an_empty_file_is_an_error(tmp_path, ending):
    path = tmp_path / f"empty.tsv{ending}"
    path.write_bytes(PACK[ending](b""))
    with pytest.raises(CorpusError, match="is empty"):
        list(read_pairs([path]))


@pytest.mark.parametrize("ending", [".gz", ".xz"])
@pytest.mark.parametrize("damage", ["cut", "not packed"])
def test_a_damaged_archive_is_named(tmp_path, ending, damage):
    path = tmp_path / f"train.tsv{ending}"
    path.write_bytes(PACK[ending](TSV)[:-9] if damage == "cut" else TSV)
    with pytest.raises(CorpusError, match="cannot be read"):
        list(read_pairs([path]))


def test_a_failure_halfway_leaves_the_old_file_and_nothing_else(tmp_path):
    def failing():
        yield PAIRS[0]
        msg = "halfway"
        raise CorpusError(msg)

    path = tmp_path / "out.tsv"
    path.write_text("old")
    with pytest.raises(CorpusError, match="halfway"):
        write_pairs(path, failing())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
