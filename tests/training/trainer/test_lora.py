import copy

import pytest
import torch

from engine.models.adapters.adapter import inspect_adapter
from engine.models.fingerprint import Fingerprint
from tests.support.adapter_folders import tiny_card
from tests.support.networks import ARCHITECTURES, tiny_network
from training.settings import LoraSettings
from training.trainer.finetuning import attach_lora, save_adapter, whole_factors

IDS = torch.tensor([[3, 40, 80, 300, 7, 21]])


def fingerprint(network):
    """As read from a config, for the tiny networks."""
    config = network.config
    heads = config.num_attention_heads
    falcon = config.model_type == "falcon"
    kv_heads = (1 if config.multi_query else heads) if falcon else config.num_key_value_heads
    head_size = getattr(config, "head_dim", None) or config.hidden_size // heads
    return Fingerprint(
        architecture=config.model_type,
        layers=config.num_hidden_layers,
        hidden_size=config.hidden_size,
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        feed_forward=config.ffn_hidden_size if falcon else config.intermediate_size,
        vocabulary=config.vocab_size,
        tokenizer_sha256="0f" * 32,
    )


def adapted(architecture, settings=None):
    network = copy.deepcopy(tiny_network(architecture, torch.float32))
    torch.manual_seed(0)
    lora = attach_lora(network, settings or LoraSettings(rank=4), architecture)
    return network, lora


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_adapter_that_is_not_trained_changes_nothing_and_only_factors_move(architecture):
    network, _ = adapted(architecture)
    with torch.inference_mode():
        before = tiny_network(architecture, torch.float32)(IDS).logits
        torch.testing.assert_close(network(IDS).logits, before)
    trained = [name for name, one in network.named_parameters() if one.requires_grad]
    assert trained
    assert all(".lora_" in name for name in trained)


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing. is deprecated:FutureWarning")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_folder_is_what_the_engine_and_peft_make_of_it(architecture, tmp_path):
    """Written by us, judged by the engine, loaded by peft: the network that was trained."""
    from peft import PeftModel  # noqa: PLC0415  takes seconds

    network, lora = adapted(architecture)
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.requires_grad:
                parameter.add_(0.05 * torch.randn_like(parameter))
    card = tiny_card(fingerprint(network))
    save_adapter(tmp_path, whole_factors(network), lora, card)
    adapter = inspect_adapter(tmp_path, fingerprint(network))
    assert adapter.reason is None
    assert adapter.lora.rank == 4
    plain = copy.deepcopy(tiny_network(architecture, torch.float32))
    loaded = PeftModel.from_pretrained(plain, str(tmp_path), local_files_only=True).eval()
    with torch.inference_mode():
        torch.testing.assert_close(loaded(IDS).logits, network(IDS).logits)
        assert not torch.equal(
            network(IDS).logits, tiny_network(architecture, torch.float32)(IDS).logits
        )


def test_only_the_targets_that_are_named_are_trained():
    network, lora = adapted("llama", LoraSettings(rank=2, targets=("v_proj", "q_proj")))
    assert lora.targets == ("q_proj", "v_proj")
    names = {name.split(".")[4] for name, one in network.named_parameters() if one.requires_grad}
    assert names == {"q_proj", "v_proj"}


def test_factors_are_kept_in_float32_on_a_base_in_bfloat16():
    network = copy.deepcopy(tiny_network("llama", torch.bfloat16))
    attach_lora(network, LoraSettings(rank=2), "tiny")
    kinds = {(one.requires_grad, one.dtype) for one in network.parameters()}
    assert kinds == {(True, torch.float32), (False, torch.bfloat16)}
