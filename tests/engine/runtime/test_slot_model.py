import pytest
import torch

from engine.layout.rows import IGNORE
from engine.runtime.loader import load_weights
from engine.runtime.torch.attention import Attention
from engine.runtime.torch.torch_store import slot_model
from engine.settings import ModelSettings
from tests.support.fakes import save_tiny_model, tiny_weights
from tests.support.rows import passes, rows_with_small_ids
from training.trainer.samples.batches import Example, pad


def test_feeding_pass_by_pass_in_float32_equals_one_padded_batch():
    samples = [rows_with_small_ids(seed) for seed in range(6)]
    network = tiny_weights(torch.float32).network
    batch = pad([Example(rows, ends_writes=False) for rows in samples])
    with torch.inference_mode():
        at_once = network(
            input_ids=batch.ids,
            position_ids=batch.places.encoded,
            attention_mask=batch.bias(Attention.of(network)),
            use_cache=False,
        ).logits
    for number, rows in enumerate(samples):
        model = slot_model(network, len(rows))
        for fed in passes(rows):
            logits = model.feed(fed)
            index = model.n_rows - 1
            assert rows[index] == fed[-1]
            assert rows[index].label != IGNORE
            torch.testing.assert_close(logits, at_once[number, index], rtol=0, atol=1e-3)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_says_what_the_cpu_says(tmp_path):
    saved = save_tiny_model(tmp_path)
    rows = rows_with_small_ids(0)
    logits = []
    for device in ("cpu", "cuda"):
        network = load_weights(ModelSettings(directory=saved, device=device)).network
        logits.append(slot_model(network, 100).feed(rows).cpu())
    torch.testing.assert_close(*logits, rtol=0, atol=1e-3)
