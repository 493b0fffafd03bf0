# SPDX-License-Identifier: Apache-2.0
"""Reference interpreter of nests in program order: each assignment when its turn comes, with the exact semantics of
`ir.semantics`.

The nest becomes one Python function over NumPy arrays, which is compiled and called: about a microsecond per operation.
This is what the source says; everything that the compiler makes of a nest is compared with it in the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np

from polyloom.diagnostics import PolyloomError
from polyloom.ir.arguments import Arrays, array_shape, check_inputs, check_parameters
from polyloom.ir.nest import (
    Apply,
    Assign,
    Expression,
    If,
    Loop,
    Nest,
    Node,
    Storage,
    accesses,
    data_symbols,
    statements,
)
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import may_divide_by_zero
from polyloom.ir.pla import Array, Reference
from polyloom.ir.plan import Plan
from polyloom.ir.python_source import Scope
from polyloom.ir.semantics import division_by_zero
from polyloom.sets import Affine

Note = Callable[[Assign, tuple[tuple[str, int], ...], tuple[int, ...], Any], None]


def interpret(nest: Nest, parameters: Mapping[str, Any], inputs: Mapping[str, Any]) -> Arrays:
    """Interpretation of a checked nest: every argument array that it assigns to. Those that `inputs` leaves out begin
    with 0, like locals.

    Raises PL0230 to PL0232 for wrong arguments, PL0233 for an integer division by zero.
    """
    return _interpret(nest, parameters, inputs, None)


def _interpret(
    nest: Nest, parameters: Mapping[str, Any], inputs: Mapping[str, Any], note: Note | None, told: Collection[str] = ()
) -> Arrays:
    signature = nest_signature(nest)
    values = check_parameters(signature, parameters)
    zeros = {s.name: np.zeros(array_shape(storage_array(s), values), NUMPY[s.dtype]) for s in nest.storage}
    # An argument that the nest assigns to need not be given.
    blank = {a.name: zeros[a.name] for a in signature.outputs if a.name not in inputs}
    # The caller's arrays stay as they are.
    given = {name: array.copy() for name, array in check_inputs(signature, values, {**inputs, **blank}).items()}
    # Floats overflow and become NaN without a fault (IEEE 754, section 7).
    with np.errstate(all="ignore"):
        compile_nest(nest, Scope(), note, told)(values, zeros | given)
    return {a.name: given[a.name] for a in signature.outputs}


def interpret_stores(
    nest: Nest, parameters: Mapping[str, Any], inputs: Mapping[str, Any], note: Note, told: Collection[str] = ()
) -> Arrays:
    """Interpretation that calls `note` after each assignment to an argument, or to a local in `told`: the statement,
    its loops with their values (outermost first), the index and the value stored. What `note` raises ends it. Errors:
    those of `interpret`.
    """
    return _interpret(nest, parameters, inputs, note, told)


def nest_signature(nest: Nest) -> Plan:
    """Signature of a nest: all arguments are inputs, those assigned to are outputs."""
    arguments = tuple(storage_array(s) for s in nest.storage if s.role == "argument")
    written = {s.assign.target.name for s in statements(nest)}
    return Plan(
        nest.name,
        nest.parameters,
        nest.assumptions,
        arguments,
        tuple(a for a in arguments if a.name in written),
        (),
        (),
    )


def storage_array(storage: Storage) -> Array:
    """A storage as a caller sees it."""
    return Array(storage.name, storage.dtype, storage.shape, storage.span)


class _Source:
    """Python source of a nest's function; arrays are a0, a1, ... in the order of the storage."""

    def __init__(self, nest: Nest, scope: Scope, note: Note | None = None, told: Collection[str] = ()) -> None:
        self.scope, self.nest, self.note = scope, nest, note
        self.told = frozenset((*told, *(s.name for s in nest.storage if s.role == "argument")))
        self.arrays = {s.name: f"a{n}" for n, s in enumerate(nest.storage)}
        self.scope.values |= {"fault": _division_fault, "inside": _check_index}
        self.data = data_symbols(nest)
        for name in self.data:
            # A data symbol is read anew at each use: the scalar may have been assigned in between.
            self.scope.bind(name, f"int({self.arrays[name]}[()])")

    def function(self) -> str:
        lines = [f"    {self.scope.name(p)} = values[{p!r}]" for p in self.nest.parameters]
        # Local names of Python's, which are read faster than entries of a dictionary.
        lines += [f"    {text} = arrays[{name!r}]" for name, text in self.arrays.items()]
        return "\n".join(["def run(values, arrays):", *lines, *self.block(self.nest.body, (), "    ")])

    def block(self, nodes: tuple[Node, ...], loops: tuple[str, ...], margin: str) -> Iterator[str]:
        # A block may be empty, which Python cannot say otherwise.
        yield f"{margin}pass"
        for node in nodes:
            match node:
                case Assign():
                    yield from self.assign(node, loops, margin)
                case Loop(name=name):
                    # `reversed` has the same values downwards, as a loop of step -1 does.
                    ends = f"range({self.extreme('max', node.lower)}, {self.extreme('min', node.upper)})"
                    yield f"{margin}for {self.scope.name(name)} in {ends if node.step == 1 else f'reversed({ends})'}:"
                    yield from self.block(node.body, (*loops, name), margin + " ")
                case If():
                    yield f"{margin}if {self.scope.condition(node.condition)}:"
                    yield from self.block(node.body, loops, margin + " ")
                    yield f"{margin}else:"
                    yield from self.block(node.orelse, loops, margin + " ")

    def assign(self, node: Assign, loops: tuple[str, ...], margin: str) -> Iterator[str]:
        value = self.scope.value(node.value, (self.element(r) for r in accesses(node.value)))
        text = f"{self.element(node.target)} = {value}"
        # Only what divides is guarded, as a `try` around every assignment would be most of the text.
        if not may_fault(node.value):
            yield margin + text
            yield from self.notice(node, loops, margin)
            return
        fault, where = f"f{len(self.scope.values)}", self.scope.tuple([Affine.symbol(loop) for loop in loops])
        self.scope.values[fault] = (node, loops)
        yield from (
            f"{margin}try:",
            f"{margin} {text}",
            f"{margin}except ZeroDivisionError:",
            f"{margin} raise fault(*{fault}, {where}) from None",
        )
        yield from self.notice(node, loops, margin)

    def notice(self, node: Assign, loops: tuple[str, ...], margin: str) -> Iterator[str]:
        """What tells `note` of an assignment that has been done."""
        if self.note is None or node.target.name not in self.told:
            return
        name, element = f"n{len(self.scope.values)}", self.element(node.target)
        self.scope.values |= {"note": self.note, name: node}
        where = "".join(f"({loop!r}, {self.scope.name(loop)}), " for loop in loops)
        yield f"{margin}note({name}, ({where}), {self.scope.tuple(node.target.index)}, {element})"

    def extreme(self, chosen: str, bounds: tuple[Affine, ...]) -> str:
        texts = [self.scope.affine(b) for b in bounds]
        return texts[0] if len(texts) == 1 else f"{chosen}({', '.join(texts)})"

    def element(self, reference: Reference) -> str:
        index = self.scope.tuple(reference.index)
        # Affine indices are proved to be inside; those that are data are checked when they are used.
        if any(form.symbols & self.data for form in reference.index):
            index = f"inside({index})"
        return f"{self.arrays[reference.name]}[{index}]"


def may_fault(value: Expression) -> bool:
    """Whether an integer division is somewhere in `value`."""
    return isinstance(value, Apply) and (
        may_divide_by_zero(value.operation, value.dtype) or any(map(may_fault, value.operands))
    )


def compile_nest(nest: Nest, scope: Scope, note: Note | None = None, told: Collection[str] = ()) -> Any:
    """A function of parameter values and of all arrays, which it changes, within `np.errstate(all="ignore")`; `scope`
    says what operations mean, `note` hears of each assignment to an argument, or to a local in `told`."""
    source = _Source(nest, scope, note, told)
    text = source.function()
    # Compiled once: walking the tree for each instance would take many times as long.
    exec(compile(text, f"<{nest.name}>", "exec"), source.scope.values)
    return source.scope.values["run"]


def _division_fault(node: Assign, loops: tuple[str, ...], where: tuple[int, ...]) -> PolyloomError:
    at = ", ".join(f"{name} = {value}" for name, value in zip(loops, where, strict=True))
    return division_by_zero(node.name, at, node.span)


def _check_index(index: tuple[int, ...]) -> tuple[int, ...]:
    """NumPy counts negative indices from the end."""
    if min(index) < 0:
        raise IndexError(f"index {min(index)} is negative")
    return index
