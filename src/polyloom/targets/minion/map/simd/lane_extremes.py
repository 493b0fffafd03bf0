# SPDX-License-Identifier: Apache-2.0
"""Maxima and minima of floats in eight lanes, with the bits of the source's order (vector reduction; Allen and Kennedy
2001, chapter 5.10).

    for j: m = m if x[j] <= m or m != m else x[j]

A comparison is exact, so that which of several unequal numbers is the greatest does not depend on their order. Two
cases do: of zeros (a comparison takes subnormals for zeros) the source keeps the first or the last one, whose sign may
differ, and of NaNs the first one, with its bits. Whether a result is a zero or a NaN is known behind the rounds; then,
and only then, the loop runs once more from its beginning, an element behind another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from polyloom.analysis.loop_ranges import constant_bounds
from polyloom.ir.nest import Apply, Assign, Expression, Loop, accesses, cell
from polyloom.ir.nest_rewrite import Substitution
from polyloom.ir.pla import Reference
from polyloom.names import hidden_name
from polyloom.sets import Affine
from polyloom.targets.minion.map.simd.arithmetic import machine_function
from polyloom.targets.minion.map.simd.elements import Around
from polyloom.targets.minion.map.simd.parallel_machine import LANES
from polyloom.targets.minion.map.simd.unroll_and_load import Writer, interleave

_CHOICES: Final = frozenset(("select", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "min", "max"))
"""Operations that compare numbers and choose one of them."""
_ROUNDS: Final = (4, 2)
"""Vectors of a round, each with a partial result of its own, so that comparisons do not wait for one another."""
_NAN: Final = float("nan")
_SWIZZLES: Final = (0xB1, 0x4E)
"""Lanes of a half in pairs exchanged, then its pairs (manual, FSWIZZ.PS)."""


@dataclass(frozen=True, slots=True)
class Extreme:
    """Statement `result = choice(result, element)`."""

    assign: Assign
    result: Reference
    element: Reference

    def substitute_operands(self, result: Reference, element: Reference) -> Assign:
        """The statement for other operands."""
        value = _replace_references(self.assign.value, {cell(self.result): result, cell(self.element): element})
        return replace(self.assign, target=result, value=value)


def match_extreme(loop: Loop) -> Extreme | None:
    """Loop that is one such statement, None for others."""
    if loop.step != 1 or len(loop.body) != 1 or not isinstance(assign := loop.body[0], Assign):
        return None
    value, result = assign.value, assign.target
    if not isinstance(value, Apply) or value.dtype != "f32" or not _is_choice(value):
        return None
    others = {cell(read): read for read in accesses(value) if cell(read) != cell(result)}
    if len(others) != 1 or cell(result) not in {cell(read) for read in accesses(value)}:
        return None
    (element,) = others.values()
    varies = [any(loop.name in form.symbols for form in read.index) for read in (result, element)]
    if varies != [False, True] or element.name == result.name or not _may_reorder(value, result, element):
        return None
    return Extreme(assign, result, element)


def write_extreme(
    writer: Writer, loop: Loop, around: Around, counters: tuple[str, str], moves: Callable[[int], list[str]]
) -> None:
    """Rounds of whole vectors of a loop that is an extreme, and their combination; what is left over remains. Nothing
    for other loops.
    """
    found, (low, high) = match_extreme(loop), counters
    if found is None or around.lane is not None:
        return
    own = around.locals.get(found.result.name) or around.held.get(cell(found.result))
    inside, known = replace(around, lane=loop.name), constant_bounds(loop)
    times = _ROUNDS[-1] if known is None else _choose_times((known[1] - known[0]) // LANES)
    text, values = writer.values.text, writer.values
    room = len(text.vectors.free) >= 2 * times + 2 and text.integers.free
    if not own or not times or not room or not values.is_contiguous(found.element, inside):
        return
    with ExitStack() as registers:
        start = text.integers.take(loop.span)
        registers.callback(text.integers.give, start)
        partial = [text.vectors.take(loop.span) for _ in range(times)]
        registers.callback(text.vectors.give, *reversed(partial))
        names = [Reference(hidden_name(f"partial{n}"), ()) for n in range(times)]
        lanes = replace(inside, locals={**inside.locals, **{r.name: p for r, p in zip(names, partial, strict=True)}})
        text.add(f"mv {start}, {low}", *(f"for.pi {each}, {own}, {own}" for each in partial))
        along = [Substitution({loop.name: Affine.symbol(loop.name) + LANES * n}) for n in range(times)]
        steps = [
            [step.assignment(found.substitute_operands(name, found.element))]
            for name, step in zip(names, along, strict=True)
        ]
        writer.rounds(loop, low, high, times * LANES, moves, lambda: _write_steps(writer, steps, lanes))
        _combine(writer, found, names, lanes)
        _restart(writer, loop, around, (low, start), (partial[0], own))


def _write_steps(writer: Writer, steps: Sequence[Sequence[Assign]], around: Around) -> None:
    while steps:
        steps = steps[interleave(writer, steps, around) :]


def _combine(writer: Writer, found: Extreme, names: Sequence[Reference], around: Around) -> None:
    """Extreme of all lanes of all partial results, in the lower half of the first one's register."""
    text, (first, *others) = writer.values.text, names
    for other in others:
        writer.assign(found.substitute_operands(first, other), around)
    register, spare = around.locals[first.name], text.vectors.take()
    moved = Reference(hidden_name("moved"), ())
    inner = replace(around, locals={**around.locals, moved.name: spare})
    for swizzle in _SWIZZLES:
        text.add(f"fswizz.ps {spare}, {register}, {swizzle}")
        writer.assign(found.substitute_operands(first, moved), inner)
    text.add(f"fmvz.x.ps t0, {register}, {LANES // 2}", f"fbcx.ps {spare}, t0")
    writer.assign(found.substitute_operands(first, moved), inner)
    text.vectors.give(spare)


