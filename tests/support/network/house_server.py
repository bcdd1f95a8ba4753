"""A computer that translates for others, within the process of a test."""

import contextlib

from app.serving.server import ServingSettings, TranslationServer
from engine.session.conversations import Conversations
from engine.session.loaded_model import LoadedModel
from engine.settings import ModelSettings, ServerSettings
from tests.support.fakes import save_plain_model

TOKEN = "a token of the tests, long"


def tiny_model(folder):
    """Return the settings of a small random model that ONNX Runtime computes."""
    return ModelSettings(directory=save_plain_model(folder), device="cpu", capacity=300)


@contextlib.contextmanager
def house_server(model, *, n_most=4, port=0, tokens=(TOKEN,), tls=None, idle_s=60.0):
    """Serve a model; yield the server, and how a desktop names it."""
    conversations = Conversations(LoadedModel(model, lambda _: None), n_most, idle_s=idle_s)
    settings = ServingSettings(port=port, tokens=tokens, tls=tls, most_clients=n_most)
    server = TranslationServer(settings, conversations)
    certificate = None if tls is None else tls.certificate
    try:
        yield (
            server,
            ServerSettings(
                address=server.address.replace("127.0.0.1", "localhost"),
                token=tokens[0] if tokens else "",
                certificate=certificate,
            ),
        )
    finally:
        server.close()
