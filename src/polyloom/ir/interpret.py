# SPDX-License-Identifier: Apache-2.0
"""Reference interpreter of a piecewise linear algorithm, without an order (Karp, Miller and Winograd 1967: an instance
is evaluated once its operands are).

Every variable has a dense array over the box around the iteration space, every equation a counter of missing operands
at each iteration; an instance is ready when its counter reaches 0. Ready instances are evaluated in NumPy batches where
many are ready, one at a time where few are. Iterations are positions in the flattened box; the box is padded so that
adding a dependence vector never leads from one iteration of the box to another by wrapping around. A large box is
evaluated block by block (`iteration_blocks`), so that memory grows with arrays and faces of blocks, not with
iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import islpy as isl
import numpy as np
import numpy.typing as npt

from polyloom import memory
from polyloom.diagnostics import PolyloomError, Span, input_error
from polyloom.ir.arguments import Arrays, array_shape, check_inputs, check_parameters
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant, Equation, Operand, Program, Reference
from polyloom.ir.semantics import NUMBERS, Meaning, Value, division_by_zero
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import to_set
from polyloom.sets.iteration_blocks import Blocks, Faces, distances_by_variable

Positions = npt.NDArray[np.int64]
FEW = 24
"""When no equation has this many ready instances, single evaluation beats NumPy batches."""
# Neither limit changes a result: they decide only how it is computed.
BATCH = 256
"""Above this many pending single instances, they are batched again."""
BLOCK = 1 << 17
"""Iterations that are evaluated together: some hundred bytes are kept for each."""


def interpret(
    program: Program,
    parameters: Mapping[str, Any],
    inputs: Mapping[str, Any],
    held: Mapping[str, Any] | None = None,
) -> Arrays:
    """Interpretation of a program: the outputs by name; elements that no equation writes are those of `held`, 0 without
    it.

    Raises PL0230 to PL0232 for wrong arguments, PL0233 for an integer division by zero, and PL0222 when instances
    depend on themselves or on undefined ones (which `analysis.check` refuses beforehand).
    """
    values = check_parameters(program, parameters)
    arrays = check_inputs(program, values, inputs)
    outputs = {
        a.name: np.zeros(array_shape(a, values), NUMPY[a.dtype]) if held is None else np.array(held[a.name])
        for a in program.outputs
    }
    evaluate(program, values, arrays, outputs, NUMBERS)
    return outputs


def evaluate(program: Program, values: dict[str, int], inputs: Arrays, outputs: Arrays, meaning: Meaning) -> None:
    """Write what the equations define into `outputs`, with elements as `meaning` has them. Errors: PL0222, PL0233."""
    found = _bounding_box(program, values)
    # No equation has an instance: outputs keep what they hold.
    if found is None:
        return
    reads = _internal_reads(program)
    blocks = Blocks.cut(*found, [distance for _, distance in reads], BLOCK)
    faces, read_at = Faces(blocks), distances_by_variable(reads)
    for variable in program.variables:
        faces.add(variable.name, read_at.get(variable.name, []), meaning.stored(variable.dtype))
    for number in blocks:
        run = _Run(program, values, inputs, _Box.enclosing_box(program, *blocks.bounds(number)), meaning)
        run.take_faces(faces, number)
        with np.errstate(all="ignore"):
            run.run_tasks()
        run.store(outputs)
        run.leave_faces(faces, number)


def box_size(program: Program, values: Mapping[str, int]) -> int:
    """Iterations of the box around a program: not fewer than it has."""
    found = _bounding_box(program, values)
    return 0 if found is None else prod(found[1])


def equation_instances(program: Program, values: Mapping[str, int]) -> Iterator[tuple[Equation, int]]:
    """Instance counts of equations, for values of the parameters."""
    box = _Box.bounding_box(program, values)
    if box is None:
        return
    for equation in program.equations:
        yield equation, _iterations(box, program.dimensions, equation.condition, values).shape[1]


def accessed_elements(program: Program, values: Mapping[str, int]) -> Iterator[tuple[str, Positions]]:
    """Array accesses: every reference to an input or an output with its array, and the index of each instance as a
    column. Indices that repeat are not left out.
    """
    box = _Box.bounding_box(program, values)
    if box is None:
        return
    internal = {v.name for v in program.variables}
    for equation in program.equations:
        coordinates = _iterations(box, program.dimensions, equation.condition, values)
        for one in (equation.target, *equation.operands):
            if isinstance(one, Reference) and one.name not in internal:
                rows = [_evaluate(row, program.dimensions, coordinates, values) for row in one.index]
                wide = [np.broadcast_to(row, coordinates.shape[1:]) for row in rows]
                yield one.name, np.array(wide, np.int64).reshape(len(rows), coordinates.shape[1])


def _bounding_box(program: Program, values: Mapping[str, int]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Bounding box of all condition spaces: its first iteration and its extents; None where they are empty."""
    constants = {name: Affine((), value) for name, value in values.items()}
    points = isl.Set.empty(isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=list(program.dimensions)))
    # Equations share conditions: isl is asked once for each.
    for condition in {e.condition for e in program.equations}:
        points = points.union(to_set(_substitute(condition, constants), program.dimensions, ()))
    if points.is_empty():
        return None
    lower = tuple(int(str(points.dim_min_val(m))) for m in range(len(program.dimensions)))
    return lower, tuple(int(str(points.dim_max_val(m))) - low + 1 for m, low in enumerate(lower))


