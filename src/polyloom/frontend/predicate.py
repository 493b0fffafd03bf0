# SPDX-License-Identifier: Apache-2.0
"""If-conversion: data-dependent branches as selections (Allen, Kennedy, Porterfield and Warren, POPL 1983, without
guards).

Both branches execute; what is stored where a condition does not hold is what was there. The branches advance together,
so two assignments to one element become one selection. An operation that may fault gets a harmless operand where it
would not execute.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass, replace
from typing import Any

from polyloom.diagnostics import Span
from polyloom.ir.nest import Apply, Assign, Expression, If, Loop, Node
from polyloom.ir.operations import ElementType, divides
from polyloom.ir.pla import Constant

Nodes = tuple[Node, ...]
Types = Callable[[str], ElementType]


def same(a: Any, b: Any) -> bool:
    """Whether two expressions, nodes or nests are equal but for where they stand in the text."""
    return without_spans(a) == without_spans(b)


def without_spans(value: Any) -> Any:
    """The value with every span removed."""
    if isinstance(value, Span):
        return None
    if isinstance(value, tuple):
        return tuple(map(without_spans, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] (any tuple)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: without_spans(getattr(value, f.name)) for f in fields(value)})
    return value


def guarded(expression: Expression, condition: Expression, holds: bool) -> Expression:
    """Speculation guard: `expression`, which counts only where `condition` is (not) 0, without a division by zero
    elsewhere.
    """
    if not isinstance(expression, Apply):
        return expression
    operands = tuple(guarded(operand, condition, holds) for operand in expression.operands)
    if divides(expression.operation, expression.dtype) and not _harmless(operands[1]):
        # Division by 1 never faults, and its quotient is not selected.
        one = Constant(1, expression.dtype)
        operands = (
            operands[0],
            choice(condition, *((operands[1], one) if holds else (one, operands[1])), expression.dtype),
        )
    return replace(expression, operands=operands)


def choice(condition: Expression, a: Expression, b: Expression, dtype: ElementType, span: Span | None = None) -> Apply:
    """`a` where `condition` is not 0, else `b`."""
    return Apply("select", dtype, (condition, a, b), span)


def inlines(body: Nodes, orelse: Nodes) -> bool:
    """Whether the condition of a branch is used once and before anything is stored, so that it needs no name."""
    nodes = _pair(body, orelse)
    return len(nodes) == 1 and all(n is None or (isinstance(n, Assign) and not _may_fault(n.value)) for n in nodes[0])


def merge(condition: Expression, body: Nodes, orelse: Nodes, dtype: Types, free: Collection[str]) -> Nodes:
    """If-conversion of two branches: `body` where `condition` is not 0, `orelse` elsewhere. Targets in `free` are
    stored in any case.
    """
    result = list[Node]()
    for one, other in _pair(body, orelse):
        # One store for both branches: two would make a dependence of the second on the first.
        if isinstance(one, Assign) and isinstance(other, Assign):
            a, b = guarded(one.value, condition, True), guarded(other.value, condition, False)
            result.append(replace(one, value=choice(condition, a, b, dtype(one.target.name), one.span)))
        elif one is not None:
            result.append(_only(one, condition, True, dtype, free))
        elif other is not None:
            result.append(_only(other, condition, False, dtype, free))
    return tuple(result)


def _only(node: Node, condition: Expression, holds: bool, dtype: Types, free: Collection[str]) -> Node:
    """`node` where the condition holds (or does not), and nothing elsewhere."""

    def inside(nodes: Nodes) -> Nodes:
        return tuple(_only(n, condition, holds, dtype, free) for n in nodes)

    match node:
        case Loop():
            return replace(node, body=inside(node.body))
        case If():
            return replace(node, body=inside(node.body), orelse=inside(node.orelse))
        case Assign(target=target):
            value = guarded(node.value, condition, holds)
            # Nothing reads the element where the condition does not hold, so what was there need not be kept.
            if target.name in free:
                return replace(node, value=value)
            return replace(
                node,
                value=choice(
                    condition, *((value, target) if holds else (target, value)), dtype(target.name), node.span
                ),
            )


def _pair(body: Nodes, orelse: Nodes) -> list[tuple[Node | None, Node | None]]:
    """Longest common subsequence of both branches (Wagner and Fischer 1974, by a quadratic table): both
    sequences in one, with as many assignments to the same element together as possible.
    """
    # Filled from the ends of both, so that the walk below goes forwards, in the order of the text.
    lengths = [[0] * (len(orelse) + 1) for _ in range(len(body) + 1)]
    for m in reversed(range(len(body))):
        for n in reversed(range(len(orelse))):
            together = 1 + lengths[m + 1][n + 1] if _aligned(body[m], orelse[n]) else 0
            lengths[m][n] = max(together, lengths[m + 1][n], lengths[m][n + 1])
    pairs, m, n = list[tuple[Node | None, Node | None]](), 0, 0
    while m < len(body) or n < len(orelse):
        if (
            m < len(body)
            and n < len(orelse)
            and _aligned(body[m], orelse[n])
            and lengths[m][n] == 1 + lengths[m + 1][n + 1]
        ):
            pairs.append((body[m], orelse[n]))
            m, n = m + 1, n + 1
        elif m < len(body) and lengths[m + 1][n] == lengths[m][n]:
            pairs.append((body[m], None))
            m += 1
        else:
            pairs.append((None, orelse[n]))
            n += 1
    return pairs


def _aligned(a: Node, b: Node) -> bool:
    return isinstance(a, Assign) and isinstance(b, Assign) and same(a.target, b.target)


def _may_fault(expression: Expression) -> bool:
    if not isinstance(expression, Apply):
        return False
    faults = divides(expression.operation, expression.dtype) and not _harmless(expression.operands[1])
    return faults or any(map(_may_fault, expression.operands))


def _harmless(divisor: Expression) -> bool:
    return isinstance(divisor, Constant) and divisor.value != 0
