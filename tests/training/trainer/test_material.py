import itertools
import random

import pytest
import torch

from engine.layout.rows import IGNORE
from engine.policy import parse_policy
from tests.support.rows import random_examples
from tests.support.training_runs import write_pairs
from training.settings import Mixture, Optimisation, TrainSettings
from training.trainer.finetuning import find_base
from training.trainer.loss import Markers, forbid_markers
from training.trainer.material import find_method, prepare, trained_policies
from training.trainer.stream import Lines, pack, pack_lines, share_step

pytestmark = pytest.mark.usefixtures("papers")  # other layouts and methods


def random_lines(seed):
    rng = random.Random(seed)
    return pack_lines(random_examples(seed, rng.randint(1, 14)), rng.randint(20, 90))


def rows_of(batches):
    """The rows of some batches, in any order."""
    found = []
    for batch in batches:
        real = batch.ids.new_ones(batch.ids.shape, dtype=torch.bool)
        columns = (batch.ids[real], batch.places.position[real], batch.labels[real])
        found += zip(*(column.tolist() for column in columns), strict=True)
    return sorted(row for row in found if row != (0, 0, IGNORE))


@pytest.mark.parametrize("n_processes", [1, 2, 3, 5])
def test_processes_share_a_step_without_gap_or_overlap(n_processes):
    for seed in range(12):
        lines = random_lines(seed)
        pass_tokens = random.Random(seed).randint(20, 300)
        shares = [
            share_step(Lines(lines), rank, n_processes, pass_tokens) for rank in range(n_processes)
        ]
        done = [one for share in shares for one in share.passes if one.share]
        assert rows_of([one.batch for one in done]) == rows_of([pack(lines)])
        assert sum(one.share for one in done) == pytest.approx(1)
        assert len({len(share.passes) for share in shares}) == 1
        assert {(share.n_pairs, share.n_rows) for share in shares} == {
            (sum(len(line) for line in lines), pack(lines).n_rows)
        }


def test_a_pass_counts_as_many_labels_as_it_has():
    for seed in range(12):
        lines = random_lines(seed)
        n_labels = int((pack(lines).labels != IGNORE).sum())
        for one in share_step(Lines(lines), 0, 1, 100).passes:
            assert one.share * n_labels == pytest.approx(int((one.batch.labels != IGNORE).sum()))


def test_a_pass_holds_no_more_rows_than_it_may_unless_one_line_does():
    for seed in range(12):
        for pass_tokens in (1, 50, 200):
            for one in share_step(Lines(random_lines(seed)), 0, 1, pass_tokens).passes:
                n_lines, length = one.batch.ids.shape
                assert n_lines * length <= pass_tokens or n_lines == 1


def material(base_folder, tmp_path, **changes):
    data = {"de": write_pairs(tmp_path / "data.tsv", n_pairs=40)}
    settings = TrainSettings(out=tmp_path / "out", data=data, base=str(base_folder), **changes)
    method = find_method(settings)
    base = find_base(settings, trained_policies(settings, method))
    return prepare(settings, data, base.tokenizer, base.card, "digest of the base")


def test_a_step_of_so_many_tokens_has_as_many_on_average(tiny, tmp_path):
    optimisation = Optimisation(batch_tokens=150)
    stream = material(tiny, tmp_path, optimisation=optimisation).stream
    steps = itertools.islice(stream.steps(), 4)
    n_rows = [sum(len(one.rows) for one in lines.examples) for lines in steps]
    assert 100 < sum(n_rows) / len(n_rows) < 220


def test_no_token_is_forbidden_where_the_source_is_labelled(tiny, tmp_path):
    usual, easist = (material(tiny, tmp_path, method=one) for one in ("exposst", "easist"))
    assert len(usual.markers.within_writes) > 3
    assert easist.markers == Markers((), ())
    steps = [lines.examples for lines in itertools.islice(easist.stream.steps(), 2)]
    labels = {row.label for example in steps[0] + steps[1] for row in example.rows}
    (end_of_read,) = easist.stream.prompts["de"].headers.assistant
    assert end_of_read in labels
    logits = torch.randn(9, 384)
    ends = torch.arange(9) > 4
    assert torch.equal(forbid_markers(logits, ends, easist.markers), logits)


def test_a_digest_tells_parts_apart_and_knows_the_same(tiny, tmp_path):
    def digests(**changes):
        text = material(tiny, tmp_path, **changes).fingerprint
        return dict(part.split("=") for part in text.split())

    usual = digests()
    assert digests() == usual
    longer = digests(optimisation=Optimisation(epochs=5))
    assert longer == usual
    for name, changes in (
        ("slot_length", {"slot_lengths": (8,)}),
        ("optimisation", {"optimisation": Optimisation(seed=2)}),
        ("method", {"method": "gpe"}),
        ("weighting", {"weights": {"letters": 2.0}}),
    ):
        other = digests(**changes)
        assert [key for key in usual if other[key] != usual[key]] == [name]


def test_a_pair_whose_target_spells_a_marker_is_left_out(tiny, tmp_path):
    data = {"de": write_pairs(tmp_path / "data.tsv", n_pairs=40)}
    with data["de"].open("a", encoding="utf-8") as file:
        file.write("look here\tthe <tool> works\tletters\t1 2 2\n")
    settings = TrainSettings(out=tmp_path / "out", data=data, base=str(tiny))
    base = find_base(settings, ("read:3",))
    assert prepare(settings, data, base.tokenizer, base.card).n_pairs["letters"] == 41
    base.tokenizer.add_tokens(["<tool>"])  # as models have them for calls of tools
    assert prepare(settings, data, base.tokenizer, base.card).n_pairs["letters"] == 40


def test_the_policies_that_are_drawn_are_named():
    def named(method="exposst", **shares):
        settings = TrainSettings(
            out="out", method=method, mixture=Mixture(n=(2, 4), k=(1,), **shares)
        )
        return trained_policies(settings, find_method(settings))

    assert named() == ("read:2", "read:4", "wait:1", "offline")
    assert named(waits=0) == ("read:2", "read:4", "offline")
    assert named(fixed_reads=0, aligned_reads=0) == ("wait:1", "offline")
    assert named(fixed_reads=0, aligned_reads=0, waits=1) == ("wait:1",)
    assert named(method="causal") == ("offline",)
    assert named(method="easist", waits=1, fixed_reads=0, aligned_reads=0) == (
        "read:2", "read:4", "offline",
    )  # fmt: skip
    for name in named():
        parse_policy(name)
