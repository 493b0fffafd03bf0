# SPDX-License-Identifier: Apache-2.0
"""Programs of a few instructions on one hart of the native model, and what they keep.

A program is assembly; `keep REG` stands for a store of an integer register to the next of the words that `Machine.kept`
gives. Only hart 0 runs it; the others end at once, unless `all_harts`. Traps go to a handler that keeps cause, value
and pc of each, and goes on behind the instruction.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from polyloom.targets.minion.words.assemble import assemble_lines

if TYPE_CHECKING:
    from polyloom._native.minion import Result

RESET: Final = 0x80_0000_1000
"""In the first 8 MiB of DRAM, which are for machine mode alone."""
CODE: Final = 0x80_0080_1000
KEPT: Final = 0x80_0090_0000
TRAPS: Final = KEPT + 0x4000
FREE: Final = KEPT + 0x10000
PASS: Final = 0x1FEED000
MACHINE: Final = {"shires": 32, "l2_kib": 512, "l3_kib": 1024, "scratchpad_kib": 2560}
MRET: Final = ".word 0x30200073"
SRET: Final = ".word 0x10200073"
WFI: Final = ".word 0x10500073"
SFENCE: Final = ".word 0x12000073"

_START: Final = f"""
    csrr t0, mhartid
    beqz t0, begin
    j end
begin:
    li s11, {KEPT}
    la t0, handler
    csrw mtvec, t0
    li t0, 0x6000
    csrs mstatus, t0
"""
_HANDLER: Final = f"""
end:
    li t0, {PASS}
    csrw validation0, t0
stay: j stay
    .balign 4096
handler:
    csrw mscratch, s10
    li s10, {TRAPS}
    sd s9, 8(s10)
    ld s9, 0(s10)
    addi s9, s9, 32
    sd s9, 0(s10)
    add s9, s9, s10
    sd s8, 24(s9)
    csrr s8, mcause
    sd s8, 0(s9)
    csrr s8, mtval
    sd s8, 8(s9)
    csrr s8, mepc
    sd s8, 16(s9)
    csrr s8, mcause
    bltz s8, behind
    csrr s8, mepc
    addi s8, s8, 4
    csrw mepc, s8
behind:
    ld s8, 24(s9)
    ld s9, 8(s10)
    csrr s10, mscratch
    {MRET}
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """A run: the words that were kept, its traps as (cause, value, pc), and whatever memory holds."""

    result: Result
    kept: Sequence[int]
    traps: Sequence[tuple[int, int, int]]
    labels: Mapping[str, int] = field(default_factory=dict[str, int])
    memory: bytes = b""

    @property
    def causes(self) -> list[int]:
        return [cause for cause, _, _ in self.traps]


def program(source: str) -> str:
    """The text with its kept registers, between a beginning and a handler of traps."""
    count = iter(range(512))
    body = re.sub(r"\bkeep (\w+)", lambda match: f"sd {match[1]}, {8 * next(count)}(s11)", source)
    return _START + body + _HANDLER


def run(
    source: str,
    functional: bool = False,
    minions: int = 1,
    hazards: int = 1,
    data: Mapping[int, bytes] | None = None,
    bare: bool = False,
    look: tuple[int, int] | None = None,
    entry: int = CODE,
) -> Machine:
    """Runs a program to its end. `bare` gives it neither beginning nor handler; `look` is memory to read behind it."""
    from polyloom._native.minion import Chip

    made = assemble_lines(source if bare else program(source), entry, "test")
    options = {"functional": int(functional), "hazards": hazards, "threads": 1, "max_cycles": 1_000_000}
    chip = Chip(minions, MACHINE, {}, options)
    assert chip.write(entry, made.data) == ""
    for address, content in (data or {}).items():
        assert chip.write(address, content) == ""
    result = chip.run(entry)
    text = program(source)
    kept = struct.unpack("<512Q", chip.read(KEPT, 4096))[: text.count("(s11)")]
    taken = struct.unpack("<Q", chip.read(TRAPS, 8))[0] // 32
    traps = [struct.unpack("<3Q", chip.read(TRAPS + 32 * n + 32, 24)) for n in range(taken)]
    memory = chip.read(*look) if look else b""
    return Machine(result, kept, [(a, b, c) for a, b, c in traps], made.labels, memory)
