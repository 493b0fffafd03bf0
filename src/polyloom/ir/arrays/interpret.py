# SPDX-License-Identifier: Apache-2.0
"""The ordered meaning of whole-array programs, by NumPy: operations of `ir.semantics` on whole arrays, sums and scans
in index order.

NumPy itself sums in pairs, and its products call a library whose order nobody knows. Here the reduced axes are walked
one index after the other, the first one outermost, over all other elements at once; so these are the bits that every
machine has to give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    Constant,
    Contract,
    For,
    Form,
    Gather,
    If,
    Program,
    Read,
    Reduce,
    Scan,
    Shape,
    Statement,
    Store,
    Value,
    View,
    dtype,
    label_extents,
    shape,
    summed_labels,
)
from polyloom.ir.arrays.quotients import value as extent_value
from polyloom.ir.library import KERNELS, evaluate, power_program
from polyloom.ir.library import program as library_program
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ElementType, may_divide_by_zero
from polyloom.ir.semantics import apply
from polyloom.sets import Affine

Array = npt.NDArray[Any]


def interpret(program: Program, parameters: Mapping[str, int], arrays: Mapping[str, Any]) -> dict[str, Array]:
    """Every argument that is stored to; locals and arguments that `arrays` leaves out begin with 0. Raises
    ZeroDivisionError for an integer division by 0, IndexError for an element outside of its array."""
    machine = Interpreter(program, parameters, arrays)
    with np.errstate(all="ignore"):
        machine.run(program.body, dict(parameters))
    return {name: machine.arrays[name] for name in program.written_arguments}


def extents(shape: Shape, values: Mapping[str, int]) -> tuple[int, ...]:
    """A shape as numbers; what is empty has no negative extent."""
    return tuple(max(0, extent_value(extent, values)) for extent in shape)


class Interpreter:
    """`arrays` are the elements as they are: copies of those that are stored to, the others as they were given;
    `clamps` within a piecewise value."""

    def __init__(self, program: Program, parameters: Mapping[str, int], arrays: Mapping[str, Any]) -> None:
        self.arrays, self.clamps = dict[str, Array](), False
        written = set(program.written_arguments)
        for s in program.storage:
            size = extents(s.shape, parameters)
            given = arrays.get(s.name) if s.role == "argument" else None
            if given is None:
                self.arrays[s.name] = np.zeros(size, NUMPY[s.dtype])
            else:
                found = np.array(given, NUMPY[s.dtype]) if s.name in written else np.asarray(given, NUMPY[s.dtype])
                self.arrays[s.name] = found.reshape(size)

    def run(self, statements: Sequence[Statement], values: dict[str, int]) -> None:
        for statement in statements:
            match statement:
                case Store():
                    self.store(statement, values)
                case For(loop=loop, lower=lower, upper=upper, body=body, step=step):
                    first, end = (max(f.evaluate(values) for f in lower), min(f.evaluate(values) for f in upper))
                    for at in range(first, end) if step == 1 else reversed(range(first, end)):
                        self.run(body, {**values, loop: at})
                case If(condition=condition, body=body, orelse=orelse):
                    self.run(body if condition.contains(values) else orelse, values)

    def store(self, store: Store, values: Mapping[str, int]) -> None:
        """The value as a whole, then its elements in their places."""
        target = store.target
        found = self.value(store.value, values)
        if all(extents(target.shape, values)):
            held = self.arrays[target.name]
            # A value may be a view of what is stored to.
            whole = found.copy() if np.may_share_memory(held, found) else found
            held[self.index(target.name, target.index, target.shape, values)] = whole

    def value(self, value: Value, values: Mapping[str, int]) -> Any:
        """An array of the value's shape, or a number beside such."""
        match value:
            case Constant(value=number, dtype=kind):
                return NUMPY[kind].type(number)
            case Form(value=form, dtype=kind, shape=size):
                return wrap_integers(evaluate_form(form, extents(size, values), values), kind)
            case Read(name=name, index=index, shape=size):
                return self.element(self.arrays[name], index, size, values)
            case View(source=source, index=index, shape=size):
                found = np.broadcast_to(self.value(source, values), extents(shape(source), values))
                return self.element(found, index, size, values)
            case Gather(source=source):
                return self.gather(value, self.all_elements(source, values), values)
            case Apply():
                return self.apply(value, values)
            case Contract():
                return self.contract(value, values)
            case Reduce():
                return self.reduce(value, values)
            case Scan(operation=operation, axis=axis, source=source):
                found = np.moveaxis(self.all_elements(source, values), axis, 0)
                made, total = np.zeros_like(found), identity(operation, dtype(source))
                for n, each in enumerate(found):
                    total = apply(operation, dtype(source), [total, each])
                    made[n] = total
                return np.moveaxis(made, 0, axis)
            case Cases():
                return self.cases(value, values)

    def all_elements(self, value: Value, values: Mapping[str, int]) -> Array:
        return np.broadcast_to(self.value(value, values), extents(shape(value), values))

    def element(self, array: Array, index: Sequence[Affine], size: Shape, values: Mapping[str, int]) -> Any:
        found = extents(size, values)
        # Of an empty view no index is looked at: NumPy has none there either.
        if not all(found) or not array.size:
            return np.zeros(found, array.dtype)
        # Indices of their own for every element take several times as much memory as the elements.
        part = strided_view(array, index, found, values)
        return array[self.places(array, index, found, values)] if part is None else part

    def index(self, name: str, index: Sequence[Affine], size: Shape, values: Mapping[str, int]) -> tuple[Any, ...]:
        return self.places(self.arrays[name], index, extents(size, values), values)

    def places(
        self, array: Array, index: Sequence[Affine], size: Sequence[int], values: Mapping[str, int]
    ) -> tuple[Any, ...]:
        found = tuple(evaluate_form(form, size, values) for form in index)
        # What is read outside is not chosen; what it is does not matter.
        if self.clamps:
            return tuple(np.clip(p, 0, max(0, e - 1)) for p, e in zip(found, array.shape, strict=True))
        for places, extent in zip(found, array.shape, strict=True):
            if np.min(places, initial=0) < 0 or np.max(places, initial=0) >= max(extent, 1):
                raise IndexError(f"an element outside of {extent}")
        return found

    def gather(self, value: Gather, elements: Array, values: Mapping[str, int]) -> Array:
        """The elements at data; `elements` has the shape of the source."""
        # In 64 bits: negating the least index of a narrow type would wrap.
        index = self.all_elements(value.index, values).astype(np.int64)
        extent = elements.shape[value.axis]
        if self.clamps:
            index = np.clip(index, -extent, extent - 1)
        if np.min(index, initial=0) < -extent or np.max(index, initial=-1) >= extent:
            raise IndexError("an index outside of its array")
        return elements.take(index, value.axis)

    def apply(self, value: Apply, values: Mapping[str, int]) -> Any:
        operands = [self.value(operand, values) for operand in value.operands]
        if value.operation in KERNELS:
            return evaluate(library_program(value.operation, value.dtype), operands[0])
        if value.operation == "pow":
            return evaluate(power_program(int(operands[1]), value.dtype), operands[0])
        if (
            may_divide_by_zero(value.operation, value.dtype)
            and not self.clamps
            and np.any(np.asarray(operands[1]) == 0)
        ):
            raise ZeroDivisionError
        return apply(value.operation, value.dtype, operands)

    def contract(self, value: Contract, values: Mapping[str, int]) -> Any:
        """The sum over products of slices that all have the axes of the result."""
        kind = dtype(value)
        sizes = {k: max(0, extent_value(e, values)) for k, e in label_extents(value.labels, value.operands).items()}
        total = np.zeros([sizes[label] for label in value.result], NUMPY[kind])
        operands = [self.all_elements(operand, values) for operand in value.operands]
        over = summed_labels(value)
        for point in product(*(range(sizes[label]) for label in over)):
            at = dict(zip(over, point, strict=True))
            slices = [
                _slice(array, labels, value.result, at) for array, labels in zip(operands, value.labels, strict=True)
            ]
            term = slices[0]
            for other in slices[1:]:
                term = apply("mul", kind, [term, other])
            total = apply("add", kind, [total, term])
        return total

    def reduce(self, value: Reduce, values: Mapping[str, int]) -> Any:
        source, kind = self.all_elements(value.source, values), dtype(value.source)
        moved = np.moveaxis(source, value.axes, range(len(value.axes)))
        rows = moved.reshape((int(np.prod(moved.shape[: len(value.axes)])), *moved.shape[len(value.axes) :]))
        if value.operation in ("argmax", "argmin"):
            return _extreme_place(rows, value.operation, kind)
        if value.operation in ("maximum", "minimum"):
            if not len(rows):
                raise IndexError("the largest of no elements")
            total = rows[0]
        else:
            total = np.full(rows.shape[1:], identity(value.operation, kind), NUMPY[kind])
        # The first row is met twice by maxima, which changes nothing.
        for row in rows:
            total = combine(value.operation, kind, total, row)
        return total

    def cases(self, value: Cases, values: Mapping[str, int]) -> Any:
        """Both sides for all elements, of which each is wanted only where its condition holds: indices outside of
        their arrays are clamped, and integer divisions by 0 pass, as nobody sees what they give."""
        size = extents(value.shape, values)
        before, self.clamps = self.clamps, True
        sides = [np.broadcast_to(self.value(side, values), size) for side in (value.inside, value.outside)]
        self.clamps = before
        return np.where(self.holds(value, values), sides[0], sides[1])

    def holds(self, value: Cases, values: Mapping[str, int]) -> npt.NDArray[np.bool_]:
        """Where the condition of a piecewise value holds."""
        size = extents(value.shape, values)
        holds = np.zeros(size, np.bool_)
        for piece in value.condition.pieces:
            inside = [np.broadcast_to(evaluate_form(c, size, values) >= 0, size) for c in piece.constraints]
            holds = holds | np.logical_and.reduce([np.ones(size, np.bool_), *inside])
        return holds


