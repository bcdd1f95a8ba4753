"""Test the bounds of small TOML files."""

import pytest

from app.config.system import toml_file


def test_a_file_of_as_many_dots_as_are_allowed_is_read_and_one_more_is_refused(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("# " + "." * toml_file._MOST_DOTS)
    assert toml_file.parse(path) == {}
    path.write_text("# " + "." * (toml_file._MOST_DOTS + 1))
    with pytest.raises(ValueError, match="dots"):
        toml_file.parse(path)
