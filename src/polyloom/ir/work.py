# SPDX-License-Identifier: Apache-2.0
"""How many arithmetic operations a source executes, by operation and element type, for values of its parameters.

A nest is walked in its order, as its interpreter does, and equations are counted over their conditions: nothing is
computed, because no condition of either depends on data. Every operator that the user wrote counts wherever it is
evaluated, so that an invariant product in a loop counts in every iteration. What only moves, chooses or converts a
value, and the arithmetic of indices and loops, count nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from polyloom.ir.interpret import instances
from polyloom.ir.nest import Apply, Assign, Expression, If, Loop, Nest, Node
from polyloom.ir.operations import CONVERSIONS, ElementType
from polyloom.ir.plan import Plan
from polyloom.ir.steps import walk

Class = tuple[str, ElementType]
Work = Mapping[Class, int]
_NOTHING: Final = frozenset({"move", "select", *(operation.name for operation in CONVERSIONS)})
_TWO: Final = frozenset({"madd"})
"""A multiplication and an addition in one operator."""


def total(work: Work) -> int:
    """All operations; `madd` is two."""
    return sum(count * (2 if operation in _TWO else 1) for (operation, _), count in work.items())


def of_nest(nest: Nest, values: Mapping[str, int]) -> Work:
    """Of a function."""
    found: Counter[Class] = Counter()
    for assign, count in _counts(nest.body, dict(values), 1):
        _add(found, operators(assign.value), count)
    return _sorted(found)


def assignments_of(nest: Nest, values: Mapping[str, int]) -> int:
    """How many assignments a function executes."""
    return sum(count for _, count in _counts(nest.body, dict(values), 1))


def of_plan(plan: Plan, values: Mapping[str, int]) -> Work:
    """Of equations; where there are loops of steps, of every step."""
    found: Counter[Class] = Counter()
    for phase, around in walk(plan.body, values):
        for equation, count in instances(phase.program, {n: around[n] for n in phase.program.parameters}):
            _add(found, [(equation.operation, equation.dtype)], count)
    return _sorted(found)


def operators(value: Expression) -> Iterator[Class]:
    """Those of an expression, as often as they are written."""
    if isinstance(value, Apply):
        yield value.operation, value.dtype
        for operand in value.operands:
            yield from operators(operand)


def _add(found: Counter[Class], classes: Sequence[Class] | Iterator[Class], count: int) -> None:
    for operation, dtype in classes:
        if operation not in _NOTHING and count:
            found[operation, dtype] += count


def _sorted(found: Counter[Class]) -> Work:
    return {key: found[key] for key in sorted(found)}


def _counts(nodes: Sequence[Node], values: dict[str, int], times: int) -> Iterator[tuple[Assign, int]]:
    """Assignments with how often they run in `times` turns of what is around them."""
    for node in nodes:
        match node:
            case Assign():
                yield node, times
            case If():
                yield from _counts(node.body if node.condition.contains(values) else node.orelse, values, times)
            case Loop():
                turns = _turns(node, values)
                # A body that does not look at the counter is the same in every turn.
                if not _mentions(node.body, node.name):
                    yield from _counts(node.body, values, times * len(turns))
                    continue
                for turn in turns:
                    yield from _counts(node.body, {**values, node.name: turn}, times)


def _turns(loop: Loop, values: Mapping[str, int]) -> range:
    low = max(bound.evaluate(values) for bound in loop.lower)
    return range(low, max(low, min(bound.evaluate(values) for bound in loop.upper)))


def _mentions(nodes: Sequence[Node], name: str) -> bool:
    """Whether a bound or a condition depends on a counter; indices do not matter here."""
    for node in nodes:
        match node:
            case Assign():
                continue
            case If():
                pieces = (c for piece in node.condition.pieces for c in piece.constraints)
                if any(name in c.symbols for c in pieces) or _mentions((*node.body, *node.orelse), name):
                    return True
            case Loop():
                if any(name in bound.symbols for bound in (*node.lower, *node.upper)) or _mentions(node.body, name):
                    return True
    return False
