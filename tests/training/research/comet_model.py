"""Make a COMET model of random weights, so small that it scores at once.

.venv-comet/bin/python comet_model.py FOLDER
"""

import sys
from pathlib import Path

import torch
import yaml
from comet.models import RegressionMetric
from pytorch_lightning import __version__
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast, XLMRobertaConfig

SPECIAL = {
    "bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>",
    "mask_token": "<mask>",
}  # fmt: skip


def main():
    folder = Path(sys.argv[1])
    make_encoder(folder / "encoder")
    torch.manual_seed(0)
    settings = {
        "encoder_model": "XLM-RoBERTa", "pretrained_model": str(folder / "encoder"),
        "layer": "mix", "layer_transformation": "sparsemax", "layer_norm": False,
        "hidden_sizes": [8], "batch_size": 4,
    }  # fmt: skip
    metric = RegressionMetric(**settings, load_pretrained_weights=False)
    (folder / "checkpoints").mkdir()
    content = {
        "state_dict": metric.state_dict(),
        "hyper_parameters": dict(metric.hparams),
        "pytorch-lightning_version": __version__,
    }
    torch.save(content, folder / "checkpoints" / "model.ckpt")
    hparams = {"class_identifier": "regression_metric", **settings}
    (folder / "hparams.yaml").write_text(yaml.safe_dump(hparams))


def make_encoder(folder):
    """Write configuration and tokenizer, a piece for each of the first characters of Unicode."""
    pieces = [*SPECIAL.values(), "▁", *map(chr, range(33, 256))]
    tokenizer = Tokenizer(models.Unigram([(piece, -4.0) for piece in pieces], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **SPECIAL).save_pretrained(folder)
    XLMRobertaConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=200,
        type_vocab_size=1,
    ).save_pretrained(folder)


if __name__ == "__main__":
    main()
