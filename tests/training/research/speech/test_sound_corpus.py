import numpy as np
import pytest

from tests.support.direct.corpora import tones, write_tones
from training.errors import CorpusError
from training.research.speech_corpus import read_sound, read_table, write_table


@pytest.fixture
def table(tmp_path):
    return write_tones(tmp_path / "letters.tsv", 5)


def test_what_was_written_is_read_again(table, tmp_path):
    lines = read_table(table)
    write_table(tmp_path / "again.tsv", lines)
    assert read_table(tmp_path / "again.tsv") == lines
    assert len({line.first for line in lines}) == 5
    for number, line in enumerate(lines):
        expected = tones(line.source.split(), number)
        np.testing.assert_allclose(read_sound(table, line), expected, atol=1 / 32767)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"first": "-1"}, "sound begins at 0"),
        ({"n_samples": "0"}, "has a sample"),
        ({"n_samples": "99999999"}, "too few for it"),
        ({"shard": "../letters"}, "a shard is the name of a file beside it"),
        ({"shard": ""}, "a shard is the name of a file beside it"),
        ({"shard": "other"}, "No such file"),
        ({"needs": "1"}, "as many needs"),
        ({"ends_ms": "1"}, "as many ends_ms"),
        ({"first": "x"}, "invalid literal"),
    ],
)
def test_a_line_that_is_no_utterance_is_refused_by_one_sentence(table, changes, what):
    names = ["shard", "first", "n_samples", "source", "target", "corpus", "needs", "ends_ms"]
    lines = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    for name, value in changes.items():
        lines[1][names.index(name)] = value
    table.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(CorpusError, match=f"^line 2 of .* is no utterance .*{what}"):
        read_table(table)
