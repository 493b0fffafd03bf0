# SPDX-License-Identifier: Apache-2.0
"""Equations as a nest at given sizes: each variable an array, each strongly connected group of equations a loop nest.

Equations name no order. Groups follow one another as their dependences say (Tarjan); within a group the loops are an
order of the dimensions, each up or down, in which every value is there before it is read, and equations of one
iteration are sorted. Variables that are inputs travelling from iteration to iteration are those inputs, and a value
that one equation makes for one other is a part of that one's expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Literal

import islpy as isl

from polyloom.analysis.components import components
from polyloom.diagnostics import infeasible
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node, Storage
from polyloom.ir.pla import Constant, Equation, Operand, Program, Reference
from polyloom.ir.plan import Parametric
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import to_set

Order = tuple[tuple[int, Literal[1, -1]], ...]
"""Of dimensions, by number, from the outermost loop inwards; each upwards or downwards."""
Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Equations:
    """Of one phase."""

    program: Program

    def nest(self, values: Mapping[str, int], parametric: Mapping[str, Parametric]) -> Nest:
        """Without parameters. Errors: PL1350 where no order of loops is legal."""
        return _Made(self.program, values, parametric).nest()


class _Made:
    def __init__(self, program: Program, values: Mapping[str, int], parametric: Mapping[str, Parametric]) -> None:
        self.program, self.parametric = program, parametric
        self.constants = {name: Affine((), value) for name, value in values.items()}
        self.dimensions = program.dimensions
        self.variables = {v.name: v for v in program.variables}
        self.domains = {e.name: self.points(e.condition) for e in program.equations}
        self.equations = [e for e in program.equations if not self.domains[e.name].is_empty()]
        self.makers: dict[str, list[Equation]] = {}
        for equation in self.equations:
            self.makers.setdefault(equation.target.name, []).append(equation)
        self.inlined = self.travelling() | self.single()
        self.equations = [e for e in self.equations if e.target.name not in self.inlined]
        self.boxes = {name: self.box_of(made) for name, made in self.makers.items() if name in self.variables}

    def points(self, condition: Condition) -> isl.Set:
        pieces = tuple(p.substitute(self.constants) for p in condition.pieces)
        return to_set(Condition(pieces), self.dimensions, ())

    def box_of(self, equations: Sequence[Equation]) -> Box:
        whole = self.domains[equations[0].name]
        for equation in equations[1:]:
            whole = whole.union(self.domains[equation.name])
        return _box(whole, len(self.dimensions))

    # What needs no array

    def travelling(self) -> dict[str, Expression]:
        """Variables that are one element of an input wherever they come from."""
        found: dict[str, Expression] = {}
        for name, made in self.makers.items():
            sources = [e for e in made if not _reads(e, name)]
            copies = [e for e in made if _reads(e, name)]
            if name not in self.variables or not copies or any(e.operation != "move" for e in made):
                continue
            origins = {e.operands[0] for e in sources}
            origin = next(iter(origins))
            if len({_plain(o) for o in origins}) == 1 and isinstance(origin, Reference):
                is_still = all(self.stays(origin, copy.operands[0]) for copy in copies)
                if origin.name not in self.variables and is_still:
                    found[name] = origin
        return found

    def stays(self, origin: Reference, operand: Operand) -> bool:
        assert isinstance(operand, Reference)
        distance = self.program.distance(operand)
        moved = {n: Affine.symbol(n) - d for n, d in zip(self.dimensions, distance, strict=True)}
        return all(index.substitute(moved) == index for index in origin.index)

    def single(self) -> dict[str, Expression]:
        """Values of one equation that one other reads, once, in the same iteration."""
        uses: dict[str, list[tuple[Equation, Reference]]] = {}
        for equation in self.equations:
            for operand in equation.operands:
                if isinstance(operand, Reference) and operand.name in self.variables:
                    uses.setdefault(operand.name, []).append((equation, operand))
        found: dict[str, Expression] = {}
        for name, readers in uses.items():
            made = self.makers.get(name, [])
            if len(made) == 1 and len(readers) == 1 and not any(self.program.distance(readers[0][1])):
                (equation,), ((reader, _),) = made, readers
                if self.domains[reader.name].is_subset(self.domains[equation.name]):
                    found[name] = Apply(equation.operation, equation.dtype, equation.operands, equation.span)
        return found

    # Expressions

    def expression(self, equation: Equation) -> Expression:
        operands = tuple(self.operand(o) for o in equation.operands)
        if equation.operation == "move":
            return operands[0]
        return Apply(equation.operation, equation.dtype, operands, equation.span)

    def operand(self, operand: Expression) -> Expression:
        """An operand with what is inlined put in, and elements of arrays by their indices there."""
        if isinstance(operand, Apply):
            made = tuple(self.operand(o) for o in operand.operands)
            return made[0] if operand.operation == "move" else replace(operand, operands=made)
        if not isinstance(operand, Reference):
            return operand
        if (inner := self.inlined.get(operand.name)) is not None:
            shift = {
                n: Affine.symbol(n) - d for n, d in zip(self.dimensions, self.program.distance(operand), strict=True)
            }
            return self.operand(_shifted(inner, shift))
        if operand.name in self.parametric:
            found = self.parametric[operand.name]
            return Index(found.value.substitute(self.constants), found.dtype, operand.span)
        return self.element(operand)

    def element(self, reference: Reference) -> Reference:
        index = tuple(i.substitute(self.constants) for i in reference.index)
        if reference.name in self.variables:
            index = tuple(i - low for i, (low, _) in zip(index, self.boxes[reference.name], strict=True))
        return replace(reference, index=index)

    # Groups

    def needed(self, equation: Equation) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The variables that an equation reads, and from how far."""
        for reference in _references(tuple(self.raw(o) for o in equation.operands)):
            if reference.name in self.variables:
                yield reference.name, self.program.distance(reference)

    def raw(self, operand: Expression) -> Expression:
        if isinstance(operand, Apply):
            return replace(operand, operands=tuple(self.raw(o) for o in operand.operands))
        if isinstance(operand, Reference) and operand.name in self.inlined:
            shift = {
                n: Affine.symbol(n) - d for n, d in zip(self.dimensions, self.program.distance(operand), strict=True)
            }
            return self.raw(_shifted(self.inlined[operand.name], shift))
        return operand

    def groups(self) -> list[list[Equation]]:
        """In an order in which every group is behind those that it needs."""
        makers: dict[str, list[int]] = {}
        for n, equation in enumerate(self.equations):
            makers.setdefault(equation.target.name, []).append(n)
        needs = {
            n: [maker for name, _ in self.needed(equation) for maker in makers.get(name, [])]
            for n, equation in enumerate(self.equations)
        }
        return [[self.equations[n] for n in sorted(group)] for group in components(needs)]

    def nest(self) -> Nest:
        body: list[Node] = []
        for number, group in enumerate(self.groups()):
            body += self.loops(number, group)
        storage = [
            Storage(a.name, a.dtype, tuple(e.substitute(self.constants) for e in a.shape), span=a.span)
            for a in (*self.program.inputs, *self.program.outputs)
            if a.name not in self.parametric
        ]
        for name, box in sorted(self.boxes.items()):
            if name not in self.inlined:
                shape = tuple(Affine((), high - low + 1) for low, high in box)
                storage.append(Storage(name, self.variables[name].dtype, shape, "local"))
        return Nest(self.program.name, (), Condition(), tuple(storage), tuple(body))

    def loops(self, number: int, group: Sequence[Equation]) -> list[Node]:
        order = self.order(group)
        names = {d: f"{d}.{number}" for d in self.dimensions}
        box = self.box_of(group)
        around = to_set(Condition((_inside(box, self.dimensions),)), self.dimensions, ())
        body = tuple(node for e in self.sorted(group) for node in self.statement(e, around, names))
        for m, step in reversed(order):
            low, high = box[m]
            ends = (Affine((), low),), (Affine((), high + 1),)
            body = (Loop(names[self.dimensions[m]], *ends, body, step, group[0].span),)
        return list(body)

    def statement(self, equation: Equation, around: isl.Set, names: Mapping[str, str]) -> Iterator[Node]:
        renamed = {d: Affine.symbol(n) for d, n in names.items()}
        target = _shifted(self.element(equation.target), renamed)
        assert isinstance(target, Reference)
        assign = Assign(equation.name, target, _shifted(self.expression(equation), renamed), equation.span)
        if around.is_subset(self.domains[equation.name]):
            yield assign
            return
        pieces = tuple(p.substitute(self.constants).substitute(renamed) for p in equation.condition.pieces)
        kept = [self.kept(p, q, around) for p, q in zip(pieces, equation.condition.pieces, strict=True)]
        yield If(Condition(tuple(kept)), (assign,), (), equation.span)

    def kept(self, renamed: Polyhedron, piece: Polyhedron, around: isl.Set) -> Polyhedron:
        """The constraints that do not hold in the whole box."""
        given = piece.substitute(self.constants)
        pairs = zip(renamed.constraints, given.constraints, strict=True)
        return Polyhedron(
            tuple(
                r for r, c in pairs
                if not around.is_subset(to_set(Condition((Polyhedron((c,)),)), self.dimensions, ()))
            )
        )  # fmt: skip

    def distances(self, group: Sequence[Equation]) -> set[tuple[int, ...]]:
        own = {e.target.name for e in group}
        return {d for e in group for name, d in self.needed(e) if name in own and any(d)}

    def order(self, group: Sequence[Equation]) -> Order:
        """The first one in which what is read lies before."""
        distances = self.distances(group)
        for dims in permutations(range(len(self.dimensions))):
            for signs in product((1, -1), repeat=len(dims)):
                made: Order = tuple(zip(dims, signs, strict=True))
                if all(next(s * d[m] for m, s in made if d[m]) > 0 for d in distances):
                    return made
        names = ", ".join(dict.fromkeys(e.target.name for e in group))
        help = "write them so that all dependences lead forwards in some order of the dimensions"
        raise infeasible("PL1350", f"no order of loops computes {names}", span=group[0].span, help=help)

    def sorted(self, group: Sequence[Equation]) -> list[Equation]:
        """Of one iteration, makers before readers."""
        left, made = list(group), list[Equation]()
        while left:
            open_names = {e.target.name for e in left}
            ready = [e for e in left if not any(n in open_names and not any(d) for n, d in self.needed(e))]
            made += ready
            left = [e for e in left if e not in ready]
            assert ready, "equations that are well-founded have a first one"
        return made


