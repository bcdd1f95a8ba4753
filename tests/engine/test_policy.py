import random

import pytest

from engine.errors import PolicyError
from engine.policy import (
    MOST_AT_ONCE,
    Action,
    Offline,
    Progress,
    ReadN,
    Stable,
    WaitK,
    family,
    hurried,
    parse_policy,
    parse_slot_policy,
)

READ, WRITE = Action


def words_read_at_each_write(policy, n_source, n_target):
    """Play a policy whose target has ``n_target`` words; the marker comes with the last word."""
    read = 0
    schedule = []
    while len(schedule) < n_target:
        progress = Progress(n_read=read, n_written=len(schedule), source_ended=read == n_source)
        if policy.next_action(progress) is READ:
            read += 1
        else:
            schedule.append(read)
    return schedule


@pytest.mark.parametrize(
    "policy",
    [ReadN(1), ReadN(3), ReadN(9999), ReadN(5, 7), WaitK(1), WaitK(7), Stable(3), Offline()],
    ids=str,
)
def test_a_policy_is_read_as_it_is_written(policy):
    assert parse_policy(str(policy)) == policy


@pytest.mark.parametrize(
    "text",
    ["", "read", "read:", "read:0", "read:-1", "read:03", "read:3 ", " read:3", "READ:3",
     "read:3.0", "read:10000", "wait:x", "wait:٣", "wait 3", "offline:1", "read:3\n", "local",
     "read:5:", "read:5:5", "read:5:0", "read:5:7:9", "wait:3:4", "adaptive:0.5"],
)  # fmt: skip
def test_a_policy_that_is_written_wrongly_is_refused_in_one_sentence(text):
    with pytest.raises(PolicyError) as caught:
        parse_policy(text)
    message = str(caught.value)
    assert repr(text) in message
    assert "read:N[:FIRST], wait:K, stable:N or offline" in message
    assert "\n" not in message


@pytest.mark.parametrize("policy", [ReadN, WaitK, Stable])
def test_a_policy_counts_from_one(policy):
    with pytest.raises(PolicyError, match="at least 1, got 0"):
        policy(0)


def test_slots_have_no_policy_of_drafts():
    assert parse_slot_policy("wait:3") == WaitK(3)
    with pytest.raises(PolicyError, match="stable:2 asks for drafts, which slots do not make"):
        parse_slot_policy("stable:2")


def test_stable_n_drafts_at_each_word():
    for n in (1, 3):
        assert Stable(n).next_action(Progress(n_read=4, n_read_at_write_end=3)) is WRITE
        assert Stable(n).next_action(Progress(n_read=4, n_read_at_write_end=4)) is READ
        ended = Progress(n_read=4, n_read_at_write_end=4, source_ended=True)
        assert Stable(n).next_action(ended) is WRITE


def test_wait_k_begins_target_word_j_when_g_of_j_words_are_read():
    rng = random.Random(0)
    for _ in range(200):
        k, n_source, n_target = rng.randint(1, 9), rng.randint(1, 12), rng.randint(1, 12)
        g = [min(k + j - 1, n_source) for j in range(1, n_target + 1)]
        assert words_read_at_each_write(WaitK(k), n_source, n_target) == g


def test_wait_k_reads_on_when_the_target_has_nothing_to_add():
    ahead = Progress(n_read=5, n_written=1)
    assert WaitK(2).next_action(ahead) is WRITE
    assert WaitK(2).next_action(Progress(n_read=5, n_written=1, exhausted=True)) is READ


def test_read_n_reads_n_words_after_each_write():
    rng = random.Random(0)
    for _ in range(200):
        n, n_source = rng.randint(1, 5), rng.randint(1, 12)
        read = at_write_end = 0
        ends = []
        while at_write_end < n_source:
            progress = Progress(
                n_read=read, n_read_at_write_end=at_write_end, source_ended=read == n_source
            )
            if ReadN(n).next_action(progress) is READ:
                read += 1
            else:
                at_write_end = read
                ends.append(read)
        whole_chunks = list(range(n, n_source + 1, n))
        rest = [n_source] if n_source % n else []
        assert ends == whole_chunks + rest


def test_read_n_may_read_more_words_before_its_first_write():
    def after(n_read, n_before=0, **others):
        progress = Progress(n_read=n_read, n_read_at_write_end=n_before, **others)
        return ReadN(2, 4).next_action(progress)

    assert [after(n_read) for n_read in (1, 2, 3, 4)] == [READ, READ, READ, WRITE]
    assert [after(n_read, 4) for n_read in (4, 5, 6)] == [READ, READ, WRITE]
    assert after(2, source_ended=True) is WRITE


def test_read_n_writes_on_until_its_write_ends():
    for n_written in range(5):
        progress = Progress(n_read=3, n_written=n_written, n_read_at_write_end=0)
        assert ReadN(3).next_action(progress) is WRITE


def test_offline_reads_everything_first():
    assert words_read_at_each_write(Offline(), 7, 3) == [7, 7, 7]


@pytest.mark.parametrize("policy", [ReadN(5), WaitK(5), Offline()], ids=str)
def test_what_has_ended_cannot_be_read(policy):
    for exhausted in (False, True):
        progress = Progress(n_read=1, exhausted=exhausted, source_ended=True)
        assert policy.next_action(progress) is WRITE


@pytest.mark.parametrize("policy", [ReadN(2), WaitK(2), Stable(1)], ids=str)
def test_words_that_came_together_are_read_before_the_next_write(policy):
    def after(n_read, n_waiting, **others):
        return policy.next_action(Progress(n_read=n_read, n_waiting=n_waiting, **others))

    most = MOST_AT_ONCE + (policy.k if isinstance(policy, WaitK) else 0)
    assert after(4, 0) is WRITE
    assert after(4, 1) is READ
    assert after(most - 1, 9) is READ
    assert after(most, 9) is WRITE  # a talk that comes at once
    assert after(4, 0, source_ended=True) is WRITE


def test_a_backlog_makes_larger_steps_of_every_policy_that_has_steps():
    assert hurried(ReadN(2), 4) == ReadN(8)
    assert hurried(ReadN(2, 3), 4) == ReadN(8, 12)
    assert hurried(WaitK(3), 2) == WaitK(6)
    assert hurried(Offline(), 4) == Offline()


def test_a_family_is_what_a_model_must_know():
    policies = ("read:3", "wait:2", "stable:2", "offline")
    assert [family(policy) for policy in policies] == ["read", "wait", "stable", "offline"]
