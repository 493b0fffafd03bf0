# SPDX-License-Identifier: Apache-2.0
"""Scalar code of a core: loops, conditions and affine forms as RISC-V assembly, the same for all three threads; what a
statement does in a thread, and how it waits for statements before, is handed in.

Statements in a row wait for each other, and so do iterations of loops that carry dependences. Registers: s1 to s7,
a0 and tp are counters, gp is the number of lanes of a vector loop, t2 to t6 and a5 to a7 are free between statements.
Source: RISC-V unprivileged manual, chapters RV32I and M.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.analysis.dataflow import refuse
from polyloom.ir.nest import Assign, If, Loop, Node
from polyloom.sets import Affine, Condition
from polyloom.targets.tensix.map.loops.thread import Lines, StatementLine
from polyloom.targets.tensix.map.phases.vector_nest import Strip, VectorNest

_COUNTERS: Final = ("s1", "s2", "s3", "s4", "s5", "s6", "s7", "a0", "tp")
LANES: Final = "gp"
_LEFT = "t5"
Evaluate = Callable[[Affine, str], Lines]
"""Code that computes a form into a register; it uses t6."""


@dataclass(frozen=True, slots=True)
class Thread:
    """What a thread does for a statement, of which `evaluate` computes forms, and to wait for all statements before."""

    statement: Callable[[Strip, Evaluate], Lines]
    barrier: Lines


def scalar_code(vectors: VectorNest, thread: Thread, strip: int) -> Lines:
    """Code of a nest in one thread; vectors are cut into strips of so many lanes. Raises `Unlike` for deep nests."""
    return _Writer(vectors, thread, strip).nodes(vectors.nest.body, is_clean=True)


def evaluate_form(form: Affine, into: str, counters: Mapping[str, str]) -> Lines:
    """Value of an affine form in a register."""
    lines: Lines = [f"li {into}, {form.constant}"]
    for name, factor in form.terms:
        counter = counters[name]
        size = abs(factor)
        # A shift takes one cycle, a product more.
        if size & (size - 1):
            lines += [f"li t6, {size}", f"mul t6, t6, {counter}"]
        elif size > 1:
            lines.append(f"slli t6, {counter}, {size.bit_length() - 1}")
        value = counter if size == 1 else "t6"
        lines.append(f"{'add' if factor > 0 else 'sub'} {into}, {into}, {value}")
    return lines


class _Writer:
    """Writer of code; `counters` are registers of the loops around the place (mutable)."""

    def __init__(self, vectors: VectorNest, thread: Thread, strip: int) -> None:
        self.vectors, self.thread, self.strip = vectors, thread, strip
        self.counters = dict[str, str]()
        self.labels = 0

    def nodes(self, nodes: Sequence[Node], *, is_clean: bool) -> Lines:
        """Code of nodes in a row; `is_clean`: nothing before is still under way that they could need."""
        lines: Lines = []
        for node in nodes:
            # A loop that carries dependences waits at the begin of each iteration.
            waits = not is_clean and not (isinstance(node, Loop) and self.is_serial(node))
            lines += self.thread.barrier if waits else []
            lines += self.node(node, is_clean=is_clean or waits)
            is_clean = False
        return lines

    def node(self, node: Node, *, is_clean: bool) -> Lines:
        match node:
            case Assign():
                strip = self.vectors.strips[node.name]
                lines = self.thread.statement(strip, self.evaluate)
                return [StatementLine.locate(line, strip.formula.place) for line in lines]
            case If():
                return self.branch(node, is_clean=is_clean)
            case Loop():
                return self.loop(node, is_clean=is_clean)

    def is_serial(self, loop: Loop) -> bool:
        if loop.name in self.vectors.vectors:
            return self.is_cut(loop)
        return loop.name not in self.vectors.together

    def is_cut(self, loop: Loop) -> bool:
        """Whether a vector loop may have more lanes than a strip; neighbouring strips share a line of 16 bytes."""
        low, high = self.vectors.ranges[loop.name]
        return high - low + 1 > self.strip

    def evaluate(self, form: Affine, into: str) -> Lines:
        return evaluate_form(form, into, self.counters)

    def label(self) -> str:
        self.labels += 1
        return f"n{self.labels}"

    def extreme(self, ends: Sequence[Affine], into: str, *, is_largest: bool) -> Lines:
        """Largest or least of several forms."""
        lines = self.evaluate(ends[0], into)
        for end in ends[1:]:
            label = self.label()
            jump = f"bge {into}, {_LEFT}, {label}" if is_largest else f"bge {_LEFT}, {into}, {label}"
            lines += [*self.evaluate(end, _LEFT), jump, f"mv {into}, {_LEFT}", f"{label}:"]
        return lines

    def loop(self, loop: Loop, *, is_clean: bool) -> Lines:
        if len(self.counters) == len(_COUNTERS):
            refuse(f"loops are nested more than {len(_COUNTERS)} deep", loop.span)
        # Registers are given back at the end of a loop, so that loops in a row share one.
        counter = next(register for register in _COUNTERS if register not in self.counters.values())
        top, body, end = self.label(), self.label(), self.label()
        is_vector, is_serial = loop.name in self.vectors.vectors, self.is_serial(loop)
        # Lanes of a vector have no order.
        down = loop.step < 0 and not is_vector
        first = self.extreme(loop.upper if down else loop.lower, counter, is_largest=not down)
        limit = self.extreme(loop.lower if down else loop.upper, "t4", is_largest=down)
        self.counters[loop.name] = counter
        # What comes first in a serial loop waits for the iteration before.
        inside = self.nodes(loop.body, is_clean=is_clean and not is_serial)
        del self.counters[loop.name]
        lines = [*first, f"addi {counter}, {counter}, -1"] if down else first
        # Branches reach 4 KiB, jumps 1 MiB.
        enters = f"bge {counter}, t4, {body}" if down else f"blt {counter}, t4, {body}"
        lines += [f"{top}:", *limit, enters, f"j {end}", f"{body}:"]
        step = f"addi {counter}, {counter}, {-1 if down else 1}"
        if is_vector:
            lines += [f"sub {LANES}, t4, {counter}"]
            if self.is_cut(loop):
                fits = self.label()
                lines += [f"li t5, {self.strip}", f"bge t5, {LANES}, {fits}", f"mv {LANES}, t5", f"{fits}:"]
                step = f"addi {counter}, {counter}, {self.strip}"
        # One strip has all lanes: nothing to repeat.
        if is_vector and not self.is_cut(loop):
            return [*lines, *inside, f"{end}:"]
        return [*lines, *inside, step, f"j {top}", f"{end}:"]

    def branch(self, node: If, *, is_clean: bool) -> Lines:
        otherwise, end = self.label(), self.label()
        return [
            *self.condition(node.condition, otherwise),
            *self.nodes(node.body, is_clean=is_clean),
            f"j {end}",
            f"{otherwise}:",
            *self.nodes(node.orelse, is_clean=is_clean),
            f"{end}:",
        ]

    def condition(self, condition: Condition, otherwise: str) -> Lines:
        """Jump away unless one of the pieces holds."""
        holds, lines = self.label(), list[str]()
        for piece in condition.pieces:
            following = self.label()
            for constraint in piece.constraints:
                passed = self.label()
                lines += [*self.evaluate(constraint, _LEFT), f"bge {_LEFT}, zero, {passed}", f"j {following}"]
                lines.append(f"{passed}:")
            lines += [f"j {holds}", f"{following}:"]
        return [*lines, f"j {otherwise}", f"{holds}:"]