def _references(values: Sequence[Expression]) -> Iterator[Reference]:
    for value in values:
        if isinstance(value, Apply):
            yield from _references(value.operands)
        elif isinstance(value, Reference):
            yield value


def _reads(equation: Equation, name: str) -> bool:
    return any(isinstance(o, Reference) and o.name == name for o in equation.operands)


def _plain(operand: Operand) -> object:
    return (operand.name, operand.index) if isinstance(operand, Reference) else operand


def _shifted(value: Expression, shift: Mapping[str, Affine]) -> Expression:
    match value:
        case Reference():
            return replace(value, index=tuple(i.substitute(shift) for i in value.index))
        case Apply():
            return replace(value, operands=tuple(_shifted(o, shift) for o in value.operands))
        case Index():
            return replace(value, value=value.value.substitute(shift))
        case Constant():
            return value


def _box(points: isl.Set, dimensions: int) -> Box:
    return tuple((int(str(points.dim_min_val(m))), int(str(points.dim_max_val(m)))) for m in range(dimensions))


def _inside(box: Box, dimensions: Sequence[str]) -> Polyhedron:
    return Polyhedron(
        tuple(
            c
            for (low, high), name in zip(box, dimensions, strict=True)
            for c in (Affine.symbol(name) - low, -Affine.symbol(name) + high)
        )
    )
