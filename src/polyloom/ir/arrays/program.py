# SPDX-License-Identifier: Apache-2.0
"""Whole-array programs: trees of array values with symbolic shapes, stored into views of named arrays.

A value has an element type and a shape, affine in sizes and in the loops around it. Its axes are the symbols `$0`,
`$1`, ..., so a view is one affine map from its axes to the indices of what it shows: slices with constant steps, flips,
transposes, broadcasts, new axes and splits of an axis are all such maps, and views compose by substitution. `Cases` are
a piecewise value, of which pads, concatenations, rolls and triangles are instances. The operations are those of
structured array languages (Iverson, A Programming Language, 1962; Blelloch, NESL, 1995, for scans).

    Program  = arrays, statements
    Statement = Store(view, value) | For(loop, bounds, statements) | If(affine condition, statements, statements)
    Value    = Constant | Form | Read | View | Gather | Apply | Contract | Reduce | Scan | Cases
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from polyloom.diagnostics import Span
from polyloom.ir.nest import Storage
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition

Shape = tuple[Affine, ...]
ReduceOperation = Literal["add", "mul", "and", "or", "maximum", "minimum", "argmax", "argmin"]
REDUCTIONS: Final[tuple[ReduceOperation, ...]] = (
    "add",
    "mul",
    "and",
    "or",
    "maximum",
    "minimum",
    "argmax",
    "argmin",
)
"""`maximum` and its kin give a NaN where there is one (NumPy's meaning), unlike `max` of `ir.operations`."""


@dataclass(frozen=True, slots=True)
class Form:
    """An affine form of axes, loops and sizes as data of a type: an iota, a loop's value, a size."""

    value: Affine
    dtype: ElementType
    shape: Shape = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A view of the array `name`: the element at `index`, affine in the axes of `shape`."""

    name: str
    dtype: ElementType
    index: tuple[Affine, ...]
    shape: Shape = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class View:
    """A view of a value; an axis that `index` does not mention is broadcast."""

    source: Value
    index: tuple[Affine, ...]
    shape: Shape
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Gather:
    """Elements of `source` at places along `axis` that are data, with the axes of `index` in the place of this one; a
    negative index counts from the end (NumPy's `take`)."""

    source: Value
    index: Value
    axis: int
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Apply:
    """`operation` of `ir.operations`, element by element; operands of rank 0 stand beside every element."""

    operation: str
    dtype: ElementType
    operands: tuple[Value, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Contract:
    """An Einstein sum: products, from left to right, of elements whose axes `labels` name, summed over the labels that
    `result` has not, the first one outermost, in index order from 0."""

    labels: tuple[str, ...]
    result: str
    operands: tuple[Value, ...]
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Reduce:
    """All elements along `axes` combined in index order; `argmax` and `argmin` give the first place along their one
    axis as an i32."""

    operation: ReduceOperation
    axes: tuple[int, ...]
    source: Value
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """The running results along an axis: the inclusive prefix sums, or products."""

    operation: Literal["add", "mul"]
    axis: int
    source: Value
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Cases:
    """`inside` where the affine condition on axes holds, `outside` elsewhere; each has elements at least there."""

    condition: Condition
    inside: Value
    outside: Value
    shape: Shape
    span: Span | None = None


Value = Constant | Form | Read | View | Gather | Apply | Contract | Reduce | Scan | Cases


@dataclass(frozen=True, slots=True)
class Store:
    """`target = value`: the value is evaluated as a whole before an element is stored."""

    target: Read
    value: Value
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class For:
    """`loop` from max(lower) up to below min(upper), upwards, or downwards with the step -1; the source calls it
    `called`.
    """

    loop: str
    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]
    body: tuple[Statement, ...]
    step: Literal[1, -1] = 1
    span: Span | None = None
    called: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """`body` where an affine condition on loops and sizes holds, `orelse` elsewhere."""

    condition: Condition
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...] = ()
    span: Span | None = None


Statement = Store | For | If


@dataclass(frozen=True, slots=True)
class Program:
    """A function over arrays; `storage` and `assumptions` are as of `ir.nest.Nest`."""

    name: str
    parameters: tuple[str, ...]
    assumptions: Condition
    storage: tuple[Storage, ...]
    body: tuple[Statement, ...]
    span: Span | None = None

    def __getitem__(self, name: str) -> Storage:
        return next(s for s in self.storage if s.name == name)

    @property
    def written_arguments(self) -> tuple[str, ...]:
        """The arguments that are stored to."""
        written = {store.target.name for store in stores(self.body)}
        return tuple(s.name for s in self.storage if s.role == "argument" and s.name in written)


def axis(number: int) -> Affine:
    """The symbol of an axis."""
    return Affine.symbol(f"${number}")


def axes(count: int) -> tuple[Affine, ...]:
    return tuple(map(axis, range(count)))


def read_array(storage: Storage, span: Span | None = None) -> Read:
    """All elements of an array."""
    return Read(storage.name, storage.dtype, axes(len(storage.shape)), storage.shape, span)


def shape(value: Value) -> Shape:
    """The extents of a value."""
    match value:
        case Constant():
            return ()
        case Gather(source=source, index=index, axis=along):
            extents = shape(source)
            return (*extents[:along], *shape(index), *extents[along + 1 :])
        case Apply(operands=operands):
            # Operands of rank 0 have no extents; all others have the same ones, which the verifier checks.
            return next((found for found in map(shape, operands) if found), ())
        case Contract(labels=labels, result=result, operands=operands):
            known = label_extents(labels, operands)
            return tuple(known[label] for label in result)
        case Reduce(axes=reduced, source=source):
            return tuple(extent for n, extent in enumerate(shape(source)) if n not in reduced)
        case Scan(source=source):
            return shape(source)
        case _:
            return value.shape


def label_extents(labels: Sequence[str], operands: Sequence[Value]) -> dict[str, Affine]:
    """The extent that each label of a contraction first has, in the order of the labels."""
    found = dict[str, Affine]()
    for names, operand in zip(labels, operands, strict=True):
        for label, extent in zip(names, shape(operand), strict=True):
            # Equal extents may be written in several ways; the first one is what the loop runs to.
            found.setdefault(label, extent)
    return found


def dtype(value: Value) -> ElementType:
    """The element type of a value."""
    match value:
        case Apply(operation=operation, dtype=of):
            return BY_NAME[operation].result(of)
        case View(source=source) | Gather(source=source) | Scan(source=source):
            return dtype(source)
        case Contract(operands=operands):
            return dtype(operands[0])
        case Reduce(operation=operation, source=source):
            return "i32" if operation in ("argmax", "argmin") else dtype(source)
        case Cases(inside=inside):
            return dtype(inside)
        case _:
            return value.dtype


def element_view(value: Value, index: Sequence[Affine], extents: Shape, span: Span | None = None) -> Value:
    """A view of a value; views of arrays, forms and views are again one map."""
    places = {f"${n}": form for n, form in enumerate(index)}
    match value:
        case Constant() if not extents:
            return value
        case Read():
            found = tuple(form.substitute(places) for form in value.index)
            return replace(value, index=found, shape=extents, span=span or value.span)
        case View():
            found = tuple(form.substitute(places) for form in value.index)
            return element_view(value.source, found, extents, span or value.span)
        case Form():
            return replace(value, value=value.value.substitute(places), shape=extents, span=span or value.span)
        case _ if tuple(index) == axes(len(extents)) and extents == shape(value):
            return value
        case _:
            return View(value, tuple(index), extents, span)


def parts(value: Value) -> tuple[Value, ...]:
    """What a value is directly made of."""
    match value:
        case View(source=source) | Reduce(source=source) | Scan(source=source):
            return (source,)
        case Gather(source=source, index=index):
            return (source, index)
        case Apply(operands=operands) | Contract(operands=operands):
            return operands
        case Cases(inside=inside, outside=outside):
            return (inside, outside)
        case _:
            return ()


def with_parts(value: Value, made: Sequence[Value]) -> Value:
    """The value made of other parts, in the order of `parts`."""
    match value:
        case View() | Reduce() | Scan():
            return replace(value, source=made[0])
        case Gather():
            return replace(value, source=made[0], index=made[1])
        case Apply() | Contract():
            return replace(value, operands=tuple(made))
        case Cases():
            return replace(value, inside=made[0], outside=made[1])
        case _:
            return value


def reads(value: Value) -> Iterator[Read]:
    """The arrays that a value reads, from left to right."""
    if isinstance(value, Read):
        yield value
    for part in parts(value):
        yield from reads(part)


def has_sum(value: Value) -> bool:
    """Whether a value needs loops of its own: it is, or holds, a contraction, a reduction or a scan."""
    return isinstance(value, Contract | Reduce | Scan) or any(map(has_sum, parts(value)))


def stores(statements: Sequence[Statement]) -> Iterator[Store]:
    """All stores, in the order of the text."""
    for statement in statements:
        match statement:
            case Store():
                yield statement
            case For(body=body):
                yield from stores(body)
            case If(body=body, orelse=orelse):
                yield from stores((*body, *orelse))


def find_gather(program: Program) -> Gather | None:
    """The first gather of a program."""
    return next((g for store in stores(program.body) for g in _gathers(store.value)), None)


def _gathers(value: Value) -> Iterator[Gather]:
    if isinstance(value, Gather):
        yield value
    for part in parts(value):
        yield from _gathers(part)


def gather_places(value: Gather, at: Sequence[Affine]) -> tuple[tuple[Affine, ...], tuple[Affine, ...]]:
    """The place in the source of a gather, without the axis of its index, and that in its index."""
    rank = len(shape(value.index))
    behind = value.axis + rank
    return (*at[: value.axis], *at[behind:]), tuple(at[value.axis : behind])


def summed_labels(value: Contract) -> str:
    """The labels that a contraction sums over, the outermost first."""
    found = label_extents(value.labels, value.operands)
    return "".join(label for label in found if label not in value.result)
