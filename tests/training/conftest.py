"""A small model from nothing, trained once."""

import pytest

from tests.support.training_runs import pretrain, write_words


@pytest.fixture(scope="session")
def words(tmp_path_factory):
    """Aligned pairs of drawn words."""
    return write_words(tmp_path_factory.mktemp("data") / "en-de.tsv")


@pytest.fixture(scope="session")
def trained(words, tmp_path_factory):
    """The folder of an unbroken run of ``pretrain``."""
    out = tmp_path_factory.mktemp("trained") / "model"
    assert pretrain(words, out) == 0
    return out
