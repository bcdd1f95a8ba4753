"""A toy task: waiting is learnt where it pays, and unlearnt where it does not.

A network of two layers is first taught, by the ordinary loss, to translate two kinds of two-word
sentences, and to wait for the second word half of the time. ``h a!`` is worth waiting for: nobody
knows after ``h`` what comes. ``a h!`` is not: ``h`` says nothing. Then the command itself learns,
on one kind of sentence or the other.
"""

import copy
import itertools
import json
import statistics

import pytest
import torch

from engine.runtime.torch.attention import Attention
from engine.settings import LayoutSettings
from engine.text.prompt import make_prompt
from tests.support.fakes import WORD_FOR_WORD, tiny_weights
from training.research.__main__ import main
from training.research.seqpo import RECIPES, Request, Rollouts
from training.trainer.loss import ForwardLoss, Markers
from training.trainer.stream import Example, pad
from training.trainer.tokenizer import save_tokenizer

NOUNS = "abcd"
WORTH_WAITING = [f"h {noun}!" for noun in NOUNS]
NOT_WORTH = [f"{noun} h!" for noun in NOUNS]


def target(source):
    (noun,) = set(source.rstrip("!").split()) - {"h"}
    return WORD_FOR_WORD[noun]


class Taught(Rollouts):
    """Translations whose tokens are prescribed: to wait, or to say the word at once."""

    def _choice(self, request):
        tokenizer = self._weights.tokenizer
        end = make_prompt(tokenizer, self._weights.card, "de").end_of_write
        (word,) = tokenizer.encode(" " + target(request.source), add_special_tokens=False)
        ids = [end, word, end] if request.seed == "wait" else [word, end, end]
        following = iter(ids)
        return lambda _: next(following)


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A model folder that translates both kinds, and waits half of the time."""
    torch.set_num_threads(1)
    weights = tiny_weights(torch.float32)
    network = copy.deepcopy(weights.network)
    taught = Taught(weights, LayoutSettings(slot_length=16), n_lanes=4, temperature=1.0)
    requests = [
        Request(source=source, language="de", policy="read:1", seed=how)
        for source, how in itertools.product([*WORTH_WAITING, *NOT_WORTH], ("wait", "at once"))
    ]
    batch = pad([Example(one.rows, ends_writes=True) for one in taught.sample(requests)])
    markers = Markers.of(make_prompt(weights.tokenizer, weights.card, "de"))
    loss = ForwardLoss(markers=markers, smoothing=0.0, attention=Attention.of(network))
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=0.0)
    for _ in range(150):
        optimizer.zero_grad()
        found = loss(network, batch)
        found.backward()
        optimizer.step()
    folder = tmp_path_factory.mktemp("start")
    network.save_pretrained(folder)
    save_tokenizer(weights.tokenizer, weights.card, folder)
    return folder


def learn(start, folder, sources, *arguments):
    recipe = folder / "toy.toml"  # here all waits may be right ones
    text = (RECIPES / "seqpo.toml").read_text(encoding="utf-8")
    recipe.write_text(text.replace("[seqpo]\n", "[seqpo]\nmax_empty = 1.0\n"), encoding="utf-8")
    lines = [f"{source}\t{target(source)}\ttoy\t" for source in sources]
    data = write_lines(folder / "data.tsv", lines)
    out = folder / "out"
    command = [
        "seqpo", "--data", f"de={data}", "--base", str(start), "--out", str(out), "--all-weights",
        "--policies", "read:1", "--sources", "4", "--group", "8", "--lanes", "32", "--rate", "1e-3",
        "--device", "cpu", "--steps", "30", "--recipe", str(recipe), *arguments,
    ]  # fmt: skip
    assert main(command) == 0
    return out


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(("sources", "waits"), [(WORTH_WAITING, True), (NOT_WORTH, False)])
def test_waiting_is_learnt_where_it_pays_and_unlearnt_where_it_does_not(
    start, tmp_path, sources, waits
):
    lines = lines_of(learn(start, tmp_path, sources) / "steps.jsonl")
    shares = [line["empty_writes"] for line in lines]
    assert 0.25 < shares[0] < 0.75
    last = statistics.fmean(shares[-5:])
    assert last > 0.9 if waits else last < 0.1
    qualities = [line["quality"] for line in lines]
    assert statistics.fmean(qualities[-5:]) > 0.9
    if waits:
        assert qualities[0] < 0.8  # it had to guess


def test_a_run_that_harms_ends_by_itself_and_leaves_nothing(start, tmp_path, caplog):
    paths = (
        write_lines(tmp_path / "dev.en", NOT_WORTH),
        write_lines(tmp_path / "dev.de", map(target, NOT_WORTH)),
    )
    dev = ["--dev", "de={},{}".format(*paths), "--dev-policies", "read:1", "--every", "1"]
    harmful = ["--rate", "1", *dev]
    out = learn(start, tmp_path, NOT_WORTH, *harmful)
    assert "chrF fell from 100.0 at the start" in caplog.text
    n_steps = len(lines_of(out / "steps.jsonl"))
    assert 0 < n_steps < 20
    assert not (out / "model").exists()
    caplog.clear()
    assert learn(start, tmp_path, NOT_WORTH, *harmful) == out  # it has ended: nothing is done
    assert len(lines_of(out / "steps.jsonl")) == n_steps
    assert "was written" not in caplog.text
