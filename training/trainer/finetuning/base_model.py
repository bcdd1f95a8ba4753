"""The base of an adapter: its folder, card, tokenizer and network.

A base needs no surtitle.json: the recipe then has its content, which goes into the adapter's card.
Only safetensors are read, and no code of a folder is run.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from tqdm import tqdm
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from engine.hub.download import Fetching, fetch_model
from engine.models.fingerprint import Fingerprint, read_fingerprint
from engine.models.instruct_card import ask_for
from engine.models.model_card import FILE_NAME, Language, ModelCard, read_card
from engine.runtime.torch.torch_loader import load_network, load_tokenizer
from engine.settings import LayoutSettings
from engine.text.prompt import turn_end
from engine.untrusted.safe_names import is_hub_name
from training.errors import TrainingError, UsageError
from training.evaluation.model_choice import find_model
from training.settings import PromptSettings, TrainSettings

_RESERVED = ("<|reserved_special_token_0|>", "<unused0>", "<|endoftext|>", "<|extra_0|>")
"""Tokens that never occur in chats, so that one of them can end the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A base before training, without its network.

    Attributes:
        name: for messages and the card.
        folder: of the model.
        fingerprint: identifies the model that the adapter fits.
        tokenizer: with the recipe's chat template, if there is one.
        card: prompts, markers and languages of this run.
    """

    name: str
    folder: Path
    fingerprint: Fingerprint
    tokenizer: PreTrainedTokenizerFast
    card: ModelCard


def find_base(settings: TrainSettings, policies: tuple[str, ...]) -> Base:
    """Read the base, all but its weights.

    Args:
        settings: of the run.
        policies: trained policies, for the card.

    Raises:
        ModelError: config, tokenizer or card cannot be read.
        UsageError: neither recipe nor card has its prompt or markers.
    """
    folder = find_folder(settings)
    fingerprint = read_fingerprint(folder)
    tokenizer = load_tokenizer(folder)
    if settings.prompt.chat_template:
        tokenizer.chat_template = settings.prompt.chat_template
    own = read_card(folder) if (folder / FILE_NAME).exists() else None
    name = own.name if own else settings.base
    languages = _languages(settings, own, name)
    end_of_source, end_of_write, end_of_target = _ends(settings.prompt, own, tokenizer, name)
    card = ModelCard(
        name=name,
        languages=languages,
        end_of_source=end_of_source,
        end_of_write=end_of_write,
        end_of_target=end_of_target,
        slot_length=settings.slot_lengths[0] if settings.slot_lengths else _slot_length(own),
        policies=policies,
    )
    return Base(name=name, folder=folder, fingerprint=fingerprint, tokenizer=tokenizer, card=card)


def base_network(
    base: Base, *, quantise: str, device: torch.device, in_bf16: bool
) -> PreTrainedModel:
    """Load the weights of a base, whole or in 4 bits.

    Raises:
        ModelError: they cannot be loaded.
        TrainingError: there is too little memory.
    """
    dtype = torch.bfloat16 if in_bf16 else torch.float32
    try:
        return load_network(base.folder, quantise=quantise, device=device, dtype=dtype)
    except (torch.OutOfMemoryError, MemoryError) as error:
        msg = (
            f"the base in {base.folder} does not fit into the memory of {device}: keep it in 4 "
            "bits with --quantise nf4, or choose a smaller one"
        )
        raise TrainingError(msg) from error


def recompute_activations(network: PreTrainedModel) -> None:
    """Keep only the inputs of blocks, and recompute the rest for the gradients."""
    # transformers 5.23 renamed it and warns of the old name
    name = "activation_checkpointing_enable"
    enable = getattr(network, name, network.gradient_checkpointing_enable)
    enable({"use_reentrant": False})


def find_folder(settings: TrainSettings) -> Path:
    """Find the folder of a base, or fetch it from the hub.

    Raises:
        HubError: it cannot be fetched; received parts are kept for the next attempt.
        UsageError: it is neither a folder nor a name on the hub.
    """
    if not settings.base:
        return find_model(None, settings.languages[0])[0]
    folder = Path(settings.base)
    if folder.is_dir():
        return folder
    if not is_hub_name(settings.base):
        msg = f"there is no model folder {settings.base}: name a folder, or a base on the hub"
        raise UsageError(msg)
    with tqdm(desc=settings.base, unit="B", unit_scale=True, disable=None, leave=False) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        return fetch_model(settings.base, settings.models, Fetching(progress=show))


def _slot_length(own: ModelCard | None) -> int:
    """Return the slot length of a base; the usual one where it was trained without slots."""
    return LayoutSettings().slot_length if own is None or own.slot_length == 1 else own.slot_length


def _languages(settings: TrainSettings, own: ModelCard | None, name: str) -> dict[str, Language]:
    languages = dict[str, Language]()
    for code in settings.languages:
        if settings.prompt.system or own is None:
            text, source = settings.prompt.system, settings.source_language
            languages |= ask_for([code], text=text, source=source)
        elif code in own.languages:
            languages[code] = own.languages[code]
        else:
            msg = (
                f"the base {name} has no system message for {code!r}: write one into a recipe, "
                "under prompt.system"
            )
            raise UsageError(msg)
    return languages


def _ends(
    prompt: PromptSettings,
    own: ModelCard | None,
    tokenizer: PreTrainedTokenizerFast,
    name: str,
) -> tuple[str, str, str]:
    """Return the tokens that end source, write and target, from recipe, card or tokenizer."""
    if own:
        defaults = (own.end_of_source, own.end_of_write, own.end_of_target)
    else:
        end, known = turn_end(tokenizer, name), tokenizer.get_vocab()
        reserved = next((token for token in _RESERVED if token in known and token != end), "")
        defaults = (reserved, end, end)
    asked = (prompt.end_of_source, prompt.end_of_write, prompt.end_of_target)
    source, write, target = (
        token or default for token, default in zip(asked, defaults, strict=True)
    )
    if not (source and write and target):
        msg = (
            f"nothing tells which tokens of {name} end source, write and target: name them in a "
            "recipe, under prompt"
        )
        raise UsageError(msg)
    return source, write, target
