# SPDX-License-Identifier: Apache-2.0
"""Interpretation of parallel loops by lanes: their iterations are computed together, as NumPy arrays with an entry for
each, in the order of the nest otherwise.

Parts without parallel loops are Python functions over NumPy's scalars. `ir.nest_interpret`, which knows no parallel
loops, gives the same. The arithmetic is `ir.semantics`', or a machine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.analysis.loop_dependences import LoopDependences
from polyloom.analysis.privatizable import privatizable
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node
from polyloom.ir.nest_interpret import compile_nest
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ElementType, may_divide_by_zero
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.python_source import Scope
from polyloom.ir.semantics import division_by_zero, operation_function
from polyloom.sets import Affine, Condition

Function = Callable[..., Any]
Functions = Callable[[str, ElementType], Function]
"""The function of an operation on NumPy's arrays, within `np.errstate(all="ignore")`."""
Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Lanes:
    """Iterations that are computed together: the values of their loops, and of each local that they have to themselves,
    where it is kept and which entry of it is theirs.
    """

    count: int
    loops: Mapping[str, Array]
    locals: Mapping[str, tuple[Array, Array]]

    def take(self, which: Array) -> _Lanes:
        loops = {name: values[which] for name, values in self.loops.items()}
        return _Lanes(len(which), loops, {name: (kept, own[which]) for name, (kept, own) in self.locals.items()})


def interpret_lanes(
    nest: Nest,
    arrays: Mapping[str, Array],
    functions: Functions = operation_function,
    scope: type[Scope] = Scope,
    types: Mapping[ElementType, Any] = NUMPY,
) -> dict[str, Array]:
    """Interpreter of a nest without parameters: all arguments after it; `arrays` are those before. `functions` compute
    lanes, those of `scope` single values, in arrays of `types`. Errors: PL0233.
    """
    # Copies: the caller's arrays stay what they are.
    run = _Run(nest, {name: np.array(array) for name, array in arrays.items()}, functions, types)
    with np.errstate(all="ignore"):
        for node in nest.body:
            # NumPy pays only for many lanes; a serial part is faster as plain Python.
            if run.has_parallel(node, ()):
                run.nodes((node,), _Lanes(1, {}, {}), ())
            else:
                compile_nest(replace(nest, body=(node,)), scope())({}, run.arrays)
    return run.arrays


