import pytest

from engine.models.model_card import allows_any_use, forbids_commerce


@pytest.mark.parametrize(
    ("licence", "forbids", "allows"),
    [
        ("MIT", False, True),
        ("apache-2.0", False, True),
        ("CC-BY-4.0", False, True),
        ("CC-BY-NC-4.0", True, False),
        ("cc-by-nc-sa-4.0", True, False),
        ("gemma", False, False),
        ("ncsa", False, False),
        ("", False, False),
    ],
)
def test_what_a_licence_allows_is_read_from_its_name_and_promised_only_where_it_is_known(
    licence, forbids, allows
):
    assert (forbids_commerce(licence), allows_any_use(licence)) == (forbids, allows)
