# SPDX-License-Identifier: Apache-2.0
"""What is said of each kind of hazard, and what runs do then: errors, reports, poison."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conftest import Golden
from tests.targets.minion.hazards.programs import (
    DATA,
    PITCH,
    Step,
    bytes_of,
    credit,
    flush,
    fma,
    kinds,
    line,
    load,
    load_b,
    op,
    quant,
    run,
    source,
    store,
    store_scp,
    take,
    wait,
)

from polyloom.targets.minion.run import findings, hazard_report
from polyloom.targets.minion.run.model import Hazards
from polyloom.targets.minion.words.locate import Locator

Program = list[list[Step]]

PROGRAMS: dict[str, Program] = {
    "scp_read": [[load(0), load_b(), fma(), wait(7)]],
    "scp_write": [[load(0), load_b(), wait(0), fma(), load(0), wait(0), wait(7)]],
    "port": [[load(0), wait(0), load_b(), fma(), store_scp(0), wait(8)]],
    "register_access": [[load(0), wait(0), load_b(), fma(), line("fadd.s f0, f1, f2"), wait(7)]],
    "flags": [[load(0), wait(0), load_b(), fma(), line("csrrs t0, 0x3, x0"), wait(7)]],
    "error": [[load(0), line("csrrs t0, 0x808, x0"), wait(0)]],
    "memory_read": [[store(), line("lw t0, 64(s4)"), wait(8)]],
    "memory_write": [[load(0), line("sw x0, 64(s2)"), wait(0)]],
    "cache_operation": [[line("sw x0, 0(s2)"), flush("s2"), line("lw t0, 0(s2)"), wait(6)]],
    "stale_read": [[line("sw x0, 4(s2)"), credit(1)], [], [take(), line("lw t0, 4(s2)")]],
    "shared_line": [[line("sw x0, 4(s2)"), credit(1)], [], [take(), line("sw x0, 8(s2)")]],
    "undrained_store": [[store(rows=1, bytes=16), wait(8), credit(1)], [], [take(), line("lw t0, 0(s4)")]],
    "two_peers": [
        [take(), take(), op("tensor_send", peer=1, count=1), op("tensor_send", peer=2, count=1), wait(9)], [],
        [op("tensor_recv", peer=0, count=1, funct=8), credit(0), wait(9)], [],
        [op("tensor_recv", peer=0, count=1, funct=8), credit(0), wait(9)],
    ],
    "barrier_mismatch": [
        [line("li t0, 0x23\ncsrrw t1, 0x820, t0"), credit(1)], [],
        [take(), line("li t0, 0x43\ncsrrw t1, 0x820, t0\nli t0, 0x13FF40118\nsd x0, 0(t0)")],
    ],
    "credit_overflow": [
        [line("li t3, 65536\n1:"), credit(1), line("addi t3, t3, -1\nbnez t3, 1b")], [], [],
    ],
    "lost_credit": [[credit(3)]],
    "barrier_left": [[line("li t0, 0x43\ncsrrw t1, 0x820, t0")]],
    "unfinished": [[op("tensor_send", peer=1, count=2)]],
    "undefined": [[
        load(0), wait(0), load_b(), op("tensor_fma", rows=16, columns=16, words=16, offset=1, tenb=1, first=1), wait(7),
    ]],
    "tensor_error": [[fma(), wait(7), line("csrrw x0, 0x808, x0")]],
    "ignored_bits": [[line("li x31, 96\nmv t0, s2\ncsrrw x0, 0x83F, t0"), wait(0)]],
    "erratum_1.29": [[load(0), load_b(), wait(0), fma(), wait(7), line("fadd.s f0, f1, f2")]],
}  # fmt: skip


@pytest.mark.parametrize("kind", PROGRAMS)
def test_words(kind: str, golden: Golden) -> None:
    """Without time, because cycles change with its parameters."""
    outcome = run(PROGRAMS[kind], functional=True, errata=kind == "erratum_1.29")
    assert [found["kind"] for found in outcome.findings] == [kind]
    locator = Locator.of(source(PROGRAMS[kind]))
    told = hazard_report.lines(outcome.findings, locator, timed=False)
    golden(f"hazard_{kind}", "\n".join([findings.hazard(outcome, locator).render(), *told]))


def test_cycles_are_told() -> None:
    outcome = run(PROGRAMS["scp_read"])
    assert " in cycle " in findings.lines(outcome, Locator.of(source(PROGRAMS["scp_read"])))[0]


def test_a_register_that_is_refreshed() -> None:
    steps = [load(0), load_b(), wait(0), fma(), wait(7), line("fmv.x.w x0, f31"), line("fadd.s f0, f1, f2")]
    assert kinds(run([steps], errata=True)) == set()


def test_a_place_is_told_once() -> None:
    """And counted."""
    steps = [line("li s6, 5\n1:"), load(0), load_b(), fma(), line("addi s6, s6, -1\nbnez s6, 1b"), wait(7), wait(0)]
    found: Any = run([steps]).findings
    assert [(row["kind"], row["wait"], row["count"]) for row in found] == [("scp_read", 0, 5), ("scp_write", 7, 4)]


def test_json() -> None:
    outcome = run(PROGRAMS["scp_read"])
    row: Any = hazard_report.as_json(outcome.findings, Locator.of(source(PROGRAMS["scp_read"])))[0]
    assert (row["kind"], row["wait"], row["missing"]) == ("scp_read", 0, "tensor_wait 0 is missing between them")
    assert (row["later"]["operation"], row["earlier"]["operation"]) == ("tensor_fma", "tensor_load")
    assert row["earlier"]["line"] < row["later"]["line"]
    assert row["later"]["file"] == "k.s"


POISON, NAN = b"\xad\xde\xc0\x7f", b"\0\0\xc0\x7f"


@pytest.mark.parametrize("functional", [False, True], ids=["timed", "functional"])
@pytest.mark.parametrize(("policy", "expected"), [("report", b"\0\0\x80\x40"), ("poison", NAN)])
def test_what_is_read_too_early(policy: Hazards, expected: bytes, functional: bool) -> None:
    """The value of a completed machine, 2 · 2, or what comes of poison."""
    steps = [
        line("li t0, 0x40000000\nsw t0, 0(s2)\nsw t0, 0(s3)"), flush("s2"), flush("s3"), wait(6),
        load(0), load_b(), fma(), store(rows=1), wait(8),
    ]  # fmt: skip
    assert bytes_of([steps], DATA + 2 * PITCH, 4, policy, functional) == expected


def test_poisoned_registers() -> None:
    steps = [load(0), wait(0), load_b(), fma(), line("fmv.x.w t1, f0\nsw t1, 0(s5)"), wait(7)]
    assert bytes_of([steps], DATA + 3 * PITCH, 4, "poison") == POISON
    assert bytes_of([steps], DATA + 3 * PITCH, 4, "report") == bytes(4)


@pytest.mark.parametrize("functional", [False, True], ids=["timed", "functional"])
@pytest.mark.parametrize("quants", [False, True], ids=["store", "quant"])
def test_poisoned_lines_of_others_than_products(quants: bool, functional: bool) -> None:
    """A store of the line gives the poison, a product of zeros with it a NaN; without poison, 2 and 0."""
    early = [load(0), quant(0), store(rows=1)] if quants else [load(0), store_scp(0)]
    steps = [line("li t0, 0x40000000\nsw t0, 0(s2)"), flush("s2"), wait(6), *early, wait(8)]
    plain = bytes(4) if quants else b"\0\0\0\x40"
    assert bytes_of([steps], DATA + 2 * PITCH, 4, "report", functional) == plain
    assert bytes_of([steps], DATA + 2 * PITCH, 4, "poison", functional) == (NAN if quants else POISON)


def test_quant_is_checked_too() -> None:
    assert kinds(run([[load(0), quant(0), wait(10)]])) == {"scp_read:0"}
