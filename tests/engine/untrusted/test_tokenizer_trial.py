"""Tokenizers of strangers, tried in a process of their own."""

import pytest

from engine.untrusted import limited_process
from engine.untrusted.limited_process import try_pieces, try_tokenizer
from tests.engine.runtime.ctranslate2.tiny_models import train_pieces
from tests.support.fakes import save_tiny_model

pytestmark = pytest.mark.strangers


def test_a_tokenizer_that_its_library_reads_is_used_up_to_a_size(tmp_path, monkeypatch):
    try_tokenizer(save_tiny_model(tmp_path) / "tokenizer.json")
    train_pieces(tmp_path / "source.spm")
    try_pieces(tmp_path / "source.spm")
    monkeypatch.setattr(limited_process, "_MOST_BYTES_OF_PIECES", 1)
    with pytest.raises(ValueError, match=r"its source.spm is longer than 1 bytes"):
        try_pieces(tmp_path / "source.spm")


@pytest.mark.parametrize(
    ("try_it", "name"), [(try_tokenizer, "tokenizer.json"), (try_pieces, "source.spm")]
)
def test_what_its_library_cannot_read_is_refused_by_its_name(tmp_path, try_it, name):
    (tmp_path / name).write_text("{}")
    with pytest.raises(ValueError, match=f"its {name} cannot be used"):
        try_it(tmp_path / name)
