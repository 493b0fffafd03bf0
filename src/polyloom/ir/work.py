# SPDX-License-Identifier: Apache-2.0
"""Operation counts of a source by operation and element type, for values of its parameters.

Instances of statements are counted by their bounds, and those of equations over their conditions: nothing is computed,
because no condition of either depends on data. Every operator that the user wrote counts wherever it is evaluated, so
that an invariant product in a loop counts in every iteration. What only moves, chooses or converts a value, and the
arithmetic of indices and loops, count nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from polyloom.ir.instance_counts import count_instances
from polyloom.ir.interpret import equation_instances
from polyloom.ir.nest import Apply, Expression, Nest, statements, subexpressions
from polyloom.ir.operations import CONVERSIONS, ElementType
from polyloom.ir.plan import Plan
from polyloom.ir.steps import walk_steps

Class = tuple[str, ElementType]
Work = Mapping[Class, int]
_NOTHING: Final = frozenset({"move", "select", *(operation.name for operation in CONVERSIONS)})
_TWO: Final = frozenset({"madd"})
"""A multiplication and an addition in one operator."""


def total_operations(work: Work) -> int:
    """Number of all operations; `madd` is two."""
    return sum(count * (2 if operation in _TWO else 1) for (operation, _), count in work.items())


def nest_work(nest: Nest, values: Mapping[str, int]) -> Work:
    """Operation counts of a function."""
    found: Counter[Class] = Counter()
    for statement in statements(nest):
        _add_counts(found, expression_operators(statement.assign.value), count_instances(statement, values) or 0)
    return _sort_classes(found)


def count_assignments(nest: Nest, values: Mapping[str, int]) -> int:
    """Number of assignments that a function executes."""
    return sum(count_instances(statement, values) or 0 for statement in statements(nest))


def plan_work(plan: Plan, values: Mapping[str, int]) -> Work:
    """Operation counts of equations; where there are loops of steps, of every step."""
    found: Counter[Class] = Counter()
    # Step by step: how many instances a phase has may depend on counters.
    for phase, around in walk_steps(plan.body, values):
        for equation, count in equation_instances(phase.program, {n: around[n] for n in phase.program.parameters}):
            _add_counts(found, [(equation.operation, equation.dtype)], count)
    return _sort_classes(found)


def expression_operators(value: Expression) -> Iterator[Class]:
    """Operators of an expression, as often as they are written."""
    return ((part.operation, part.dtype) for part in subexpressions(value) if isinstance(part, Apply))


def _add_counts(found: Counter[Class], classes: Sequence[Class] | Iterator[Class], count: int) -> None:
    for operation, dtype in classes:
        if operation not in _NOTHING and count:
            found[operation, dtype] += count


def _sort_classes(found: Counter[Class]) -> Work:
    return {key: found[key] for key in sorted(found)}
