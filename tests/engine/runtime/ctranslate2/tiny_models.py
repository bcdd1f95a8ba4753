"""Tiny folders of Marian, M2M-100, NLLB and MADLAD with random weights, as they are published."""

import io
import json
import random

import sentencepiece
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    T5Config,
    T5ForConditionalGeneration,
)

FAMILIES = ("marian", "m2m100", "nllb", "madlad")
LANGUAGES = {
    "marian": ("de",),
    "m2m100": ("en", "de", "fr", "pl"),
    "nllb": ("en", "de", "fr", "pl"),
    "madlad": ("en", "de", "fr", "pl"),
}
_FLORES = {"en": "eng_Latn", "de": "deu_Latn", "fr": "fra_Latn", "pl": "pol_Latn"}
_WORDS = "the a house is green and we go to see 12 old books in Rome das Haus grün maison livre"
_SIZES = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 128,
}


def make_encoder_decoder(folder, family, *, licence="apache-2.0", seed=0):
    """Write such a folder; ``README.md`` names its licence as the hub does."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    network = _MAKERS[family](folder)
    with torch.no_grad():
        for one in network.parameters():
            one.copy_(torch.randn_like(one).mul(0.3).half())  # exact in float16
        if family == "marian":
            network.model.shared.weight[-1] = 0  # its decoder begins with the zeros of <pad>
    network.save_pretrained(folder)
    if family == "madlad":
        _untie(folder)
    (folder / "README.md").write_text(f"---\nlicense: {licence}\nlanguage: en\n---\n# A model\n")
    return folder


def train_pieces(path, words=_WORDS, **options):
    """Train sentencepiece on a few words; return its pieces in their order."""
    rng = random.Random(1)
    lines = (" ".join(rng.choices(words.split(), k=9)) for _ in range(200))
    content = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        **{"vocab_size": 60, "hard_vocab_limit": False, "character_coverage": 1.0, **options},
        sentence_iterator=lines,
        model_writer=content,
        minloglevel=2,
    )
    path.write_bytes(content.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [processor.id_to_piece(n) for n in range(len(processor))]


def _write_json(path, content):
    path.write_text(json.dumps(content))


def _marian(folder):
    pieces = [
        piece
        for name in ("source.spm", "target.spm")
        for piece in train_pieces(folder / name)
        if piece not in ("<s>", "</s>", "<unk>")
    ]
    vocabulary = ["</s>", "<unk>", *dict.fromkeys(pieces), "<pad>"]
    _write_json(folder / "vocab.json", {one: n for n, one in enumerate(vocabulary)})
    settings = {"source_lang": "eng", "target_lang": "deu", "tokenizer_class": "MarianTokenizer"}
    _write_json(folder / "tokenizer_config.json", settings)
    pad = len(vocabulary) - 1
    ends = {"pad_token_id": pad, "decoder_start_token_id": pad, "eos_token_id": 0}
    sizes = {"vocab_size": pad + 1, "decoder_vocab_size": pad + 1, "forced_eos_token_id": 0}
    return MarianMTModel(MarianConfig(**_SIZES, **ends, **sizes))


def _m2m100(folder):
    pieces = train_pieces(folder / "sentencepiece.bpe.model", model_type="bpe")
    vocabulary = ["<s>", "<pad>", "</s>", "<unk>", *pieces[3:]]
    _write_json(folder / "vocab.json", {one: n for n, one in enumerate(vocabulary)})
    languages = [f"__{code}__" for code in LANGUAGES["m2m100"]]
    _name_specials(folder, languages, "M2M100Tokenizer")
    size = len(vocabulary) + len(languages) + 8
    return M2M100ForConditionalGeneration(M2M100Config(**_SIZES, vocab_size=size))


def _nllb(folder):
    pieces = train_pieces(folder / "sentencepiece.bpe.model", model_type="bpe")
    languages = list(_FLORES.values())
    _name_specials(folder, languages, "NllbTokenizer")
    size = len(pieces) + 1 + len(languages) + 1
    return M2M100ForConditionalGeneration(M2M100Config(**_SIZES, vocab_size=size))


def _name_specials(folder, languages, kind):
    roles = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    content = {**roles, "additional_special_tokens": languages}
    _write_json(folder / "special_tokens_map.json", content)
    _write_json(folder / "tokenizer_config.json", {"tokenizer_class": kind})


def _madlad(folder):
    symbols = [f"<2{code}>" for code in LANGUAGES["madlad"]]
    ids = {"unk_id": 0, "pad_id": 1, "eos_id": 2, "bos_id": -1}
    pieces = train_pieces(
        folder / "spiece.model",
        vocab_size=330,
        user_defined_symbols=symbols,
        byte_fallback=True,
        **ids,
    )
    _write_json(folder / "tokenizer_config.json", {"tokenizer_class": "T5Tokenizer"})
    config = T5Config(
        vocab_size=len(pieces),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=1,
        pad_token_id=1,
        eos_token_id=2,
    )
    return T5ForConditionalGeneration(config)


def _untie(folder):
    """Give the outputs weights of their own, as MADLAD's; transformers 5 ties those of every T5."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    tensors["lm_head.weight"] = torch.randn_like(tensors["shared.weight"]).half().float()
    save_file(tensors, path, metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config.pop("scale_decoder_outputs", None)
    _write_json(folder / "config.json", {**config, "tie_word_embeddings": False})


_MAKERS = {"marian": _marian, "m2m100": _m2m100, "nllb": _nllb, "madlad": _madlad}
