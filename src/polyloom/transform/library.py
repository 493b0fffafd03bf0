# SPDX-License-Identifier: Apache-2.0
"""Functions of C's library written out: an assignment with `exp(x)` becomes assignments to scalars, one per value that
the function's program (ir/library.py) uses several times, and the rest stands where the call stood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from polyloom.diagnostics import Span
from polyloom.ir.library import KERNELS, Program, power_program, program
from polyloom.ir.nest import Apply, Assign, Expression, Nest, Node, Storage, assignments, taken_names
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.names import fresh_name


def expand_calls(nest: Nest) -> Nest:
    """Intrinsic expansion: the nest without calls of C's library functions, by their programs (`ir.library`)."""
    if not any(_calls(found.value) for found in assignments(nest.body)):
        return nest
    writer = _Writer(nest)
    body = writer.nodes(nest.body)
    return replace(nest, body=body, storage=(*nest.storage, *writer.storage))


def _calls(value: Expression) -> bool:
    return isinstance(value, Apply) and (value.operation in _WRITTEN_OUT or any(map(_calls, value.operands)))


_WRITTEN_OUT = (*KERNELS, "pow")


class _Writer(Rewriter):
    """`storage` are the scalars that it makes (mutable)."""

    def __init__(self, nest: Nest) -> None:
        self.taken, self.storage = taken_names(nest), list[Storage]()

    def assign(self, node: Assign) -> Iterable[Node]:
        before = list[Node]()

        def keep(value: Expression, dtype: ElementType, name: str) -> Reference:
            return self.keep(value, dtype, name, node, before)

        value = _expand_expression(node.value, keep)
        return (*before, replace(node, value=value))

    def keep(self, value: Expression, dtype: ElementType, name: str, node: Assign, before: list[Node]) -> Reference:
        """A scalar that holds a value from before the assignment `node` on."""
        scalar = Reference(fresh_name(name, self.taken), (), node.span)
        self.storage.append(Storage(scalar.name, dtype, (), "local", True, node.span))
        before.append(Assign(fresh_name(f"{node.name}_{name}", self.taken), scalar, value, node.span))
        return scalar


Keep = Callable[[Expression, ElementType, str], Reference]


def _expand_expression(value: Expression, keep: Keep) -> Expression:
    if not isinstance(value, Apply) or not _calls(value):
        return value
    operands = tuple([_expand_expression(operand, keep) for operand in value.operands])
    if value.operation not in _WRITTEN_OUT:
        return replace(value, operands=operands)
    x = operands[0]
    if not isinstance(x, Reference | Constant):
        x = keep(x, value.dtype, f"{value.operation}_x")
    return _instantiate_program(_program(value), x, value.operation, value.span, keep)


def _program(call: Apply) -> Program:
    if call.operation != "pow":
        return program(call.operation, call.dtype)
    exponent = call.operands[1]
    # The readers refuse other exponents: `pow` is expanded by squaring for a constant one.
    assert isinstance(exponent, Constant)
    return power_program(int(exponent.value), call.dtype)


def _instantiate_program(found: Program, x: Expression, name: str, span: Span | None, keep: Keep) -> Expression:
    """Result of a program as an expression, with a scalar for each value that several steps use."""
    uses = Counter(o for step in found.steps for o in step.operands if isinstance(o, int))
    values = list[Expression]()
    for n, step in enumerate(found.steps):
        operands = tuple([o if isinstance(o, Constant) else x if o < 0 else values[o] for o in step.operands])
        # The reason shows in listings, since the user wrote one call.
        value: Expression = Apply(step.operation, step.dtype, operands, span, f"is a step of {name}")
        values.append(keep(value, BY_NAME[step.operation].result(step.dtype), name) if uses[n] > 1 else value)
    return values[-1]
