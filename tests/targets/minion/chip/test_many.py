# SPDX-License-Identifier: Apache-2.0
"""Many minions: reductions along the tree, messages, barriers, credits, and what stops them for ever."""

import numpy as np
import pytest

from polyloom.targets.minion.words import tensor_words as words

from .machine import ARRAYS, FIRST_HARTS, csr, run, wait

FLOATS = "li t0, 0x6000\ncsrs mstatus, t0\n"
CREDIT = 0x1_3FF4_00C0  # CREDINC0 of the own shire
OUT = f"li a0, {ARRAYS}\nslli t1, s0, 6\nadd a0, a0, t1\nfsw f0, 0(a0)\n"


def allreduce(height: int) -> str:
    steps = [csr(0x800, words.reduce(h, 1)) for h in range(height)]
    steps += [csr(0x800, words.broadcast(h, 1)) for h in reversed(range(height))]
    return FIRST_HARTS + FLOATS + "fcvt.s.w f0, s0\n" + "".join(steps) + wait(9) + OUT


@pytest.mark.parametrize("functional", [False, True])
@pytest.mark.parametrize("height", [5, 6])
def test_allreduce(functional: bool, height: int) -> None:
    minions = 2**height
    done = run(allreduce(height), minions=minions, functional=functional)
    assert done.result["stop"] == "passed", done.result
    values = done.read(ARRAYS, (minions, 16), np.float32)[:, 0]
    np.testing.assert_array_equal(values, np.full(minions, minions * (minions - 1) / 2, np.float32))


@pytest.mark.parametrize(("height", "expected"), [(5, 444), (10, 1393)])
def test_cycles_of_allreduce(height: int, expected: int) -> None:
    """Less what one that does nothing takes. Source: facts 10.2; within 5 %."""
    full, nothing = (
        run(text, minions=2**height, hazards="off").result["cycles"] for text in (allreduce(height), allreduce(0))
    )
    assert abs(full - nothing - expected) <= 0.05 * expected


BARRIER = f"""
    li t0, {31 << 5}
    csrrw t1, flb, t0
    beqz t1, 1f
    li t0, {CREDIT}
    li t1, 0xFFFFFFFF
    sd t1, 0(t0)
1:
    csrwi fcc, 0
"""


def test_a_barrier() -> None:
    """The last to come frees all; 233 cycles. Source: facts 10.2."""
    one, two = (run(FIRST_HARTS + BARRIER.replace("1:", f"{n}:").replace("1f", f"{n}f"), minions=32) for n in (1, 2))
    assert one.result["stop"] == two.result["stop"] == "passed"
    twice = run(FIRST_HARTS + BARRIER + BARRIER.replace("1:", "2:").replace("1f", "2f"), minions=32).result
    assert abs(twice["cycles"] - one.result["cycles"] - 233) <= 0.05 * 233


def test_messages_between_pairs() -> None:
    """1 KB from each to its neighbour at 3.0 TB/s: so many cycles per message at 600 MHz."""
    expected = 1024 * 512 * 600e6 / 3.0e12
    send, receive = (
        csr(0x800, word).replace("csrw", "or t0, t0, s1\ncsrw") for word in (words.send(0, 32), words.receive(0, 32))
    )
    messages = [
        f"andi t2, s0, 1\nbnez t2, {2 * n + 1}f\n{send}j {2 * n + 2}f\n{2 * n + 1}:\n{receive}{2 * n + 2}:\n"
        for n in range(8)
    ]
    peer = "xori s1, s0, 1\nslli s1, s1, 3\n"
    few, many = (
        run(FIRST_HARTS + FLOATS + peer + "".join(messages[:n]) + wait(9), minions=64, hazards="off").result
        for n in (1, 8)
    )
    assert few["stop"] == many["stop"] == "passed"
    assert abs((many["cycles"] - few["cycles"]) / 7 - expected) <= 0.05 * expected


@pytest.mark.parametrize("functional", [False, True])
def test_who_waits_for_a_credit_that_nobody_gives(functional: bool) -> None:
    result = run(FIRST_HARTS + "csrwi fcc, 0\n", functional=functional).result
    assert result["stop"] == "deadlock"
    assert [(w["hart"], w["kind"]) for w in result["waits"]] == [(0, "credit")]


@pytest.mark.parametrize("functional", [False, True])
def test_two_that_send_first(functional: bool) -> None:
    peer = "xori s1, s0, 1\nslli s1, s1, 3\n"
    text = FIRST_HARTS + FLOATS + peer + csr(0x800, words.send(0, 1)).replace("csrw", "or t0, t0, s1\ncsrw") + wait(9)
    result = run(text, minions=2, functional=functional).result
    assert result["stop"] == "deadlock"
    assert sum("has to receive first" in w["note"] for w in result["waits"]) == 2


def test_counts_that_differ() -> None:
    text = FIRST_HARTS + FLOATS + "bnez s0, 1f\n" + csr(0x800, words.send(1, 2)) + "j 2f\n1:\n"
    text += csr(0x800, words.receive(0, 3)) + "2:\n" + wait(9)
    result = run(text, minions=2, hazards="report").result
    assert result["stop"] == "deadlock"
    assert [finding["kind"] for finding in result["findings"]] == ["count_mismatch"]