def _slice(array: Array, labels: str, result: str, point: Mapping[str, int]) -> Array:
    """The elements at the values of summed labels, with all axes of the result in their order."""
    index = tuple(point.get(label, slice(None)) for label in labels)
    left = "".join(label for label in labels if label not in point)
    found = array[index]
    # A label that stands twice is a diagonal.
    for label in dict.fromkeys(left):
        while left.count(label) > 1:
            first, second = left.index(label), left.rindex(label)
            found = np.diagonal(found, axis1=first, axis2=second)
            left = left[:first] + left[first + 1 : second] + left[second + 1 :] + label
    order = [label for label in result if label in left]
    # Axes that a factor lacks are 1 long, so that NumPy spreads it over the result.
    found = np.transpose(found, [left.index(label) for label in order])
    return found.reshape([found.shape[order.index(label)] if label in left else 1 for label in result])


def _extreme_place(rows: Any, operation: str, kind: ElementType) -> Any:
    if not len(rows):
        raise IndexError("the place of the largest of no elements")
    best, place = [rows[0]], [np.zeros(rows.shape[1:], np.int32)]
    for n, row in enumerate(rows):
        kept = keeps_best(operation, kind, best[-1], row)
        best.append(np.where(kept, best[-1], row))
        place.append(np.where(kept, place[-1], np.int32(n)))
    return place[-1]


