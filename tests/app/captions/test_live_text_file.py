import os

import pytest

from app.captions.live_text_file import LiveTextFile
from app.config.system.text_io import TextError


def test_each_caption_is_one_line_behind_what_is_there(tmp_path):
    path = tmp_path / "deep" / "it.txt"
    for texts in (["Guten\nMorgen.", " half \ud83d "], ["Ja."]):
        one = LiveTextFile(path)
        for text in texts:
            one.write(text)
        one.close()
        one.close()
    first, second, third = path.read_text("utf-8").splitlines()
    assert (first, third) == ("Guten Morgen.", "Ja.")
    assert second.startswith("half ")


@pytest.mark.skipif(os.name == "nt", reason="there files have no such rights")
@pytest.mark.parametrize("is_ours", [True, False])
def test_a_file_that_others_may_read_is_for_its_owner_alone_if_it_is_ours(tmp_path, is_ours):
    path = tmp_path / "it.txt"
    path.touch(0o644)
    one = LiveTextFile(path, is_ours=is_ours)
    one.write("Ja.")
    one.close()
    assert path.stat().st_mode & 0o777 == (0o600 if is_ours else 0o644)


def test_a_place_that_cannot_be_written_is_told_with_its_name(tmp_path):
    with pytest.raises(TextError, match=str(tmp_path)):
        LiveTextFile(tmp_path).write("Ja.")
