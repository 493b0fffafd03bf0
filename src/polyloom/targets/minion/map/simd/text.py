# SPDX-License-Identifier: Apache-2.0
"""Assembly writer: lines with the places of the source that they come from, labels, and pools of registers.

Registers: s0 and s1 say who the worker is, t0 to t6 hold nothing from one construct to the next, the rest of the
integer registers are taken and given back. Of the vectors, `CONSTANTS` keep what a work needs in every iteration,
`EMULATION` belongs to the routines that stand for operations which the machine lacks.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.diagnostics import Span, infeasible
from polyloom.ir.ssa import Place
from polyloom.targets.minion.map.frame import Part, span_place

INTEGERS: Final = ("ra", "sp", "gp", "tp", *(f"a{n}" for n in range(8)), *(f"s{n}" for n in range(2, 12)))
VECTORS: Final = tuple(f"f{n}" for n in range(16))
CONSTANTS: Final = tuple(f"f{n}" for n in range(16, 24))
EMULATION: Final = tuple(f"f{n}" for n in range(24, 32))
SHARES: Final = Place(reason="shares the work out among harts")
# `li` is up to eight instructions of four bytes.
_LONG: Final = 12
"""Bytes of a constant of 32 bits or of an address, at most."""
_REACH: Final = 4000
_NEAR: Final = 100
"""Lines that a conditional branch surely reaches over: 4 KiB, and a line is at most 32 bytes."""


@dataclass(slots=True)
class Pool:
    """Free registers, the next one last: a stack, so that what was given back last is taken first."""

    what: str
    free: list[str]

    def take(self, span: Span | None = None) -> str:
        """Register of the pool. Errors: PL1352 where none is left."""
        if not self.free:
            message = f"this needs more {self.what} registers than a hart has"
            raise infeasible("PL1352", message, span=span, help="split the loop, so that fewer values live at once")
        return self.free.pop()

    def give(self, *registers: str) -> None:
        self.free.extend(registers)


@dataclass(slots=True)
class Text:
    """Lines of assembly while they are written. `prefix` begins labels, `place` is where following lines come from;
    `integers` and `vectors` are the pools.
    """

    prefix: str
    lines: list[tuple[str, Place]] = field(default_factory=list[tuple[str, Place]])
    place: Place = SHARES
    integers: Pool = field(default_factory=lambda: Pool("integer", list(reversed(INTEGERS))))
    vectors: Pool = field(default_factory=lambda: Pool("vector", list(reversed(VECTORS))))
    labels: int = 0

    def add(self, *lines: str) -> None:
        self.lines.extend((line, self.place) for line in lines)

    def label(self, what: str) -> str:
        """A new one; the dot keeps it out of the symbols."""
        self.labels += 1
        return f"{self.prefix}.{what}{self.labels}"

    def part(self, part: Part) -> None:
        """Lines of the frame."""
        self.lines.extend((line, part.place) for line in part.lines)

    @contextmanager
    def at(self, span: Span | None, reason: str = "") -> Generator[None]:
        """Place of the lines written inside; without a span, that of the lines before, with a reason."""
        # Constructs nest, and behind an inner one the lines are the outer one's again.
        before = self.place
        self.place = replace(before, reason=reason) if span is None else span_place(span, reason)
        yield
        self.place = before

    def branch(self, inverse: str, operands: str, label: str) -> None:
        """Branch to a label at any distance: around a jump, by the inverse condition (a conditional branch reaches 4
        KiB; RISC-V unprivileged manual, section 2.5).
        """
        near = self.label("near")
        self.add(f"{inverse} {operands}, {near}", f"j {label}", f"{near}:")

    def back(self, branch: str, inverse: str, operands: str, label: str, since: int) -> None:
        """Branch back to a label; `since` is how many lines there were when it was set."""
        # The short form saves a jump in every iteration of an inner loop.
        if len(self.lines) - since < _NEAR:
            self.add(f"{branch} {operands}, {label}")
        else:
            self.branch(inverse, operands, label)

    def reach(self, label: str, behind: str) -> None:
        """Branch to a label that comes next, and that `behind` follows, around a jump where it is too far."""
        at = next(n for n in range(len(self.lines) - 1, -1, -1) if self.lines[n][0].endswith(f", {label}"))
        line, place = self.lines[at]
        if sum(_LONG if text.startswith("li ") else 4 for text, _ in self.lines[at:]) < _REACH:
            return
        register = line.split()[1]
        self.lines[at : at + 1] = [(f"beqz {register} {behind}", place), (f"j {label}", place)]

    def number(self, register: str, value: int) -> None:
        self.add(f"li {register}, {value}")

    def parts(self) -> Sequence[Part]:
        """Parts: runs of lines from one place."""
        made: list[tuple[list[str], Place]] = []
        for line, place in self.lines:
            # One entry of the note for a run of lines, not for each.
            if not made or made[-1][1] != place:
                made.append(([], place))
            made[-1][0].append(line)
        return [Part(tuple(lines), place) for lines, place in made]
