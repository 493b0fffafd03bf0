# SPDX-License-Identifier: Apache-2.0
"""Sequential affine loop nests (static control programs, Feautrier 1991): what a Python function or a C file says,
before any order is taken away.

    for i = max(lower...) .. min(upper...) step 1|-1 { if (affine) { S: A[f(i)] = operation(...) } else { ... } }

Bounds, conditions and indices are affine in the surrounding loops and the parameters; everything else is data. Loops
have names that are unique in the nest, so a symbol means one loop. Both front ends make this, `transform.dataflow`
takes it apart, `transform.nest_to_ssa` makes blocks of it, `ir.nest_c` prints it as a C function that the C front end
reads back, `ir.nest_interpret` executes it in its order. A `Reference` reads or writes an element, whatever its index;
a `Constant` is an immediate, as in `ir.pla`.

Machines that execute a nest as it stands also take indices, bounds and conditions that are data: in them a symbol may
be the name of a local integer scalar, and means what that holds at the time (`data_symbols`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from polyloom.diagnostics import Span
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import is_plainly_empty

Role = Literal["argument", "local"]
"""An argument is what the caller passes (arrays, scalars by value); a local is the function's, undefined at first."""


@dataclass(frozen=True, slots=True)
class Storage:
    """An array or a scalar (`shape` is `()`); extents are affine in the parameters. `writable` is False for scalars
    passed by value."""

    name: str
    dtype: ElementType
    shape: tuple[Affine, ...] = ()
    role: Role = "argument"
    writable: bool = True
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """The value of an affine expression of loops and parameters, as data (wrapping to `dtype`, rounded to f32)."""

    value: Affine
    dtype: ElementType
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Apply:
    """`operation` of `ir.operations` on operands of the element type `dtype` (the last operand's, as in `ir.pla`).
    `reason` says what it is a part of, where the user did not write it."""

    operation: str
    dtype: ElementType
    operands: tuple[Expression, ...]
    span: Span | None = None
    reason: str = ""


Expression = Reference | Constant | Index | Apply


@dataclass(frozen=True, slots=True)
class Assign:
    """`name: target = value`; `value` has the element type of the target's storage."""

    name: str
    target: Reference
    value: Expression
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """Loop: `name` from max(lower) up to, not including, min(upper); with step -1 the same values, downwards. Each
    iteration of a `stepped` one is a step of its own, on targets that have steps. `called` is its name in the source,
    where that is the name of another loop, too.
    """

    name: str
    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]
    body: tuple[Node, ...]
    step: Literal[1, -1] = 1
    span: Span | None = None
    stepped: bool = False
    called: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """`body` where the affine condition holds, `orelse` elsewhere."""

    condition: Condition
    body: tuple[Node, ...]
    orelse: tuple[Node, ...] = ()
    span: Span | None = None


Node = Assign | Loop | If


@dataclass(frozen=True, slots=True)
class Nest:
    """A function. Every argument array that is written is an output; `assumptions` is the parameters' domain."""

    name: str
    parameters: tuple[str, ...]
    assumptions: Condition
    storage: tuple[Storage, ...]
    body: tuple[Node, ...]
    span: Span | None = None

    def __getitem__(self, name: str) -> Storage:
        return next(s for s in self.storage if s.name == name)


Step = tuple[int, str, int]
"""One level of an order: position among the siblings, the loop ("" at the end), and its direction 1 or -1."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement of a nest with everything around it: `loops` outermost first, `domain` over them, and its place `order`
    in the nest (the schedule of Feautrier 1992, part II, also known as 2d + 1 form).

    Of two instances, the one whose sequence (position, direction * loop value, position, ...) is lexicographically
    smaller runs first.
    """

    assign: Assign
    loops: tuple[str, ...]
    domain: Condition
    order: tuple[Step, ...]


def schedule_vector(statement: Statement) -> tuple[Affine, ...]:
    """Schedule vector of an instance (Feautrier 1992, part II): position, loop, position, ..."""
    return tuple(
        form
        for position, loop, direction in statement.order
        # A loop that counts down has its iterations negated, so that the vector ascends.
        for form in (Affine((), position), *([Affine.symbol(loop) * direction] if loop else []))
    )


def statements(nest: Nest) -> tuple[Statement, ...]:
    """The assignments of a nest in the order of the text."""
    return tuple(_collect_statements(nest.body, (), (), (Polyhedron(),)))


def names(nest: Nest) -> frozenset[str]:
    """Names of parameters, storage and loops; statements have names of their own."""
    return frozenset((*nest.parameters, *(s.name for s in nest.storage), *loops(nest.body)))


def loops(nodes: Iterable[Node]) -> Iterator[str]:
    """The names of all loops, in the order of the text."""
    return (loop.name for loop in loop_nodes(nodes))


def assignments(nodes: Iterable[Node]) -> Iterator[Assign]:
    """Assignments below nodes, in the order of the text."""
    for node in nodes:
        match node:
            case Assign():
                yield node
            case Loop():
                yield from assignments(node.body)
            case If():
                yield from assignments((*node.body, *node.orelse))


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """Preorder traversal: an expression and all operands in it, from left to right, repeated as written."""
    # Not recursive: through n generators within each other, each part of a sum of n terms would be handed on n times.
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Apply):
            waiting.extend(reversed(part.operands))


