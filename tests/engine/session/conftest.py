import pytest

from engine.settings import ModelSettings


@pytest.fixture(scope="session")
def model(tiny):
    """Settings of the tiny model on the processor."""
    return ModelSettings(directory=tiny, device="cpu")
