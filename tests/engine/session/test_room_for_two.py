import pytest

from engine.errors import ModelError
from engine.files import ByteCount
from engine.messages import Code
from engine.session.loaded_model import check_room


@pytest.mark.parametrize("name", ["model.safetensors", "ctranslate2-int8/model.bin"])
def test_a_second_model_is_refused_before_it_is_loaded_if_twice_its_files_have_no_room(
    tmp_path, name
):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"w" * 1000)
    check_room(tmp_path, 2000)
    check_room(tmp_path, None)
    with pytest.raises(ModelError) as refused:
        check_room(tmp_path, 1999)
    assert refused.value.message.code is Code.NO_ROOM_FOR_TWO
    assert all(isinstance(size, ByteCount) for size in refused.value.message.values.values())
