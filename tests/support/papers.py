"""What research adds to the mappings of the product, for a while."""

from contextlib import contextmanager

from training.research import methods


@contextmanager
def added():
    """Layouts, methods and systems of the papers are there."""
    mappings = (
        methods.registry.LAYOUTS, methods.methods.METHODS, methods.factory.TRANSLATORS,
        methods.SYSTEMS,
    )  # fmt: skip
    before = [dict(one) for one in mappings]
    methods.add()
    try:
        yield
    finally:
        for one, own in zip(mappings, before, strict=True):
            one.clear()
            one.update(own)