class _Run:
    """State of an interpretation: the arrays (mutable), and the dependences that say which loops are parallel."""

    def __init__(
        self, nest: Nest, arrays: dict[str, Array], functions: Functions, types: Mapping[ElementType, Any]
    ) -> None:
        self.nest, self.arrays, self.functions, self.dependences = nest, arrays, functions, LoopDependences(nest)
        self.types = types
        for storage in nest.storage:
            if storage.name not in arrays:
                arrays[storage.name] = np.zeros(tuple(e.constant for e in storage.shape), types[storage.dtype])

    def has_parallel(self, node: Node, path: tuple[Loop | If, ...]) -> bool:
        """Whether something in a node is computed together."""
        if isinstance(node, Assign):
            return False
        inside = (*path, node)
        inner = node.body if isinstance(node, Loop) else (*node.body, *node.orelse)
        return self.dependences.parallel(inside) or any(self.has_parallel(each, inside) for each in inner)

    def nodes(self, nodes: Sequence[Node], lanes: _Lanes, path: tuple[Loop | If, ...]) -> None:
        """Nodes in order; under a condition, the lanes where it holds and those where it fails go separate ways."""
        for node in nodes:
            match node:
                case Assign():
                    self.assign(node, lanes)
                case If():
                    holds = self.holds(node.condition, lanes)
                    for branch, which in ((node.body, holds), (node.orelse, ~holds)):
                        if branch and which.any():
                            self.nodes(branch, lanes.take(np.flatnonzero(which)), (*path, node))
                case Loop():
                    self.loop(node, lanes, (*path, node))

    def loop(self, loop: Loop, lanes: _Lanes, path: tuple[Loop | If, ...]) -> None:
        """Loop that keeps its order: lanes whose bounds do not have an iteration are left out of it."""
        low = np.max([self.form(end, lanes) for end in loop.lower], axis=0)
        high = np.min([self.form(end, lanes) for end in loop.upper], axis=0)
        if self.dependences.parallel(path):
            self.parallel_loop(loop, lanes, path, low, high)
            return
        # Bounds differ from lane to lane, so the loop runs over all values that any lane has.
        values = range(int(low.min()), int(high.max()))
        for value in values if loop.step > 0 else reversed(values):
            which = np.flatnonzero((low <= value) & (value < high))
            if len(which):
                # Taking lanes copies every loop's values, which most iterations do not need.
                inside = lanes if len(which) == lanes.count else lanes.take(which)
                loops = {**inside.loops, loop.name: np.full(inside.count, value)}
                self.nodes(loop.body, _Lanes(inside.count, loops, inside.locals), path)

    def parallel_loop(self, loop: Loop, lanes: _Lanes, path: tuple[Loop | If, ...], low: Array, high: Array) -> None:
        """Parallel loop: each lane becomes as many as it has iterations, with privatized locals of their own."""
        counts = np.maximum(high - low, 0)
        total = int(counts.sum())
        if not total:
            return
        # For each new lane the number of the one that it comes from.
        which = np.repeat(np.arange(lanes.count), counts)
        inside = lanes.take(which)
        # The number of an entry among those of its lane is its place less where the lane begins.
        first = np.repeat(np.cumsum(counts) - counts, counts)
        values = low[which] + np.arange(total) - first
        own = privatizable(self.nest, path)
        kept = {name: (np.zeros(total, self.types[self.nest[name].dtype]), np.arange(total)) for name in own}
        made = _Lanes(total, {**inside.loops, loop.name: values}, {**inside.locals, **kept})
        self.nodes(loop.body, made, path)

    def assign(self, node: Assign, lanes: _Lanes) -> None:
        """Assignment of all lanes. Of lanes that write one scalar, the last in order is the one that stays."""
        value = self.value(node.value, lanes, node)
        found = lanes.locals.get(node.target.name)
        if found is not None:
            # A privatized local has an entry for each lane, into which lanes cannot conflict.
            found[0][found[1]] = value
        else:
            self.arrays[node.target.name][self.index(node.target, lanes)] = value if node.target.index else value[-1]

    def value(self, value: Expression, lanes: _Lanes, node: Assign) -> Array:
        """Value of an expression in all lanes. Errors: PL0233 for a division by zero, at the first lane that has
        one.
        """
        match value:
            case Reference(name=name):
                found = lanes.locals.get(name)
                read = found[0][found[1]] if found is not None else self.arrays[name][self.index(value, lanes)]
                return np.broadcast_to(read, lanes.count)
            case Constant(value=number, dtype=dtype):
                return np.full(lanes.count, number, self.types[dtype])
            case Index(value=form, dtype=dtype):
                return self.form(form, lanes).astype(NUMPY[dtype])
            case Apply(operation=operation, dtype=dtype, operands=operands):
                read = [self.value(operand, lanes, node) for operand in operands]
                if may_divide_by_zero(operation, dtype) and not read[1].all():
                    # The source's order of iterations decides which division is reported.
                    at = {name: values[np.flatnonzero(read[1] == 0)[0]] for name, values in lanes.loops.items()}
                    raise division_by_zero(node.name, ", ".join(f"{n} = {v}" for n, v in at.items()), node.span)
                return self.functions(operation, dtype)(*read)

    def index(self, reference: Reference, lanes: _Lanes) -> tuple[Array, ...]:
        return tuple(self.form(form, lanes) for form in reference.index)

    def form(self, form: Affine, lanes: _Lanes) -> Array:
        total = np.full(lanes.count, form.constant, np.int64)
        for name, factor in form.terms:
            total = total + factor * lanes.loops[name]
        return total

    def holds(self, condition: Condition, lanes: _Lanes) -> Array:
        """Lanes in which a condition holds: a union of conjunctions."""
        inside = np.zeros(lanes.count, bool)
        for piece in condition.pieces:
            each = np.ones(lanes.count, bool)
            for constraint in piece.constraints:
                each &= self.form(constraint, lanes) >= 0
            inside |= each
        return inside