def leaves(expression: Expression) -> Iterator[Reference | Constant | Index]:
    """Leaves of an expression, the operands of its operations."""
    return (part for part in subexpressions(expression) if not isinstance(part, Apply))


def accesses(expression: Expression) -> Iterator[Reference]:
    """The elements that `expression` reads, from left to right, repeated as written."""
    return (leaf for leaf in leaves(expression) if isinstance(leaf, Reference))


Cell = tuple[str, tuple[Affine, ...]]


def subscript_symbols(reference: Reference) -> frozenset[str]:
    """Symbols of a reference's subscripts."""
    return frozenset[str]().union(*(form.symbols for form in reference.index))


def cell(reference: Reference) -> Cell:
    """The element that a reference names, wherever it is written."""
    return reference.name, reference.index


def loop_nodes(nodes: Iterable[Node]) -> Iterator[Loop]:
    """Loops below nodes, in the order of the text."""
    for node in nodes:
        if isinstance(node, Loop):
            yield node
            yield from loop_nodes(node.body)
        elif isinstance(node, If):
            yield from loop_nodes((*node.body, *node.orelse))


def taken_names(nest: Nest) -> set[str]:
    """Names that a nest uses, those of statements, too."""
    return {*names(nest), *(assign.name for assign in assignments(nest.body))}


def data_symbols(nest: Nest) -> frozenset[str]:
    """The scalars of a nest that may be symbols in indices, bounds and conditions."""
    # i32 alone: a symbol is an integer that needs no conversion.
    return frozenset(s.name for s in nest.storage if s.role == "local" and not s.shape and s.dtype == "i32")


def depends_on_symbols(nodes: Iterable[Node], names: Collection[str]) -> bool:
    """Whether an index, a bound or a condition has one of these symbols."""
    return any(_node_depends(node, frozenset(names)) for node in nodes)


def _node_depends(node: Node, names: frozenset[str]) -> bool:
    match node:
        case Assign():
            references = (node.target, *accesses(node.value))
            return any(index.symbols & names for reference in references for index in reference.index)
        case Loop():
            return any(b.symbols & names for b in (*node.lower, *node.upper)) or depends_on_symbols(node.body, names)
        case If():
            return bool(node.condition.symbols & names) or depends_on_symbols((*node.body, *node.orelse), names)


def expression_type(expression: Expression, nest: Nest) -> ElementType:
    """The element type of an expression's value."""
    match expression:
        case Reference(name=name):
            return nest[name].dtype
        case Apply(operation=operation, dtype=dtype):
            return BY_NAME[operation].result(dtype)
        case _:
            return expression.dtype


def negate(condition: Condition) -> Condition:
    """Complement of a condition, as disjoint pieces: not (a or b) = (not a) and (not b)."""
    outside: tuple[Polyhedron, ...] = (Polyhedron(),)
    for piece in condition.pieces:
        # Intersections of disjoint pieces with disjoint pieces stay disjoint.
        outside = _intersect_pieces(outside, tuple(_complement_pieces(piece)))
    return Condition(outside)


def _complement_pieces(piece: Polyhedron) -> Iterator[Polyhedron]:
    """Disjoint: the first constraint fails; or it holds and the second fails; and so on."""
    for n, constraint in enumerate(piece.constraints):
        yield Polyhedron((*piece.constraints[:n], -constraint - 1))


def _intersect_pieces(a: tuple[Polyhedron, ...], b: tuple[Polyhedron, ...]) -> tuple[Polyhedron, ...]:
    """Intersection of two unions, without plainly empty pieces: the last `else` of a chain is a product of all
    negations.
    """
    pieces = (Polyhedron((*p.constraints, *q.constraints)) for p in a for q in b)
    return tuple(piece for piece in pieces if not is_plainly_empty(piece))


def _collect_statements(
    nodes: tuple[Node, ...],
    loops: tuple[str, ...],
    order: tuple[Step, ...],
    domain: tuple[Polyhedron, ...],
    at: int = 0,
) -> Iterator[Statement]:
    """Statements below nodes, with their domains and orders; the branches of a condition count as siblings."""
    for node in nodes:
        match node:
            case Assign():
                yield Statement(node, loops, Condition(domain), (*order, (at, "", 1)))
            case Loop(name=name):
                # Bounds are lower <= i < upper, however the loop runs: the direction is in the order alone.
                symbol = Affine.symbol(name)
                bounds = Polyhedron(
                    (*(symbol - low for low in node.lower), *(high - symbol - 1 for high in node.upper))
                )
                yield from _collect_statements(
                    node.body, (*loops, name), (*order, (at, name, node.step)), _intersect_pieces(domain, (bounds,))
                )
            case If():
                yield from _collect_statements(
                    node.body, loops, order, _intersect_pieces(domain, node.condition.pieces), at
                )
                yield from _collect_statements(
                    node.orelse,
                    loops,
                    order,
                    _intersect_pieces(domain, negate(node.condition).pieces),
                    at + _sibling_count(node.body),
                )
        at += _sibling_count((node,))


def _sibling_count(nodes: tuple[Node, ...]) -> int:
    """The positions that nodes take among their siblings: those of a condition count for themselves."""
    return sum(_sibling_count(node.body) + _sibling_count(node.orelse) if isinstance(node, If) else 1 for node in nodes)
