"""Write the graph with which ONNX Runtime computes a model, and name it in the model's card."""

import hashlib
import logging
from dataclasses import replace
from pathlib import Path

from engine.errors import ModelError, message_of
from engine.models.llama_shape import WEIGHTS_FILE, read_llama_shape
from engine.models.model_card import GRAPH_FILE, GraphHashes, read_card
from engine.runtime.onnx.onnx_graph import graph_bytes
from engine.runtime.onnx.onnx_loader import MOST_PARAMETERS, UnfitGraphError, load_onnx
from engine.settings import ModelSettings
from engine.untrusted.model_folder import check_model_folder
from engine.untrusted.regular_file import file_sha256
from training.errors import TrainingError

_log = logging.getLogger(__name__)


def export_graph(folder: Path) -> GraphHashes:
    """Write ``graph.onnx`` into a model folder and its hashes into the card; load it once.

    The weights stay where they are. If the result cannot be loaded, the card names no graph.

    Raises:
        ModelError: the folder is no model folder of ours.
        TrainingError: its network is no plain Llama, or the result cannot be loaded.
    """
    check_model_folder(folder)
    card = read_card(folder)
    try:
        shape = read_llama_shape(folder)
        if shape.n_parameters > MOST_PARAMETERS:
            msg = (
                f"{folder} has {shape.n_parameters:,} parameters, and {MOST_PARAMETERS:,} are the "
                "most that are computed without torch: leave it as it is"
            )
            raise TrainingError(msg)
        graph = graph_bytes(shape)
        (folder / GRAPH_FILE).write_bytes(graph)
        hashes = GraphHashes(
            sha256=hashlib.sha256(graph).hexdigest(),
            weights_sha256=file_sha256(folder / WEIGHTS_FILE),
        )
    except (OSError, ValueError) as error:
        msg = (
            f"no graph can be written for {folder}, since its network is no plain Llama in one "
            f"file of weights ({message_of(error)}): it is computed by torch"
        )
        raise TrainingError(msg) from error
    replace(card, graph=hashes).save(folder)
    try:
        load_onnx(ModelSettings(directory=folder), card)
    except (ModelError, UnfitGraphError) as error:
        replace(card, graph=None).save(folder)
        msg = f"the graph of {folder} was written and cannot be loaded: {message_of(error)}"
        raise TrainingError(msg) from error
    _log.info("wrote %s", folder / GRAPH_FILE)
    return hashes
