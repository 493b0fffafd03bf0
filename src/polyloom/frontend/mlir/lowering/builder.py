# SPDX-License-Identifier: Apache-2.0
"""The function that is being made: its arrays, its variables, its statements, and what SSA values stand for."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from xdsl.ir import Block, Operation, SSAValue

from polyloom.diagnostics import PolyloomError, Span, input_error
from polyloom.frontend.loops import make
from polyloom.frontend.loops.affine import Scope, affine_form
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import CTYPE, INTEGER
from polyloom.frontend.mlir.lowering.values import Number, Value, View, array_view, combine, integer, size_node
from polyloom.frontend.mlir.reader import Module
from polyloom.ir.nest import Storage
from polyloom.ir.nest_c import RESERVED
from polyloom.ir.operations import ElementType
from polyloom.names import fresh_name
from polyloom.sets import Affine

_WORD: Final = re.compile(r"[^A-Za-z0-9_]+")
_LARGE: Final = 200
"""Nodes of an integer from which it is not written out in several places."""


@dataclass(slots=True)
class Frame:
    """One expansion of a function: what its values stand for, and the operations that are lowered already (mutable)."""

    values: dict[SSAValue, Value] = field(default_factory=dict[SSAValue, Value])
    done: set[Operation] = field(default_factory=set[Operation])
    results: tuple[Value, ...] = ()


class Builder:
    """`storage` are arrays and variables by identity, `symbols` what integers stand for, `statements` the block that is
    being made, `owned` the arrays that no caller sees, `equal` the extents that must be the same (mutable)."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.storage, self.symbols = dict[str, Storage](), dict[str, Affine]()
        self.statements: list[Node] = []
        self.taken, self.owned = set[str](), set[str]()
        self.loops, self.assigned, self.counters = set[str](), set[str](), set[str]()
        self.equal = list[tuple[Affine, Affine]]()
        self.assumed: list[Affine] = []
        self.frame = Frame()
        self.active = list[str]()
        self.current: Operation | None = None

    def span(self, operation: Operation) -> Span:
        return self.module.span(operation)

    def refuse(self, code: str, message: str, operation: Operation, help: str) -> PolyloomError:
        return input_error(code, message, span=self.span(operation), help=help)

    def fresh_value_name(self, value: SSAValue, default: str) -> str:
        """A name that is new, after the one that the text has."""
        base = _WORD.sub("_", value.name_hint or default).strip("_") or default
        base = f"{default}{base}" if base[0].isdigit() else base
        return fresh_name(f"{base}_" if base in RESERVED else base, self.taken)

    def number(self, value: SSAValue) -> Number:
        """The scalar that a value stands for. Raises PL0173 for an array."""
        found = self.frame.values[value]
        if not isinstance(found, Number):
            raise self.refuse_type(value, "a number")
        return found

    def view(self, value: SSAValue) -> View:
        """The array that a value stands for. Raises PL0173 for a scalar."""
        found = self.frame.values[value]
        if not isinstance(found, View):
            raise self.refuse_type(value, "an array")
        return found

    def refuse_type(self, value: SSAValue, expected: str) -> PolyloomError:
        # Operations of xDSL take operands of types that they have no meaning for.
        operation = self.current
        assert operation is not None
        message = f"{operation.name} has an operand of the type {value.type}, and {expected} is expected"
        return self.refuse("PL0173", message, operation, "docs/mlir.md lists the forms of every operation")

    def integer_operand(self, value: SSAValue, operation: Operation) -> Node:
        """An index as an integer that never wraps, or as data where it is data."""
        found = self.number(value)
        # What never wraps keeps its tree: an affine index stays affine however often it is written.
        if found.integer is not None:
            return found.integer
        if found.data is None:
            message = f"{operation.name} needs an integer that is affine in loops and sizes"
            raise self.refuse("PL0174", message, operation, "compute it from loops, sizes and constants")
        at = self.span(operation)
        return Node("exact", at, INTEGER, (Node("other", at), found.data))

    def add_storage(
        self, name: str, dtype: ElementType, shape: Iterable[Affine], role: Any, span: Span, *, writable: bool = True
    ) -> str:
        """A new array or variable; its identity is its name, which is new."""
        self.storage[name] = Storage(name, dtype, tuple(shape), role, writable, span)
        return name

    def variable(self, name: str, dtype: ElementType, at: Span) -> Node:
        """A new local variable."""
        identity = self.add_storage(fresh_name(name, self.taken), dtype, (), "local", at)
        self.assigned.add(identity)
        return make.reference(identity, identity, CTYPE[dtype], at)

    def counter(self, name: str, initial: Node, at: Span) -> Node:
        """A new variable of an integer that never wraps."""
        identity = fresh_name(name, self.taken)
        self.statements.append(make.declare_variable(identity, INTEGER, identity, Node("", at), initial))
        self.assigned.add(identity)
        self.counters.add(identity)
        return make.reference(identity, identity, INTEGER, at)

    def assign(self, target: Node, value: Node, at: Span) -> None:
        self.statements.append(Node("binary", at, target.ctype, (target, value), "="))

    def extent_form(self, node: Node) -> Affine | None:
        """An extent as an affine form of sizes."""
        return affine_form(node, Scope(self.symbols, {}, {}))

    def equate_extents(self, one: Node, other: Node, operation: Operation) -> None:
        """An operation says that two extents are one. Raises PL0176 for constants that differ."""
        a, b = self.extent_form(one), self.extent_form(other)
        if a is None or b is None or a == b:
            return
        if a.is_constant and b.is_constant:
            message = f"one axis has {a} elements and another one {b}, which one loop runs over"
            raise self.refuse("PL0176", message, operation, "give both axes the same extent")
        self.equal.append((a, b))

    def local_array(self, name: str, dtype: ElementType, shape: Sequence[Node], operation: Operation) -> View:
        """A new local array."""
        # An array is one for the whole function: in a loop each turn has it again, which nothing can observe, since a
        # new array has no elements yet.
        forms = [self.extent_form(node) for node in shape]
        known = [form for form in forms if form is not None and not form.symbols & self.loops]
        if len(known) != len(forms):
            help = "allocate the largest extent outside of the loops, and use a part of it"
            raise self.refuse("PL0174", "an extent of an array is not affine in sizes", operation, help)
        at = self.span(operation)
        identity = self.add_storage(fresh_name(name, self.taken), dtype, known, "local", at)
        self.owned.add(identity)
        return array_view(identity, identity, dtype, [size_node(form, at) for form in known])

    @contextmanager
    def collect(self) -> Generator[list[Node]]:
        """What is lowered inside goes into the list that is given."""
        outer, self.statements = self.statements, list[Node]()
        made = self.statements
        try:
            yield made
        finally:
            self.statements = outer

    @contextmanager
    def loop(self, name: str, lower: Node, upper: Node, step: int, at: Span) -> Generator[Node]:
        """A loop; what is lowered inside is its body."""
        identity = fresh_name(name, self.taken)
        self.loops.add(identity)
        none = Node("", at)
        counter = make.reference(identity, identity, INTEGER, at)
        with self.collect() as body:
            yield counter
        head = make.declare_variable(identity, INTEGER, identity, none, lower)
        # MLIR's loops exclude their upper bound and only count up.
        test = make.binary_operation("<", (counter, upper), INTEGER, upper.span)
        counts = Node("update", at, INTEGER, (counter, integer(step, at)), "+=")
        whole = Node("block", at, "", tuple(body))
        self.statements.append(Node("for", at, "", (head, none, test, counts, whole)))

    @contextmanager
    def loop_nest(self, shape: Sequence[Node], at: Span, name: str = "i") -> Generator[list[Node]]:
        """Loops over all indices of a shape, the first axis outermost."""
        if not shape:
            yield []
            return
        with (
            self.loop(name, integer(0, at), shape[0], 1, at) as first,
            self.loop_nest(shape[1:], at, _next_letter(name)) as rest,
        ):
            yield [first, *rest]

    def copy_elements(self, source: View, target: View, at: Span) -> None:
        """Every element of a view to the same place of another one."""
        from polyloom.frontend.mlir.lowering.values import element_node

        with self.loop_nest(target.shape, at) as indices:
            self.assign(element_node(target, indices, at), element_node(source, indices, at), at)

    def materialize(self, value: SSAValue, at: Span) -> None:
        """A value is computed now, into a variable."""
        found = self.number(value)
        self.frame.values[value] = self.hold(found, self.name_hint(value), at)

    def name_hint(self, value: SSAValue) -> str:
        base = _WORD.sub("_", value.name_hint or "t").strip("_") or "t"
        return "t" if base[0].isdigit() or base in RESERVED else base

    def hold(self, found: Number, name: str, at: Span) -> Number:
        """A number in a variable of its own."""
        node = found.data
        # A condition becomes a number of 0 or 1 when it is stored.
        if node is None and found.truth is not None:
            node = replace(found.truth, ctype=CTYPE["bool"])
        if node is None or found.dtype is None:
            return found
        held = self.variable(name, found.dtype, at)
        self.assign(held, node, at)
        truth = held if found.truth is not None else None
        return Number(found.dtype, held, found.integer, truth, frozenset({held.symbol}))

    def flush(self, written: frozenset[str], operation: Operation, exempt: bool = False) -> None:
        """What still reads an array that an operation is going to change is computed before. With `exempt`, the
        operation itself reads before it writes."""
        if not written:
            return
        # Expressions stand for values until somebody uses them: one that would read another element by then is
        # computed first.
        done = self.frame.done
        for value, found in [*self.frame.values.items()]:
            if isinstance(found, Number) and found.reads & written:
                later = [u.operation for u in value.uses if u.operation not in done]
                if any(not (exempt and user is operation) for user in later):
                    self.materialize(value, self.span(operation))

    def define(self, value: SSAValue, found: Number, operation: Operation) -> None:
        """What a result stands for; it is computed at once where it is used in several places, or in an inner block."""
        self.frame.values[value] = found
        if found.is_leaf or (found.data is None and found.truth is None):
            return
        users = [use.operation for use in value.uses]
        # Call by need would compute it in each place; within a loop, in each turn.
        is_integer = found.integer is not None and not found.reads
        if not is_integer and (len(users) > 1 or any(user.parent is not operation.parent for user in users)):
            self.materialize(value, self.span(operation))

    def run_block(self, block: Block) -> None:
        for operation in block.ops:
            self.current = operation
            self.lower(operation)
            self.share_integers(operation)
            self.frame.done.add(operation)

    def share_integers(self, operation: Operation) -> None:
        """A large integer that is used several times gets a variable: written out in each place, sixty doublings would
        be a tree of 2^60 nodes."""
        for value in operation.results:
            found = self.frame.values.get(value)
            if not isinstance(found, Number) or found.integer is None or value.uses.get_length() < 2:
                continue
            if sum(1 for _ in islice(found.integer, _LARGE)) == _LARGE:
                counter = self.counter(self.name_hint(value), found.integer, self.span(operation))
                self.frame.values[value] = replace(found, integer=counter)

    def lower(self, operation: Operation) -> None:
        raise NotImplementedError

    def offset(self, base: Node, index: Node, stride: Node, at: Span) -> Node:
        return combine("+", base, combine("*", index, stride, at), at)


def _next_letter(name: str) -> str:
    return chr(ord(name[0]) + 1) if name[0] < "z" else "i"
