# SPDX-License-Identifier: Apache-2.0
"""What SSA values stand for: numbers, as expressions of data and of integers that never wrap, and views of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import Span, input_error
from polyloom.frontend.loops import make
from polyloom.frontend.loops.affine import Scope, affine_form
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import CTYPE, INTEGER
from polyloom.ir.operations import ElementType
from polyloom.sets import Affine


@dataclass(frozen=True, slots=True)
class Number:
    """A scalar: `data` computes it in an element type, `integer` with numbers that never wrap, `truth` is a condition.
    `reads` are the arrays and variables that it reads."""

    dtype: ElementType | None
    data: Node | None = None
    integer: Node | None = None
    truth: Node | None = None
    reads: frozenset[str] = frozenset()

    @property
    def is_leaf(self) -> bool:
        """Whether it may be written several times: a name or a constant, or integers alone."""
        node = self.data or self.truth
        return not self.reads and (node is None or node.kind in ("name", "real", "integer"))


Place = Callable[[Sequence[Node]], tuple[Node, ...]]


@dataclass(frozen=True, slots=True)
class View:
    """A view of the array `identity`: `place` gives the indices of an element, `shape` the extents."""

    identity: str
    name: str
    dtype: ElementType
    place: Place
    shape: tuple[Node, ...]

    @property
    def rank(self) -> int:
        return len(self.shape)


Value = Number | View
_LIMIT: Final = 1 << 63
NO_SCOPE: Final = Scope({}, {}, {})


def integer(value: int, at: Span) -> Node:
    return make.literal(value, at)


def combine(opcode: str, a: Node, b: Node, at: Span) -> Node:
    """An operation on integers that never wrap, with constants folded, so that trees stay small. Raises PL0174 where a
    constant leaves the 64 bits of an index."""
    if opcode in ("+", "-") and b.kind == "integer" and b.value == 0:
        return a
    if opcode == "+" and a.kind == "integer" and a.value == 0:
        return b
    if opcode == "*" and b.kind == "integer" and b.value == 1:
        return a
    if opcode == "*" and a.kind == "integer" and a.value == 1:
        return b
    made = make.binary_operation(opcode, (a, b), INTEGER, at)
    if a.kind == b.kind == "integer" and (form := affine_form(made, NO_SCOPE)) is not None:
        if not -_LIMIT <= form.constant < _LIMIT:
            help = "no array has so many elements: use smaller constants"
            raise input_error("PL0174", "an index does not fit into 64 bits", span=at, help=help)
        return integer(form.constant, at)
    return made


def extreme(name: str, parts: Sequence[Node], at: Span) -> Node:
    """The least or the greatest of integers."""
    found = parts[0]
    for part in parts[1:]:
        found = Node("operation", at, INTEGER, (found, part), name)
    return found


def integer_constant(node: Node | None) -> int | None:
    """The number that an integer tree is, if it is a constant."""
    form = None if node is None else affine_form(node, NO_SCOPE)
    return form.constant if form is not None and form.is_constant else None


def size_node(form: Affine, at: Span) -> Node:
    return integer(form.constant, at) if form.is_constant else make.size(form, at)


def array_view(identity: str, name: str, dtype: ElementType, shape: Sequence[Node]) -> View:
    return View(identity, name, dtype, tuple, tuple(shape))


def element_node(view: View, indices: Sequence[Node], at: Span) -> Node:
    """Element of a view, as an element of its array."""
    places = view.place(indices)
    ctype = CTYPE[view.dtype]
    found = make.reference(view.identity, view.name, ctype + "[]" * len(places), at)
    for place in places:
        found = Node("element", at, ctype, (found, place))
    return found
