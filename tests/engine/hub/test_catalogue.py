import pytest

from engine.hub.catalogue import KNOWN_MODELS, TRANSLATION_MODELS
from engine.models.model_card import forbids_commerce

PARAMETERS = {  # as the model cards on the hub say
    "Qwen/Qwen2.5-0.5B-Instruct": 494_032_768,
    "Qwen/Qwen3-0.6B": 596_049_920,
    "Qwen/Qwen2.5-1.5B-Instruct": 1_543_714_304,
    "Qwen/Qwen3-1.7B": 1_720_574_976,
}


@pytest.mark.parametrize("model", KNOWN_MODELS, ids=lambda model: model.name)
def test_a_shape_counts_the_parameters_its_owner_names(model):
    assert model.footprint.n_parameters == pytest.approx(PARAMETERS[model.name], rel=1e-3)


def test_no_model_is_too_large_for_a_laptop_or_forbidden_to_some():
    assert max(model.download_bytes for model in TRANSLATION_MODELS) < 5e9
    assert not any(forbids_commerce(model.licence) for model in TRANSLATION_MODELS)


def test_models_stand_from_the_smallest_to_the_largest():
    sizes = [model.download_bytes for model in KNOWN_MODELS]
    assert sizes == sorted(sizes)
