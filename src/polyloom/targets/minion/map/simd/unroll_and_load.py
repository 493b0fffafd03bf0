# SPDX-License-Identifier: Apache-2.0
"""Unrolling of a vectorized loop with all loads first, so that the cache lines that they miss come together
(memory-level parallelism on an in-order core; Kennedy and Allen 2001, chapter 8, unroll and scalar replacement).

A hart issues in order and waits where a value is first used. Iterations of the loop are independent; within one, an
element is loaded ahead where nothing in the loop writes its array, or where one statement alone touches it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Final, Protocol

from polyloom.diagnostics import PolyloomError
from polyloom.ir.nest import Assign, Cell, Loop, accesses, cell
from polyloom.ir.nest_rewrite import Substitution
from polyloom.ir.pla import Reference
from polyloom.ir.ssa import Place
from polyloom.sets import Affine
from polyloom.targets.minion.map.simd.elements import Around
from polyloom.targets.minion.map.simd.values import Values

_NAMES: Final = re.compile(r"\b(?:f\d+|[as]\d+|ra|sp|gp|tp)\b")
_ROUTINE: Final = re.compile(r"\bf(2[4-9]|3[01])\b")
"""Registers of routines."""
_SHARED: Final = re.compile(r"\b(t\d|m1|x31)\b")
"""Registers that hold nothing from one construct to the next."""
_OPERAND: Final = re.compile(r"^\S+ f(2[4-9]|3[01])\b")
"""Operands of routines, where they are called."""
_MOST: Final = 4
_SERIAL: Final = 8
"""Iterations of a loop that is not vectorized."""
_MOST_KNOWN: Final = 12
"""Of a loop whose rounds are so many times a number: none of them is left for single rounds."""
_FREE: Final = 4
"""Vector registers that stay free for expressions."""


class Writer(Protocol):
    """Writer of assignments, as `Control` is one."""

    values: Values

    def assign(self, node: Assign, around: Around) -> None: ...

    def rounds(
        self, loop: Loop, low: str, high: str, width: int, moves: Callable[[int], list[str]], body: Callable[[], None]
    ) -> None: ...


def unroll_factor(loop: Loop, around: Around, free: int, rounds: int | None) -> int:
    """Unroll factor: how many rounds are worth being one; 1 where the loop has more than assignments, or loads nothing
    ahead. `rounds`: how many there are, where that is known.
    """
    body = [node for node in loop.body if isinstance(node, Assign)]
    loads = len({cell(r) for r in hoistable_loads(body, around)})
    if not loads or len(body) != len(loop.body):
        return 1
    # Every element that is loaded ahead keeps a register from its load to its use.
    most = (free - _FREE) // loads
    if not rounds:
        return min(_MOST, most)
    # No round is left for single ones, where a factor allows that; more rounds than there are would never run.
    known = range(2, min(_MOST_KNOWN, most) + 1)
    return max((n for n in known if rounds % n == 0), default=min(_MOST, most, rounds))


def serial_factor(loop: Loop, around: Around, count: int | None) -> int:
    """Unroll factor of a loop that is not vectorized, whose iterations may need one another; 1 where it has more than
    assignments, or where nothing can be loaded ahead. `count`: its iterations, where that is known.
    """
    body = [node for node in loop.body if isinstance(node, Assign)]
    loads = len({cell(r) for r in _invariant_arrays(body, around)})
    if not loads or loads > _MOST or len(body) != len(loop.body):
        return 1
    if count is None:
        return _SERIAL
    return max((n for n in range(2, _SERIAL + 1) if count % n == 0), default=max(1, min(_SERIAL, count)))


def _invariant_arrays(body: Sequence[Assign], around: Around) -> Iterator[Reference]:
    """Loads of arrays that the loop does not write."""
    written = {assign.target.name for assign in body}
    return (read for read in hoistable_loads(body, around) if read.name not in written)


@dataclass(frozen=True, slots=True)
class Unrolling:
    """How a loop is unrolled: how many rounds, the iterations of each, and whether all loads come first."""

    times: int
    width: int
    ahead: bool = True


def unroll(writer: Writer, loop: Loop, around: Around, factor: Unrolling) -> int:
    """Code of so many rounds: loads of all, then their statements: of vectors interleaved, of single iterations in
    order. Gives how many interleave. Errors: PL1352 where a round needs more
    registers than the loads leave.
    """
    text, body = writer.values.text, [node for node in loop.body if isinstance(node, Assign)]
    steps = [Substitution({loop.name: Affine.symbol(loop.name) + factor.width * n}) for n in range(factor.times)]
    rounds = [[step.assignment(assign) for assign in body] for step in steps]
    loaded: dict[Cell, str] = {}
    for round in rounds if factor.ahead else ():
        for reference in _invariant_arrays(round, around) if factor.width == 1 else hoistable_loads(round, around):
            # Rounds of a stencil read common elements, which are loaded once.
            if cell(reference) not in loaded:
                loaded[cell(reference)] = text.vectors.take(reference.span)
                writer.values.load(reference, around, loaded[cell(reference)])
    inner = replace(around, loaded=loaded)
    if factor.width > 1 and not factor.ahead:
        _touch_lines(writer.values, rounds, around)
    if factor.width == 1:
        for assign in (each for round in rounds for each in round):
            with text.at(assign.span):
                writer.assign(assign, inner)
        rounds = []
    depth = 1
    while rounds:
        count = interleave(writer, rounds, inner)
        depth, rounds = max(depth, count), rounds[count:]
    text.vectors.give(*reversed(loaded.values()))
    return depth


def _touch_lines(values: Values, rounds: Sequence[Sequence[Assign]], around: Around) -> None:
    """Prefetch into L1 of what statements behind the first one load: loads to x0, for which nobody waits. They touch no
    line that the rounds do not load themselves, so that coherence needs nothing more.
    """
    # Two vectors are a line, wherever the first one begins.
    for round in dict.fromkeys((*range(0, len(rounds), 2), len(rounds) - 1)):
        first, *others = rounds[round]
        soon = {cell(read) for read in accesses(first.value)}
        for read in hoistable_loads(others, around):
            if cell(read) not in soon and values.is_contiguous(read, around):
                soon.add(cell(read))
                register, offset = values.address(read, around)
                values.text.add(f"lw zero, {offset}({register})")


def interleave(writer: Writer, rounds: Sequence[Sequence[Assign]], around: Around) -> int:
    """Code of as many rounds as have registers of their own, whose instructions take turns: an in-order core would wait
    for each result. Gives their number.
    """
    text = writer.values.text
    free, written = (list(text.vectors.free), list(text.integers.free)), list[list[tuple[str, Place]]]()
    writer.values.saves = len(rounds) > 1
    for round in rounds:
        at, before, live = len(text.lines), (list(text.vectors.free), list(text.integers.free)), dict(around.live)
        calls = len(writer.values.calls)
        try:
            for assign in round:
                with text.at(assign.span):
                    writer.assign(assign, around)
        except PolyloomError as error:
            if error.diagnostics[0].code != "PL1352" or not written:
                writer.values.saves = False
                raise
            del text.lines[at:]
            del writer.values.calls[calls:]
            around.live.update(live)
            break
        own = text.lines[at:]
        del text.lines[at:]
        written.append(own)
        # What this round has used is no longer free for the next one.
        used = {name for line, _ in own for name in _NAMES.findall(line)}
        for pool, names in zip((text.vectors, text.integers), before, strict=True):
            pool.free[:] = [register for register in names if register not in used]
    writer.values.saves = False
    text.vectors.free[:], text.integers.free[:] = free
    groups = [_groups(own) for own in written]
    for each in zip_longest(*groups, fillvalue=()):
        for group in each:
            text.lines += group
    return len(written)


def _groups(lines: Sequence[tuple[str, Place]]) -> list[list[tuple[str, Place]]]:
    """Lines that stay together: those in a row that use registers which hold nothing from one construct to the next,
    and labels with what is in front of them.
    """
    made, is_open = list[list[tuple[str, Place]]](), False
    calls = any(line.startswith("jal ") for line, _ in lines)
    for line in lines:
        shares = _SHARED.search(line[0]) is not None or (calls and _OPERAND.search(line[0]) is not None)
        joins = is_open and (shares or (calls and _ROUTINE.search(line[0]) is not None))
        if made and (line[0].endswith(":") or joins):
            made[-1].append(line)
        else:
            made.append([line])
        # Behind the label of a loop over lanes, its body goes on with what is in front.
        is_open = shares or line[0].endswith(":")
    return made


def hoistable_loads(body: Sequence[Assign], around: Around) -> Iterator[Reference]:
    """Loads that may go before everything else in one round."""
    written = {assign.target.name for assign in body}
    for assign in body:
        for read in accesses(assign.value):
            if read.name in around.locals or cell(read) in around.held:
                continue
            if read.name not in written or _is_single_access(read, assign, body):
                yield read


def _is_single_access(read: Reference, own: Assign, body: Sequence[Assign]) -> bool:
    """Whether one statement alone touches the array, at one element. Then no other store can change it between load and
    use.
    """
    touched = [(a, r) for a in body for r in (a.target, *accesses(a.value)) if r.name == read.name]
    return all(a is own and cell(r) == cell(read) for a, r in touched)
