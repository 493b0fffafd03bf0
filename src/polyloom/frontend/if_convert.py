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
from polyloom.ir.operations import ElementType, may_divide_by_zero
from polyloom.ir.pla import Constant

Nodes = tuple[Node, ...]
Types = Callable[[str], ElementType]


def has_equal_structure(a: Any, b: Any) -> bool:
    """Whether two expressions, nodes or nests are equal but for where they stand in the text."""
    return strip_spans(a) == strip_spans(b)


def strip_spans(value: Any) -> Any:
    """The value with every span removed."""
    if isinstance(value, Span):
        return None
    if isinstance(value, tuple):
        return tuple(map(strip_spans, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] (any tuple)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: strip_spans(getattr(value, f.name)) for f in fields(value)})
    return value


def guard_divisions(expression: Expression, condition: Expression, holds: bool) -> Expression:
    """Speculation guard: `expression`, which counts only where `condition` is (not) 0, without a division by zero
    elsewhere.
    """
    if not isinstance(expression, Apply):
        return expression
    operands = tuple(guard_divisions(operand, condition, holds) for operand in expression.operands)
    if may_divide_by_zero(expression.operation, expression.dtype) and not _is_safe_divisor(operands[1]):
        # Division by 1 never faults, and its quotient is not selected.
        one = Constant(1, expression.dtype)
        operands = (
            operands[0],
            make_select(condition, *((operands[1], one) if holds else (one, operands[1])), expression.dtype),
        )
    return replace(expression, operands=operands)


def make_select(
    condition: Expression, a: Expression, b: Expression, dtype: ElementType, span: Span | None = None
) -> Apply:
    """`a` where `condition` is not 0, else `b`."""
    return Apply("select", dtype, (condition, a, b), span)


def is_condition_inlined(body: Nodes, orelse: Nodes) -> bool:
    """Whether the condition of a branch is used once and before anything is stored, so that it needs no name."""
    nodes = _pair_assignments(body, orelse)
    return len(nodes) == 1 and all(n is None or (isinstance(n, Assign) and not _may_fault(n.value)) for n in nodes[0])


def merge_branches(condition: Expression, body: Nodes, orelse: Nodes, dtype: Types, free: Collection[str]) -> Nodes:
    """If-conversion of two branches: `body` where `condition` is not 0, `orelse` elsewhere. Targets in `free` are
    stored in any case.
    """
    result = list[Node]()
    for one, other in _pair_assignments(body, orelse):
        # One store for both branches: two would make a dependence of the second on the first.
        if isinstance(one, Assign) and isinstance(other, Assign):
            a, b = guard_divisions(one.value, condition, True), guard_divisions(other.value, condition, False)
            result.append(replace(one, value=make_select(condition, a, b, dtype(one.target.name), one.span)))
        elif one is not None:
            result.append(_predicate_node(one, condition, True, dtype, free))
        elif other is not None:
            result.append(_predicate_node(other, condition, False, dtype, free))
    return tuple(result)


def _predicate_node(node: Node, condition: Expression, holds: bool, dtype: Types, free: Collection[str]) -> Node:
    """`node` where the condition holds (or does not), and nothing elsewhere."""

    def predicate_nodes(nodes: Nodes) -> Nodes:
        return tuple(_predicate_node(n, condition, holds, dtype, free) for n in nodes)

    match node:
        case Loop():
            return replace(node, body=predicate_nodes(node.body))
        case If():
            return replace(node, body=predicate_nodes(node.body), orelse=predicate_nodes(node.orelse))
        case Assign(target=target):
            value = guard_divisions(node.value, condition, holds)
            # Nothing reads the element where the condition does not hold, so what was there need not be kept.
            if target.name in free:
                return replace(node, value=value)
            return replace(
                node,
                value=make_select(
                    condition, *((value, target) if holds else (target, value)), dtype(target.name), node.span
                ),
            )


def _pair_assignments(body: Nodes, orelse: Nodes) -> list[tuple[Node | None, Node | None]]:
    """Longest common subsequence of both branches (Wagner and Fischer 1974, by a quadratic table): both
    sequences in one, with as many assignments to the same element together as possible.
    """
    # Filled from the ends of both, so that the walk below goes forwards, in the order of the text.
    lengths = [[0] * (len(orelse) + 1) for _ in range(len(body) + 1)]
    for m in reversed(range(len(body))):
        for n in reversed(range(len(orelse))):
            together = 1 + lengths[m + 1][n + 1] if _has_same_target(body[m], orelse[n]) else 0
            lengths[m][n] = max(together, lengths[m + 1][n], lengths[m][n + 1])
    pairs, m, n = list[tuple[Node | None, Node | None]](), 0, 0
    while m < len(body) or n < len(orelse):
        if (
            m < len(body)
            and n < len(orelse)
            and _has_same_target(body[m], orelse[n])
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


def _has_same_target(a: Node, b: Node) -> bool:
    return isinstance(a, Assign) and isinstance(b, Assign) and has_equal_structure(a.target, b.target)


def _may_fault(expression: Expression) -> bool:
    if not isinstance(expression, Apply):
        return False
    faults = may_divide_by_zero(expression.operation, expression.dtype) and not _is_safe_divisor(expression.operands[1])
    return faults or any(map(_may_fault, expression.operands))


def _is_safe_divisor(divisor: Expression) -> bool:
    return isinstance(divisor, Constant) and divisor.value != 0
