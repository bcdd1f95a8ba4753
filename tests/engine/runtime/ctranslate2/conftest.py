import shutil

import pytest

from engine.runtime.ctranslate2.conversion import ready_folder
from tests.engine.runtime.ctranslate2.tiny_models import FAMILIES, make_encoder_decoder


@pytest.fixture(scope="session")
def originals(tmp_path_factory):
    """Tiny folders of all families; tests copy them before they change them."""
    home = tmp_path_factory.mktemp("originals")
    return {family: make_encoder_decoder(home / family, family) for family in FAMILIES}


@pytest.fixture(scope="session")
def converted(tmp_path_factory, originals):
    """The same, converted once, in float16, which their weights are exact in."""
    home = tmp_path_factory.mktemp("converted")
    folders = {}
    for family, folder in originals.items():
        folders[family] = shutil.copytree(folder, home / family)
        ready_folder(folders[family], "float16")
    (folders["marian"] / "model.safetensors").unlink()  # nothing may need it
    return folders


@pytest.fixture
def original(originals, tmp_path):
    """A copy of a tiny Marian folder, to be changed."""
    return shutil.copytree(originals["marian"], tmp_path / "marian")