def keeps_best(operation: str, kind: ElementType, best: Any, new: Any) -> Any:
    """Whether what was best stays: it is no worse, or a NaN."""
    kept: Any = best >= new if operation in ("argmax", "maximum") else best <= new
    return kept | (best != best) if kind in ("f32", "f64") else kept


def combine(operation: str, kind: ElementType, total: Any, new: Any) -> Any:
    """One more element in a reduction."""
    if operation in ("maximum", "minimum"):
        return apply("select", kind, [keeps_best(operation, kind, total, new), total, new])
    return apply(operation, kind, [total, new])


def identity(operation: str, kind: ElementType) -> Any:
    """What a reduction without a first element begins with."""
    return NUMPY[kind].type(operation in ("mul", "and"))


def strided_view(array: Array, index: Sequence[Affine], size: Sequence[int], values: Mapping[str, int]) -> Any:
    """Elements at affine indices as a view, where each index follows at most one axis, and no two the same one (NumPy,
    "Basic indexing"); None for others, and where an element is outside."""
    parts, axes = list[int | slice](), list[int]()
    for form, extent in zip(index, array.shape, strict=True):
        own = [(int(name[1:]), factor) for name, factor in form.terms if name.startswith("$")]
        rest = Affine(tuple(term for term in form.terms if not term[0].startswith("$")), form.constant)
        first = extent_value(rest, values)
        number, factor = own[0] if own else (-1, 0)
        last = first + (factor * (size[number] - 1) if own else 0)
        if len(own) > 1 or number in axes or not (0 <= first < extent and 0 <= last < extent):
            return None
        end = last + (1 if factor > 0 else -1)
        parts.append(slice(first, end if end >= 0 else None, factor) if own else first)
        axes += [number] if own else []
    found = array[tuple(parts)]
    if not size:
        return found
    ordered = np.asarray(found).transpose(np.argsort(axes) if axes else ())
    # Axes that no index follows repeat the elements.
    spread = ordered[tuple(slice(None) if n in axes else None for n in range(len(size)))]
    return np.broadcast_to(spread, tuple(size))


def evaluate_form(form: Affine, size: Sequence[int], values: Mapping[str, int]) -> Any:
    """An affine form over all axes of a shape, as integers."""
    total: Any = np.zeros(size, np.int64)
    rest = Affine((), form.constant)
    for name, factor in form.terms:
        if name.startswith("$"):
            number = int(name[1:])
            steps = np.arange(size[number]).reshape([-1 if n == number else 1 for n in range(len(size))])
            total = total + factor * steps
        else:
            rest = rest + Affine.symbol(name) * factor
    return total + extent_value(rest, values)


def wrap_integers(numbers: Any, kind: ElementType) -> Any:
    """Integers as elements of a type: wrapped, or rounded."""
    return np.asarray(numbers, np.int64).astype(NUMPY[kind])
