# SPDX-License-Identifier: Apache-2.0
"""Programs as lists of steps, any of which can be left out, and what a run of the rest finds.

`Step.guard` marks a wait, a flush or a credit that the program needs. Addresses of data are in `x`s that `start` sets:
s2 to s5 are lines of DRAM, 4 KiB apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from polyloom.targets.minion.place import parse_place
from polyloom.targets.minion.run import model
from polyloom.targets.minion.run.model import Hazards, Outcome, Setup
from polyloom.targets.minion.words import tensor_words
from polyloom.targets.minion.words.assemble import assemble
from polyloom.targets.minion.words.program import load as load_program
from polyloom.targets.target import Loaded

DATA = 0x80_0080_0000
PITCH = 0x1000
SCRATCHPAD = 0x8000_0000


@dataclass(frozen=True, slots=True)
class Step:
    """Lines of assembly; `guard`: without it the program is wrong, and findings have this kind."""

    text: str
    guard: str = ""


def word(value: int, csr: int, base: str = "") -> str:
    """A CSR write of a word whose address is in a register."""
    add = f"or t0, t0, {base}\n" if base else ""
    return f"li t0, {value:#x}\n{add}csrrw x0, {csr:#x}, t0\n"


def op(name: str, base: str = "", stride: int = 64, id: int = 0, **fields: int) -> Step:
    """A tensor operation of the notation's table."""
    made = tensor_words.encode(name, **fields)
    second = "" if made.x31 is None else f"li x31, {stride | id:#x}\n"
    return Step(second + word(made.value, made.csr, base))


def wait(event: int, guard: str = "") -> Step:
    return Step(f"csrrwi x0, 0x830, {event}\n", guard)


def load(start: int, base: str = "s2", id: int = 0, rows: int = 16) -> Step:
    return op("tensor_load", base, start=start, rows=rows, id=id)


def load_b(base: str = "s3") -> Step:
    return op("tensor_load_b", base, rows=16, id=1)


def fma(a: int = 0, b: int | None = None, first: int = 1) -> Step:
    """Of fp32, 16×16×16; B comes from TenB unless it has a line."""
    tenb = int(b is None)
    return op("tensor_fma", rows=16, columns=16, words=16, a=a, b=b or 0, tenb=tenb, first=first)


def store(base: str = "s4", rows: int = 16, bytes: int = 64) -> Step:
    return op("tensor_store", base, stride=64, rows=rows, bytes=bytes)


def store_scp(start: int, base: str = "s4") -> Step:
    return op("tensor_store_scp", base, stride=64, rows=16, start=start)


def quant(start: int = 0) -> Step:
    """Converts to f32 and multiplies rows by a line of L1Scp."""
    return op("tensor_quant", rows=16, columns=16, start=start, transform0=1, transform1=6)


def line(text: str, guard: str = "") -> Step:
    return Step(text + "\n", guard)


def flush(base: str, level: int = 2, guard: str = "", csr: int = 0x8BF) -> Step:
    """flush_va of one line; evict_va is 0x89F, prefetch_va 0x81F."""
    return Step("li x31, 64\n" + word(level << 58, csr, base), guard)


def credit(minion: int, guard: str = "") -> Step:
    """To counter 0 of hart 0 of a minion of this shire."""
    return Step(f"li t1, 0x13ff400c0\nli t0, {1 << minion:#x}\nsd t0, 0(t1)\n", guard)


def take(guard: str = "") -> Step:
    return Step("csrrwi x0, 0x821, 0\n", guard)


START = f"""
    csrrs s0, 0xf14, x0
    li t0, 0x6000
    csrrs x0, 0x300, t0
    csrrwi x0, 0x7e0, 1
    csrrwi x0, 0x7e0, 3
    li t0, 0xff
    mova.m.x t0
    li s2, {DATA:#x}
    li s3, {DATA + PITCH:#x}
    li s4, {DATA + 2 * PITCH:#x}
    li s5, {DATA + 3 * PITCH:#x}
"""
END = "li t0, 0x1feed000\ncsrrw x0, 0x8d0, t0\n"


def text_of(harts: Sequence[Sequence[Step]]) -> str:
    """Each hart runs its steps; those of which there are none end at once."""
    chosen = "".join(f"li t0, {n}\nbeq s0, t0, hart{n}\n" for n in range(len(harts)))
    bodies = "".join(f"hart{n}:\n{''.join(step.text for step in steps)}j end\n" for n, steps in enumerate(harts))
    # Only the first hart of a minion sets the mode, so that no other loses its stores by it.
    first, rest = START.split("csrrwi x0, 0x7e0, 1", 1)
    mode, rest = rest.split("li t0, 0xff", 1)
    guarded = f"andi t0, s0, 1\nbnez t0, moded\ncsrrwi x0, 0x7e0, 1{mode}moded:\nli t0, 0xff"
    return f"_start:{first}{guarded}{rest}{chosen}end:\n{END}{bodies}"


def source(harts: Sequence[Sequence[Step]]) -> bytes:
    """The file of programs for harts 0, 1, 2 and so on."""
    return assemble(text_of(harts), "k.s")


def run(
    harts: Sequence[Sequence[Step]], hazards: Hazards = "report", functional: bool = False, errata: bool = False
) -> Outcome:
    """Of programs for harts 0, 1, 2 and so on."""
    data = source(harts)
    where = parse_place(str((len(harts) + 1) // 2))
    program = load_program([Loaded("k.elf", data, None)], [], None, where.machine)
    setup = Setup(where, hazards, functional, 1, 10**6, errata, False)
    return model.run(program, [], setup).outcome


def bytes_of(
    harts: Sequence[Sequence[Step]], address: int, size: int, hazards: Hazards, functional: bool = False
) -> bytes:
    """Memory after a run."""
    where = parse_place(str((len(harts) + 1) // 2))
    program = load_program([Loaded("k.elf", source(harts), None)], [], None, where.machine)
    return model.run(program, [], Setup(where, hazards, functional)).read(address, size)


def kinds(outcome: Outcome) -> set[str]:
    """`scp_read:0`: kinds, with the wait that is missing."""
    return {_kind(found) for found in outcome.findings}


def _kind(found: Any) -> str:
    return found["kind"] + (f":{found['wait']}" if found["wait"] >= 0 else "")
