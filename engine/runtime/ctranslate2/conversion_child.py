"""Convert a model folder by CTranslate2's converter; run as a process of its own.

The folder may come from a stranger, and was checked by ``engine.models.encoder_decoder.original``.
This file imports nothing of this package. ``engine.runtime.ctranslate2.conversion`` starts it,
writes a job to its input and reads a line of JSON for each step from its output. The process ends
when its input is closed, so it does not outlive the one that started it.
"""

import json
import os
import sys
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO, TypedDict, cast

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Job(TypedDict):
    """What is converted.

    Attributes:
        folder: of the original.
        out: of the converted weights; made here.
        precision: int8 or float16.
        vocabulary: tokens in the order of their ids.
        markers: by their roles in transformers, such as ``eos_token``.
        most_numbers: that the network may have.
    """

    folder: str
    out: str
    precision: str
    vocabulary: list[str]
    markers: dict[str, str]
    most_numbers: int


class _Vocabulary:
    """What the converter reads of a tokenizer; no tokenizer of the folder is loaded."""

    def __init__(self, tokens: Sequence[str], markers: Mapping[str, str]) -> None:
        self._tokens = tokens
        self.bos_token = markers["bos_token"]
        self.eos_token = markers["eos_token"]
        self.unk_token = markers["unk_token"]
        self.pad_token = markers["pad_token"]
        self.unk_token_id = tokens.index(self.unk_token)
        self.special_tokens_map = dict[str, list[str]]()

    def get_vocab(self) -> dict[str, int]:
        """Return the tokens with their ids."""
        return {token: id_ for id_, token in enumerate(self._tokens)}

    def convert_ids_to_tokens(self, id_: int) -> str:
        """Return a token."""
        return self._tokens[id_]


def _say(**values: str | float) -> None:
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def _end_with(source: BinaryIO) -> None:
    """End this process when its input is closed."""
    source.read(1)
    os._exit(1)


def _convert(job: Job) -> None:
    import torch  # noqa: PLC0415  after the first step was said
    from ctranslate2.converters import TransformersConverter  # noqa: PLC0415  likewise
    from huggingface_hub import constants  # noqa: PLC0415  likewise
    from transformers import (  # noqa: PLC0415  likewise
        AutoConfig,
        AutoModelForSeq2SeqLM,
    )
    from transformers.utils import logging  # noqa: PLC0415  likewise

    constants.HF_HUB_OFFLINE = True  # whatever a library asks for
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]

    class Converter(TransformersConverter):  # type: ignore[misc]  # CTranslate2 has no types
        def load_model(self, model_class: type, folder: str, **options: object) -> object:
            _check_size(job)
            _say(step="load")
            loaded = model_class.from_pretrained(  # type: ignore[attr-defined]
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
                **options,
            )
            network, found = cast("tuple[PreTrainedModel, dict[str, list[str]]]", loaded)
            if found["missing_keys"]:
                msg = f"its weights lack {sorted(found['missing_keys'])[0]}"
                raise ValueError(msg)
            settings = network.config
            if hasattr(settings, "scale_decoder_outputs"):
                # transformers 5 says of every T5 that its embeddings are tied, by which the
                # converter tells the outputs that are scaled: those of MADLAD are not
                settings.tie_word_embeddings = settings.scale_decoder_outputs
            _say(step="write")
            return network

        def load_tokenizer(self, *_names: object, **_options: object) -> _Vocabulary:
            return _Vocabulary(job["vocabulary"], job["markers"])

    def _check_size(job: Job) -> None:
        """Refuse a network that is larger than its weights, while it is only shapes."""
        config = AutoConfig.from_pretrained(
            job["folder"], local_files_only=True, trust_remote_code=False
        )
        with torch.device("meta"):
            shapes = AutoModelForSeq2SeqLM.from_config(  # type: ignore[no-untyped-call]
                config, trust_remote_code=False
            )
        if sum(one.numel() for one in shapes.parameters()) > job["most_numbers"]:
            msg = "its config.json asks for a larger network than it has weights for"
            raise ValueError(msg)

    Converter(job["folder"]).convert(job["out"], quantization=job["precision"])


def main() -> None:
    """Read a job, convert, say how far it is."""
    job = cast("Job", json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_end_with, args=(sys.stdin.buffer,), daemon=True).start()
    warnings.simplefilter("ignore")  # of libraries, for their programmers
    _say(step="start")
    try:
        _convert(job)
    except OSError as error:
        _say(failure=error.strerror or type(error).__name__, errno=error.errno or 0)
    except Exception as error:  # noqa: BLE001  libraries that read a stranger's files
        first = next(iter(str(error).strip().splitlines()), "")
        _say(failure=type(error).__name__, words=first[:200], ours=type(error) is ValueError)
    else:
        _say(step="done")
    sys.stdout.flush()
    os._exit(0)  # the thread that waits for the input's end cannot be ended otherwise


if __name__ == "__main__":
    main()
