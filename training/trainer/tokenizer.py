"""Train the joint tokenizer of a new model: byte-level BPE, so no text is unknown."""

from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from engine.models.model_card import LANGUAGE_NAMES, Language, ModelCard

PAD, BEGIN, END = "<|pad|>", "<|begin|>", "<|end|>"
USER, ASSISTANT = "<|user|>", "<|assistant|>"
END_OF_WRITE, END_OF_SOURCE = "<|end_of_write|>", "<|end_of_source|>"

LANGUAGES = ("de", "fr", "es", "it", "nl", "ro", "zh")
"""Every tokenizer reserves tags of these; their order decides ids."""


def chat_template(user: str, assistant: str) -> str:
    """Return a template in which each role is one token, and the system message comes first."""
    return (
        "{{ bos_token }}{% for message in messages %}"
        "{% if message.role == 'user' %}"
        + user
        + "{% elif message.role == 'assistant' %}"
        + assistant
        + "{% endif %}{{ message.content }}{% endfor %}"
    )


CHAT_TEMPLATE = chat_template(USER, ASSISTANT)
"""The system message is the language tag."""


def language_tag(language: str) -> str:
    return f"<|{language}|>"


def train_tokenizer(
    texts: Iterable[str], *, vocabulary: int, languages: Iterable[str]
) -> PreTrainedTokenizerFast:
    """Learn a byte-level BPE over source and target text together.

    Each digit is a token, so that numbers are copied digit by digit.

    Args:
        texts: lines of both languages; words are encoded with the blank before them.
        vocabulary: number of ids, markers included; a multiple of 64 suits every kernel.
        languages: target languages that get a tag; tags of all known languages are reserved.
    """
    tags = [language_tag(code) for code in dict.fromkeys([*languages, *LANGUAGES])]
    markers = [PAD, BEGIN, END, USER, ASSISTANT, END_OF_WRITE, END_OF_SOURCE, *tags]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=markers,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((f" {text}" for text in texts), trainer)
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        pad_token=PAD,
        bos_token=BEGIN,
        eos_token=END,
        additional_special_tokens=markers[3:],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def make_card(
    *,
    name: str,
    languages: Iterable[str],
    slot_length: int,
    policies: Iterable[str],
    one_end: bool = False,
) -> ModelCard:
    """Describe a model whose tokenizer ``train_tokenizer`` made.

    With ``one_end`` a write ends with the token that ends a target, as a chat model ends each turn.
    """
    return ModelCard(
        name=name,
        languages={
            code: Language(name=LANGUAGE_NAMES.get(code, code), system=language_tag(code))
            for code in languages
        },
        end_of_source=END_OF_SOURCE,
        end_of_write=END if one_end else END_OF_WRITE,
        end_of_target=END,
        slot_length=slot_length,
        policies=tuple(policies),
    )


def save_tokenizer(tokenizer: PreTrainedTokenizerFast, card: ModelCard, directory: Path) -> None:
    """Write tokenizer, chat template and card into a model folder."""
    tokenizer.save_pretrained(directory)
    card.save(directory)
