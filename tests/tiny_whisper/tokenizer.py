"""The tokenizer of a tiny Whisper: a token for every word it knows, and Whisper's special ones.

Byte-level BPE trained on the sentences themselves. Timestamps come last and directly behind
``<|notimestamps|>``, where CTranslate2 looks for them.
"""

from collections.abc import Iterable

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = (
    "<|endoftext|>",
    "<|startoftranscript|>",
    "<|en|>",
    "<|translate|>",
    "<|transcribe|>",
    "<|startoflm|>",
    "<|startofprev|>",
    "<|nospeech|>",
    "<|notimestamps|>",
)
N_TIMESTAMPS = 1501
TIMESTAMP_S = 0.02


def train(sentences: Iterable[str]) -> Tokenizer:
    """Learn the words of some sentences; each becomes one token with the blank before it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1_000,
        min_frequency=1,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),  # faster-whisper looks up any symbol
    )
    tokenizer.train_from_iterator((" " + sentence for sentence in sentences), trainer)
    times = [f"<|{number * TIMESTAMP_S:.2f}|>" for number in range(N_TIMESTAMPS)]
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken(token, special=False) for token in times])
    return tokenizer


def timestamp(tokenizer: Tokenizer, time_s: float) -> int:
    """Find the token of a time within the 30 s that Whisper hears."""
    number = min(N_TIMESTAMPS - 1, max(0, round(time_s / TIMESTAMP_S)))
    return find(tokenizer, f"<|{number * TIMESTAMP_S:.2f}|>")


def find(tokenizer: Tokenizer, token: str) -> int:
    """Look up a token that every such tokenizer has."""
    number = tokenizer.token_to_id(token)
    if number is None:
        msg = f"expected a tokenizer made here, got one without {token}"
        raise ValueError(msg)
    return number
