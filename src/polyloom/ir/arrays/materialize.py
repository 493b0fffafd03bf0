# SPDX-License-Identifier: Apache-2.0
"""Three-address form of whole-array programs: reductions within values, and what is computed below a view or a sum of
products, become local arrays of their own (Aho et al. 2006, section 6.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.ir.arrays.program import (
    Apply,
    Contract,
    For,
    If,
    Program,
    Read,
    Reduce,
    Statement,
    Store,
    Value,
    View,
    dtype,
    element_view,
    parts,
    read_array,
    shape,
    with_parts,
)
from polyloom.ir.nest import Storage
from polyloom.names import fresh_name


def materialize_reductions(program: Program) -> Program:
    """The program in which a reduction is all that its statement stores, of elements."""
    made = _Locals(program)
    body = tuple(each for statement in program.body for each in made.statement(statement))
    return replace(program, storage=(*program.storage, *made.storage), body=body)


class _Locals:
    """`storage` are the new arrays, `before` the statements that compute them, `known` what is computed (mutable)."""

    def __init__(self, program: Program) -> None:
        self.storage, self.before = list[Storage](), list[Statement]()
        self.known = dict[Value, Read]()
        self.taken = {*program.parameters, *(s.name for s in program.storage)}

    def statement(self, statement: Statement) -> Sequence[Statement]:
        match statement:
            case Store(value=value):
                # Until the statement stores, equal values are one.
                self.before, self.known = list[Statement](), dict[Value, Read]()
                found = replace(statement, value=self.root(value))
                return (*self.before, found)
            case For() | If():
                return (statement,)

    def root(self, value: Value) -> Value:
        """A value that a statement stores as it is."""
        if isinstance(value, Reduce):
            return replace(value, source=self.inner(value.source))
        if isinstance(value, Contract):
            return replace(value, operands=tuple(map(self.array_operand, value.operands)))
        return self.inner(value)

    def inner(self, value: Value) -> Value:
        if isinstance(value, Reduce | Contract):
            return self.local(self.root(value))
        if isinstance(value, View):
            return element_view(self.array_operand(value.source), value.index, value.shape, value.span)
        if isinstance(value, Apply):
            return with_parts(value, [self.inner(part) for part in parts(value)])
        return value

    def array_operand(self, value: Value) -> Value:
        """A value as an element of an array."""
        return value if isinstance(value, Read) else self.local(self.root(value))

    def local(self, value: Value) -> Value:
        if value in self.known:
            return self.known[value]
        storage = Storage(fresh_name("t", self.taken), dtype(value), shape(value), "local", True)
        self.storage.append(storage)
        target = read_array(storage)
        self.before.append(Store(target, value))
        self.known[value] = target
        return target
