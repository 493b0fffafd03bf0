# SPDX-License-Identifier: Apache-2.0
"""Random words as code: whatever they are, a run ends in one of the known ways, is told, and is the same every time.

A handler skips what traps, so that a program goes through all of its words. Most words are instructions of the
vendor's extension and accesses to control registers, because random bits seldom are.
"""

from __future__ import annotations

import random
from typing import Final

import pytest

from polyloom.riscv.image import Segment
from polyloom.targets.minion.memory_map import RESET
from polyloom.targets.minion.options import POLICIES, Hazards
from polyloom.targets.minion.place import parse_place
from polyloom.targets.minion.run import events, findings, model, report
from polyloom.targets.minion.run.model import Setup
from polyloom.targets.minion.words.assemble import assemble_lines
from polyloom.targets.minion.words.isa import CSRS, extension_rows
from polyloom.targets.minion.words.locate import Locator
from polyloom.targets.minion.words.program import Part, Program

WORDS: Final = 600
DATA: Final = RESET + 0x7000
MOST: Final = 20_000
HEAD: Final = f"""
_start: li      t0, 0x6000
        csrs    mstatus, t0
        la      t0, handler
        csrw    mtvec, t0
        csrwi   mcache_control, 1
        csrwi   mcache_control, 3
        mov.m.x m0, zero, 255
        li      x31, 64
        la      a0, body
        li      a2, {DATA:#x}
        addi    a1, a2, 15
        li      a3, 0x80000000
        j       body
.balign 4096
handler: csrr   t0, mepc
        addi    t0, t0, 4
        andi    t0, t0, -4
        li      t1, {DATA:#x}
        bgeu    t0, t1, end
        la      t1, body
        bltu    t0, t1, end
        csrw    mepc, t0
        .word   0x30200073          # mret
end:    li      t0, 0x1feed000
        csrw    validation0, t0
.balign 64
body:
"""
MAJOR: Final = (
    *(0x03, 0x07, 0x0B, 0x0F, 0x13, 0x17, 0x1B, 0x1F, 0x23, 0x27, 0x2F, 0x33, 0x37, 0x3B, 0x3F, 0x43, 0x53, 0x5B),
    *(0x5F, 0x63, 0x73, 0x77, 0x7B),
)
_TRAP_VECTOR, _END = 0x305, 0x8D0


def word(draw: random.Random) -> int:
    kind = draw.random()
    if kind < 0.1:
        return draw.getrandbits(32)
    if kind < 0.35:
        csr = draw.choice([*CSRS, *range(0x800, 0x880)])
        csr = 0x806 if csr in (_TRAP_VECTOR, _END) and draw.random() < 0.9 else csr
        form = draw.choice([1, 2, 3, 5, 6, 7])
        return csr << 20 | draw.getrandbits(5) << 15 | form << 12 | draw.getrandbits(5) << 7 | 0x73
    if kind < 0.7:
        row = draw.choice(extension_rows())
        return draw.getrandbits(32) & ~row.mask | row.match
    return draw.getrandbits(25) << 7 | draw.choice(MAJOR)


def program(draw: random.Random) -> Program:
    code = assemble_lines(HEAD, RESET).data + b"".join(word(draw).to_bytes(4, "little") for _ in range(WORDS))
    segments = (Segment(RESET, code, len(code), True), Segment(DATA, bytes(4096), 4096, False))
    return Program(tuple(Part("words", segment) for segment in segments), RESET)


def setup(draw: random.Random, threads: int) -> Setup:
    hazards: Hazards = draw.choice(POLICIES)
    minions, functional, errata, trace = (draw.choice(options) for options in ("123", (0, 1), (0, 1), (0, 0, 1)))
    return Setup(parse_place(str(minions)), hazards, bool(functional), threads, MOST, bool(errata), bool(trace))


def told(run: model.Run, how: Setup) -> str:
    """All that is said of a run."""
    outcome, locator = run.outcome, Locator()
    parts = [findings.lines(outcome, locator), findings.as_json(outcome, locator), events.trace(outcome, locator)]
    ended = report.end_diagnostic(outcome, locator, how)
    if outcome.stop == "deadlock":
        ended = findings.deadlock(outcome, locator)
    return f"{outcome.stop} {outcome.cycles} {outcome.instructions} {parts} {ended}"


def check(seed: int) -> str:
    code = program(random.Random(seed))
    runs: list[tuple[str, bytes]] = []
    for threads in (1, 2):
        how = setup(random.Random(seed), threads)
        run = model.run(code, [], how)
        runs.append((told(run, how), run.read(DATA, 4096)))
    assert runs[0] == runs[1], seed
    return runs[0][0].split()[0]


def test_random_words() -> None:
    """In both modes, with all policies, on one to three minions, with and without threads."""
    assert {check(seed) for seed in range(60)} >= {"passed", "max-cycles", "hazard", "deadlock"}


@pytest.mark.long
def test_many_random_words() -> None:
    for seed in range(60, 4000):
        check(seed)