@dataclass(frozen=True, slots=True)
class _Box:
    """Iterations from `lower` on with `extents`; a row of the flattened box has `extents + padding` positions."""

    lower: tuple[int, ...]
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    origin: int
    size: int

    @staticmethod
    def bounding_box(program: Program, values: Mapping[str, int]) -> _Box | None:
        """The least box around all condition spaces, or None when they are empty."""
        found = _bounding_box(program, values)
        return None if found is None else _Box.enclosing_box(program, *found)

    @staticmethod
    def enclosing_box(program: Program, lower: tuple[int, ...], extents: tuple[int, ...]) -> _Box:
        """Box of these iterations. Errors: PL0605."""
        # Padding as wide as the longest distance: every neighbour of an iteration has a position of its own, and bounds
        # need no test.
        reach = [max((abs(d[m]) for d in _dependence_vectors(program)), default=0) for m in range(len(lower))]
        widths = [e + r for e, r in zip(extents, reach, strict=True)]
        strides = tuple(prod(widths[m + 1 :]) for m in range(len(widths)))
        # Room in front of the first and behind the last position, for neighbours outside of the box.
        margin = sum(r * s for r, s in zip(reach, strides, strict=True))
        box = _Box(lower, extents, strides, margin, prod(widths) + 2 * margin)
        memory.require_memory(
            box.size * _bytes_per_iteration(program), f"the interpreter of `{program.name}`", "use smaller loop bounds"
        )
        return box

    def offset(self, distance: tuple[int, ...]) -> int:
        return sum(d * s for d, s in zip(distance, self.strides, strict=True))

    def positions(self, coordinates: Positions) -> Positions:
        """Positions of iterations given as rows of coordinates, one row per dimension."""
        return self.origin + np.tensordot(np.array(self.strides), coordinates - np.array(self.lower)[:, None], 1)

    def iteration(self, position: int) -> tuple[int, ...]:
        digits, rest = list[int](), position - self.origin
        for stride in self.strides:
            digits.append(rest // stride)
            rest %= stride
        return tuple(d + low for d, low in zip(digits, self.lower, strict=True))


def _bytes_per_iteration(program: Program) -> int:
    """Memory per iteration of the box, in bytes, without its coordinates: values, operands from inputs, counters."""
    internal = {v.name for v in program.variables}
    gathered = sum(isinstance(o, Reference) and o.name not in internal for e in program.equations for o in e.operands)
    return 4 * (len(internal) + gathered) + 5 * len(program.equations)


@dataclass(frozen=True, slots=True)
class _Task:
    """Equation at run time. Operand n of the instance at p is `sources[n][0][p + sources[n][1]]`, or a constant.
    `missing[p]` counts the operands that are not there yet (-1: no instance at p). `readers` are the tasks that use the
    result, with the offset of their instance.
    """

    equation: Equation
    sources: tuple[tuple[npt.NDArray[Any], int] | Value, ...]
    result: npt.NDArray[Any]
    missing: npt.NDArray[np.int8]
    coordinates: Positions
    positions: Positions
    readers: list[tuple[int, int]]


class _Run:
    """State of one interpretation."""

    def __init__(self, program: Program, values: dict[str, int], inputs: Arrays, box: _Box, meaning: Meaning) -> None:
        self.program, self.values, self.box, self.meaning = program, values, box, meaning
        self.internal = {v.name: np.zeros(box.size, meaning.stored(v.dtype)) for v in program.variables}
        self.tasks = [self.task(e, inputs) for e in program.equations]
        for n, equation in enumerate(program.equations):
            for operand in equation.operands:
                if isinstance(operand, Reference) and operand.name in self.internal:
                    for task in self.tasks:
                        if task.equation.target.name == operand.name:
                            # The consumer's instance is at producer + d, because it reads at consumer - d.
                            task.readers.append((n, box.offset(program.distance(operand))))

    def task(self, equation: Equation, inputs: Arrays) -> _Task:
        coordinates = _iterations(self.box, self.program.dimensions, equation.condition, self.values)
        positions = self.box.positions(coordinates)
        operands = [o for o in equation.operands if isinstance(o, Reference) and o.name in self.internal]
        # An equation has at most three operands.
        missing = np.full(self.box.size, -1, np.int8)
        missing[positions] = len(operands)
        sources = tuple(self.source(o, inputs, coordinates, positions) for o in equation.operands)
        result = self.internal.get(equation.target.name)
        if result is None:
            dtype: ElementType = next(a.dtype for a in self.program.outputs if a.name == equation.target.name)
            result = np.zeros(self.box.size, self.meaning.stored(dtype))
        return _Task(equation, sources, result, missing, coordinates, positions, [])

    def take_faces(self, faces: Faces, number: tuple[int, ...]) -> None:
        """Operands that blocks before this one have computed."""
        blocks = faces.blocks
        first = np.array([n * size for n, size in zip(number, blocks.block, strict=True)])[:, None]
        if not any(number):
            return
        for task in self.tasks:
            for operand in task.equation.operands:
                if not isinstance(operand, Reference) or operand.name not in self.internal:
                    continue
                distance = self.program.distance(operand)
                places = blocks.walk_coordinates(task.coordinates - np.array(distance)[:, None])
                outside = np.flatnonzero((places < first).any(axis=0))
                values, known = faces.read(operand.name, number, places[:, outside])
                at = task.positions[outside[known]]
                self.internal[operand.name][at - self.box.offset(distance)] = values[known]
                task.missing[at] -= 1

    def leave_faces(self, faces: Faces, number: tuple[int, ...]) -> None:
        """What later blocks may read."""
        for name, array in self.internal.items():
            own = [task for task in self.tasks if task.equation.target.name == name] if faces.faces[name] else []
            places = [faces.blocks.walk_coordinates(task.coordinates) for task in own]
            faces.write(name, number, places, [array[task.positions] for task in own])

    def source(
        self, operand: Operand, inputs: Arrays, coordinates: Positions, positions: Positions
    ) -> tuple[npt.NDArray[Any], int] | Value:
        if isinstance(operand, Constant):
            return self.meaning.constant(operand)
        if operand.name in self.internal:
            # An operand x[I - d] lies a constant offset away in the flattened box.
            return self.internal[operand.name], -self.box.offset(self.program.distance(operand))
        array = inputs[operand.name]
        gathered = np.zeros(self.box.size, array.dtype)
        index = self.index(operand, coordinates)
        # Before reading: NumPy would take a negative index from the end.
        self.check_bounds(operand, index, array.shape, coordinates)
        gathered[positions] = array[index]
        return gathered, 0

    def index(self, reference: Reference, coordinates: Positions) -> tuple[Positions, ...]:
        rows = (_evaluate(row, self.program.dimensions, coordinates, self.values) for row in reference.index)
        return tuple(np.broadcast_to(row, coordinates.shape[1:]) for row in rows)

    def check_bounds(
        self, reference: Reference, index: tuple[Positions, ...], shape: tuple[int, ...], coordinates: Positions
    ) -> None:
        for row, extent in zip(index, shape, strict=True):
            bad = np.flatnonzero((row < 0) | (row >= extent))
            if bad.size:
                element = f"{reference.name}[{', '.join(str(r[bad[0]]) for r in index)}]"
                where = _print_iteration(self.program.dimensions, tuple(int(c) for c in coordinates[:, bad[0]]))
                raise input_error("PL0221", f"{element} is outside its shape {shape} at {where}", span=reference.span)

    def run_tasks(self) -> None:
        """Data-driven evaluation of every instance (dataflow firing rule: Dennis 1974)."""
        waiting: list[list[Positions]] = [[t.positions[t.missing[t.positions] == 0]] for t in self.tasks]
        # The equation with most ready instances first: wide fronts are what NumPy is quick at.
        while most := max((sum(map(len, chunks)) for chunks in waiting), default=0):
            number = next(n for n, chunks in enumerate(waiting) if sum(map(len, chunks)) == most)
            if most >= FEW:
                ready = np.concatenate(waiting[number])
                waiting[number] = []
                self.batch(number, ready, waiting)
            else:
                # Chains with hardly any parallelism, such as a recurrence over one loop: one instance at a time is
                # quicker than a batch of one.
                stack = [(n, int(p)) for n, chunks in enumerate(waiting) for chunk in chunks for p in chunk]
                waiting = [[] for _ in waiting]
                self.evaluate_stack(stack, waiting)
        self.check_complete()

    def batch(self, number: int, positions: Positions, waiting: list[list[Positions]]) -> None:
        task = self.tasks[number]
        task.missing[positions] = -1
        task.result[positions] = self.value(task, positions)
        for reader, offset in task.readers:
            missing = self.tasks[reader].missing
            there = positions + offset
            # -1 is no instance there, or one that is done.
            there = there[missing[there] > 0]
            missing[there] -= 1
            there = there[missing[there] == 0]
            if there.size:
                waiting[reader].append(there)

    def evaluate_stack(self, stack: list[tuple[int, int]], waiting: list[list[Positions]]) -> None:
        while stack:
            number, position = stack.pop()
            task = self.tasks[number]
            task.missing[position] = -1
            task.result[position] = self.value(task, position)
            for reader, offset in task.readers:
                missing = self.tasks[reader].missing
                left = missing[position + offset]
                if left > 0:
                    missing[position + offset] = left - 1
                    if left == 1:
                        stack.append((reader, position + offset))
            # The front has become wide: NumPy is quicker again.
            if len(stack) > BATCH:
                for reader, position in stack:
                    waiting[reader].append(np.array([position]))
                stack.clear()

    def value(self, task: _Task, at: Positions | int) -> Value:
        operands: list[Value] = [
            source[0][at + source[1]] if isinstance(source, tuple) else source for source in task.sources
        ]
        equation = task.equation
        if self.meaning.divides(equation.operation, equation.dtype):
            self.check_divisor(equation, np.broadcast_to(operands[1], np.shape(at)), at)
        return self.meaning.apply(equation.operation, equation.dtype, operands)

    def check_divisor(self, equation: Equation, divisor: Value, at: Positions | int) -> None:
        zero = np.atleast_1d(at)[np.atleast_1d(divisor == 0)]
        if zero.size:
            # The first one in lexicographic order, whatever the batches were.
            where = self.box.iteration(int(zero.min()))
            raise division_by_zero(equation.name, _print_iteration(self.program.dimensions, where), equation.span)

    def check_complete(self) -> None:
        for task in self.tasks:
            left = task.positions[task.missing[task.positions] >= 0]
            if left.size:
                raise _dependence_cycle(
                    task.equation,
                    _print_iteration(self.program.dimensions, self.box.iteration(int(left[0]))),
                    task.equation.span,
                )

    def store(self, outputs: Arrays) -> None:
        """Scatter the results of output equations into the arrays."""
        for task in self.tasks:
            target = task.equation.target
            if target.name in outputs:
                index = self.index(target, task.coordinates)
                self.check_bounds(target, index, outputs[target.name].shape, task.coordinates)
                # a leading axis of extent 1 lets scalars be indexed like arrays
                outputs[target.name][np.newaxis][np.zeros_like(task.positions), *index] = task.result[task.positions]


def _dependence_cycle(equation: Equation, where: str, span: Span | None) -> PolyloomError:
    return input_error(
        "PL0222", f"{equation.name} at {where} waits for a value that depends on it, or that nothing defines", span=span
    )


def _dependence_vectors(program: Program) -> set[tuple[int, ...]]:
    return {distance for _, distance in _internal_reads(program)}


def _internal_reads(program: Program) -> list[tuple[str, tuple[int, ...]]]:
    """Variables that equations read, and at which distances."""
    internal = {v.name for v in program.variables}
    return [
        (o.name, program.distance(o))
        for e in program.equations
        for o in e.operands
        if isinstance(o, Reference) and o.name in internal
    ]


def _substitute(condition: Condition, constants: Mapping[str, Affine]) -> Condition:
    return Condition(tuple(Polyhedron(tuple(c.substitute(constants) for c in p.constraints)) for p in condition.pieces))


def _iterations(box: _Box, dims: tuple[str, ...], condition: Condition, values: Mapping[str, int]) -> Positions:
    """The iterations of `condition`, as rows of coordinates, in lexicographic order."""
    grid = np.ogrid[tuple(slice(low, low + extent) for low, extent in zip(box.lower, box.extents, strict=True))]
    inside = np.zeros(box.extents, bool)
    for piece in condition.pieces:
        holds = np.ones(box.extents, bool)
        for constraint in piece.constraints:
            holds &= _evaluate(constraint, dims, grid, values) >= 0
        # Pieces may overlap: an iteration counts once.
        inside |= holds
    return np.array(np.nonzero(inside), np.int64).reshape(len(dims), -1) + np.array(box.lower)[:, None]


def _evaluate(affine: Affine, dims: tuple[str, ...], coordinates: Any, values: Mapping[str, int]) -> Any:
    """`affine` at the iterations of `coordinates` (arrays that broadcast, one per dimension)."""
    result = affine.constant + sum(c * values[n] for n, c in affine.terms if n in values)
    for name, along in zip(dims, coordinates, strict=True):
        if affine.coefficient(name):
            result = result + affine.coefficient(name) * along
    return result


def _print_iteration(dims: tuple[str, ...], iteration: tuple[int, ...]) -> str:
    return ", ".join(f"{d} = {v}" for d, v in zip(dims, iteration, strict=True))
