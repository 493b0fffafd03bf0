# SPDX-License-Identifier: Apache-2.0
"""Programs that need all their waits, flushes and credits: as they are nothing is found; without any one of them, what
it guards against is. Timed and without time alike."""

from __future__ import annotations

import pytest
from tests.targets.minion.hazards.programs import (
    Step,
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
    store,
    store_scp,
    take,
    wait,
)

Program = list[list[Step]]

PROGRAMS: dict[str, Program] = {
    "a tile": [[
        load(0), load_b(), wait(0, "scp_read:0"), fma(),
        load(16, id=0), load_b(), wait(0, "scp_read:0"), fma(16, first=0),
        store(), wait(8, "memory_read:8"), line("lw t0, 0(s4)"),
    ]],
    "both operands in L1Scp": [[
        load(0), load(16, "s3", id=1), wait(0, "scp_read:0"), wait(1, "scp_read:1"),
        fma(0, 16), wait(7, "scp_write:7"), load(0), wait(0),
    ]],
    "streaming after L1Scp": [[
        load(0), load(16, "s3", id=1), wait(0, "scp_read:0"), wait(1, "scp_read:1"),
        fma(0, 16), wait(7, "port:7"), load_b(), fma(),
    ]],
    "quant": [[
        load(0), wait(0, "scp_read:0"), quant(0), wait(10, "scp_write:10"), load(0), wait(0),
    ]],
    "store from L1Scp": [[
        load(0), wait(0, "scp_read:0"), store_scp(0), wait(8, "port:8"), load_b(), fma(),
    ]],
    "store from L1Scp after an FMA": [[
        load(0), wait(0, "scp_read:0"), load_b(), fma(), wait(7, "port:7"), store_scp(0), wait(8),
    ]],
    "store from L1Scp after a quant": [[
        load(0), wait(0, "scp_read:0"), quant(0), wait(10, "port:10"), store_scp(0), wait(8),
    ]],
    "registers of an FMA": [[
        load(0), load_b(), wait(0, "scp_read:0"), fma(), wait(7, "register_access:7"), line("fadd.s f0, f1, f2"),
    ]],
    "registers of a quant": [[
        load(0), wait(0, "scp_read:0"), quant(0), wait(10, "register_access:10"), line("fadd.s f0, f1, f2"),
    ]],
    "registers of a store": [[
        store(), wait(8, "register_access:8"), line("fcvt.s.w f1, x0"),
    ]],
    "flags": [[
        load(0), load_b(), wait(0, "scp_read:0"), fma(), wait(7, "flags:7"), line("csrrs t0, 0x3, x0"),
    ]],
    "errors": [[
        load(0), wait(0, "error:0"), line("csrrs t0, 0x808, x0"),
    ]],
    "stored lines are read": [[
        store(), wait(8, "memory_read:8"), load(0, "s4"), wait(0),
    ]],
    "stored lines are written": [[
        store(), wait(8, "memory_write:8"), line("sw x0, 64(s4)"),
    ]],
    "lines are written that are being loaded": [[
        load(0), wait(0, "memory_write:0"), line("sw x0, 64(s2)"),
    ]],
    "a scalar store before a load": [[
        line("sw x0, 0(s2)"), flush("s2", 2, "stale_read"), wait(6, "cache_operation:6"),
        load(0, rows=1), wait(0),
    ]],
    "a line that is flushed and read": [[
        line("sw x0, 0(s2)"), flush("s2"), wait(6, "cache_operation:6"), line("lw t0, 0(s2)"),
    ]],
    "prefetch": [[
        flush("s2", 1, csr=0x81F), wait(4, "cache_operation:4"), line("lw t0, 0(s2)"),
    ]],
    "staging": [[
        op("tensor_load_l2", "s2", line=0, rows=16, id=1), wait(3, "memory_read:3"),
        line("li s6, 0x80000000"), load(0, "s6"), wait(0),
    ]],
    "staging by hart 1": [
        [take(), line("li s6, 0x80000000"), load(0, "s6"), wait(0)],
        [op("tensor_load_l2", "s2", line=0, rows=16), wait(2, "memory_read:2"), credit(0)],
    ],
    "from minion to minion": [
        [line("sw x0, 0(s2)"), flush("s2", 1, "stale_read"), wait(6, "cache_operation:6"), credit(1)], [],
        [take(), line("lw t0, 0(s2)")],
    ],
    "an older copy": [
        [take(), line("sw x0, 0(s2)"), flush("s2", 1, "stale_read"), wait(6, "cache_operation:6"), credit(1)], [],
        [line("lw t0, 0(s2)"), credit(0), take(), flush("s2", 1, "stale_read", csr=0x89F), wait(6, "cache_operation:6"),
         line("lw t0, 0(s2)")],
    ],
    "halves of lines": [
        [store(rows=1, bytes=32), wait(8, "memory_read:8"), flush("s4", 2, "undrained_store"),
         wait(6, "undrained_store"), credit(1)], [],
        [take(), line("lw t0, 0(s4)")],
    ],
    "a line of two writers": [
        [line("sw x0, 0(s2)"), flush("s2", 1, "shared_line"), wait(6, "shared_line"), credit(1)], [],
        [take(), line("sw x0, 4(s2)")],
    ],
}  # fmt: skip
GUARDS = [(name, h, n) for name, harts in PROGRAMS.items() for h, steps in enumerate(harts) for n, s in enumerate(steps)
          if s.guard]  # fmt: skip


@pytest.mark.parametrize("functional", [False, True], ids=["timed", "functional"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_found_in_a_program_that_waits(name: str, functional: bool) -> None:
    outcome = run(PROGRAMS[name], "report", functional)
    assert (outcome.stop, kinds(outcome)) == ("passed", set())


@pytest.mark.parametrize("functional", [False, True], ids=["timed", "functional"])
@pytest.mark.parametrize(("name", "hart", "number"), GUARDS)
def test_a_missing_guard_is_found(name: str, hart: int, number: int, functional: bool) -> None:
    harts = [list(steps) for steps in PROGRAMS[name]]
    guard = harts[hart].pop(number).guard
    outcome = run(harts, "report", functional)
    assert outcome.stop == "passed"
    assert guard in kinds(outcome)


def test_an_error_ends_the_run() -> None:
    outcome = run([[load(0), load_b(), fma(), wait(7)]], "error")
    assert (outcome.stop, kinds(outcome)) == ("hazard", {"scp_read:0"})


def test_off_finds_nothing() -> None:
    outcome = run([[load(0), load_b(), fma(), wait(7)]], "off")
    assert (outcome.stop, kinds(outcome)) == ("passed", set())