def _restart(writer: Writer, loop: Loop, around: Around, counters: tuple[str, str], registers: tuple[str, str]) -> None:
    """Result into its register, or, where it is a zero or a NaN, the loop from its beginning."""
    values, text, (low, start), (made, own) = writer.values, writer.values.text, counters, registers
    over, again = text.label("extreme"), text.label("again")
    zero, spare = values.constant("bits", 0), text.vectors.take()
    # Less or greater than zero: neither a zero nor a NaN.
    text.add(f"flt.ps {spare}, {made}, {zero[0]}", f"fmvz.x.ps t1, {spare}, 0")
    text.add(f"flt.ps {spare}, {zero[0]}, {made}", f"fmvz.x.ps t2, {spare}, 0", "or t1, t1, t2")
    text.vectors.give(spare)
    values.drop(zero)
    text.add(f"beqz t1, {again}", f"fmvz.x.ps t0, {made}, 0", f"fbcx.ps {own}, t0", f"j {over}")
    text.add(f"{again}:", f"mv {low}, {start}")
    for (name, terms), (register, constant) in around.pointers.items():
        if name in {read.name for assign in loop.body if isinstance(assign, Assign) for read in accesses(assign.value)}:
            values.integer(Affine(terms, constant), around, register, "t1")
    text.add(f"{over}:")


def _choose_times(vectors: int) -> int:
    """Vectors of a round, of so many; 0 where they are too few."""
    return next((n for n in _ROUNDS if vectors % n == 0), _ROUNDS[-1] if vectors > _ROUNDS[-1] else 0) if vectors else 0


def _is_choice(value: Expression) -> bool:
    if isinstance(value, Apply):
        return value.operation in _CHOICES and all(map(_is_choice, value.operands))
    return isinstance(value, Reference)


def _may_reorder(value: Expression, result: Reference, element: Reference) -> bool:
    """Whether lanes find the same number: an expression of comparisons and choices chooses the greater of two numbers,
    or the lesser one, always, and a NaN either always, or never an element that is one.
    """

    def choose(m: float, x: float) -> float:
        return float(_evaluate(value, {cell(result): np.float32(m), cell(element): np.float32(x)}))

    with np.errstate(all="ignore"):
        numbers = choose(1, 2), choose(2, 1)
        (keeps, takes) = (choose(_NAN, 1) != 1, choose(1, _NAN) != 1)
    # What a NaN among the elements would end, so that only those behind it count, depends on the order.
    return numbers in ((2, 2), (1, 1)) and (keeps or not takes)


def _evaluate(value: Expression, known: dict[object, np.float32]) -> np.float32:
    if isinstance(value, Apply):
        operands = [_evaluate(operand, known) for operand in value.operands]
        return machine_function(value.operation, value.dtype)(*operands)
    assert isinstance(value, Reference), "the form was checked"
    return known[cell(value)]


def _replace_references(value: Expression, by: dict[object, Reference]) -> Expression:
    match value:
        case Apply():
            return replace(value, operands=tuple(_replace_references(o, by) for o in value.operands))
        case Reference():
            return by[cell(value)]
        case _:
            return value
