# SPDX-License-Identifier: Apache-2.0
"""Loop generation: equations as a nest at given sizes, each variable an array, each strongly connected group of
equations a loop nest.

Equations name no order. Groups follow one another as their dependences say; within a group the loops are an order of
the dimensions, each up or down, in which every value is there before it is read (a signed permutation as schedule:
Darte, Robert, Vivien, "Scheduling and automatic parallelization", 2000), and equations of one iteration are sorted.
Variables that are inputs travelling from iteration to iteration are those inputs, and a value that one equation makes
for one other is a part of that one's expression.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import Literal

import islpy as isl

from polyloom.analysis.components import components
from polyloom.diagnostics import Span
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node, Storage, accesses
from polyloom.ir.nest_rewrite import Substitution
from polyloom.ir.pla import Equation, Program, Reference
from polyloom.ir.plan import Parametric
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import to_set
from polyloom.transform.variable_inlining import Inlining, inlinable_variables, makers_by_name

Order = tuple[tuple[int, Literal[1, -1]], ...]
"""Of dimensions, by number, from the outermost loop inwards; each upwards or downwards."""
Box = tuple[tuple[int, int], ...]


class NoLoopOrder(Exception):
    """No order of the dimensions, each up or down, computes the variables `names`."""

    def __init__(self, names: Sequence[str], span: Span | None) -> None:
        super().__init__(names, span)
        self.names, self.span = names, span


def generate_loops(program: Program, values: Mapping[str, int], parametric: Mapping[str, Parametric]) -> Nest:
    """Loop generation of one phase by signed permutations of its dimensions (Darte, Robert, Vivien 2000): a nest
    without parameters. `parametric` are inputs that are forms of parameters. Raises NoLoopOrder where no order of loops
    is legal.
    """
    return _Generation(program, values, parametric).nest()


class _Elements(Substitution):
    """At sizes: variables are arrays that begin at the least iteration, inputs of parameters are their forms, and what
    only moves is its operand."""

    def __init__(
        self, constants: Mapping[str, Affine], parametric: Mapping[str, Parametric], boxes: Mapping[str, Box]
    ) -> None:
        super().__init__(constants)
        self.parametric, self.boxes = parametric, boxes

    def value(self, value: Expression) -> Expression:
        if isinstance(value, Reference) and (found := self.parametric.get(value.name)) is not None:
            return Index(self.form(found.value), found.dtype, value.span)
        made = super().value(value)
        return made.operands[0] if isinstance(made, Apply) and made.operation == "move" else made

    def reference(self, reference: Reference) -> Reference:
        made = super().reference(reference)
        if (box := self.boxes.get(reference.name)) is None:
            return made
        # Arrays begin at 0, the variable's iterations at its box's lower corner.
        return replace(made, index=tuple(i - low for i, (low, _) in zip(made.index, box, strict=True)))


class _Generation:
    """State of the generation: domains at the given sizes, variables that need no array, boxes of those that do."""

    def __init__(self, program: Program, values: Mapping[str, int], parametric: Mapping[str, Parametric]) -> None:
        self.program, self.parametric = program, parametric
        self.constants = {name: Affine((), value) for name, value in values.items()}
        self.dimensions = program.dimensions
        self.variables = {v.name: v for v in program.variables}
        self.domains = {e.name: self.points(e.condition) for e in program.equations}
        self.equations = [e for e in program.equations if not self.domains[e.name].is_empty()]
        inlined = inlinable_variables(program, self.equations, self.domains)
        self.inlining = Inlining(program, inlined)
        self.equations = [e for e in self.equations if e.target.name not in inlined]
        makers = makers_by_name(self.equations)
        self.boxes = {name: self.box(made) for name, made in makers.items() if name in self.variables}
        self.elements = _Elements(self.constants, parametric, self.boxes)

    def points(self, condition: Condition) -> isl.Set:
        pieces = tuple(p.substitute(self.constants) for p in condition.pieces)
        return to_set(Condition(pieces), self.dimensions, ())

    def box(self, equations: Sequence[Equation]) -> Box:
        whole = self.domains[equations[0].name]
        for equation in equations[1:]:
            whole = whole.union(self.domains[equation.name])
        return _box(whole, len(self.dimensions))

    # Groups

    def variables_read(self, equation: Equation) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The variables that an equation reads, and from how far."""
        for operand in equation.operands:
            for reference in accesses(self.inlining.value(operand)):
                if reference.name in self.variables:
                    yield reference.name, self.program.distance(reference)

    def groups(self) -> list[list[Equation]]:
        """Maximal loop distribution: strongly connected components of the equations, in topological order (Kennedy,
        McKinley 1990).
        """
        makers: dict[str, list[int]] = {}
        for n, equation in enumerate(self.equations):
            makers.setdefault(equation.target.name, []).append(n)
        needs = {
            n: [maker for name, _ in self.variables_read(equation) for maker in makers.get(name, [])]
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
            shape = tuple(Affine((), high - low + 1) for low, high in box)
            storage.append(Storage(name, self.variables[name].dtype, shape, "local"))
        return Nest(self.program.name, (), Condition(), tuple(storage), tuple(body))

    def loops(self, number: int, group: Sequence[Equation]) -> list[Node]:
        order = self.order(group)
        names = {d: f"{d}.{number}" for d in self.dimensions}
        box = self.box(group)
        around = to_set(Condition((_box_constraints(box, self.dimensions),)), self.dimensions, ())
        body = tuple(node for e in self.sort_equations(group) for node in self.statement(e, around, names))
        # Built from the innermost loop outwards.
        for m, step in reversed(order):
            low, high = box[m]
            ends = (Affine((), low),), (Affine((), high + 1),)
            body = (Loop(names[self.dimensions[m]], *ends, body, step, group[0].span),)
        return list(body)

    def statement(self, equation: Equation, around: isl.Set, names: Mapping[str, str]) -> Iterator[Node]:
        renamed = {d: Affine.symbol(n) for d, n in names.items()}
        value = Apply(equation.operation, equation.dtype, equation.operands, equation.span)
        value = self.elements.value(self.inlining.value(value))
        assign = Assign(equation.name, self.elements.reference(equation.target), value, equation.span)
        assign = Substitution(renamed).assignment(assign)
        # Executed in every iteration of the box: no condition.
        if around.is_subset(self.domains[equation.name]):
            yield assign
            return
        pieces = tuple(p.substitute(self.constants).substitute(renamed) for p in equation.condition.pieces)
        kept = [self.open_constraints(p, q, around) for p, q in zip(pieces, equation.condition.pieces, strict=True)]
        yield If(Condition(tuple(kept)), (assign,), (), equation.span)

    def open_constraints(self, renamed: Polyhedron, piece: Polyhedron, around: isl.Set) -> Polyhedron:
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
        return {d for e in group for name, d in self.variables_read(e) if name in own and any(d)}

    def order(self, group: Sequence[Equation]) -> Order:
        """The first one in which what is read lies before."""
        distances = self.distances(group)
        # Natural order first: programs of the user's keep the loops that they were written with.
        for dims in permutations(range(len(self.dimensions))):
            for signs in product((1, -1), repeat=len(dims)):
                made: Order = tuple(zip(dims, signs, strict=True))
                if all(next(s * d[m] for m, s in made if d[m]) > 0 for d in distances):
                    return made
        raise NoLoopOrder(list(dict.fromkeys(e.target.name for e in group)), group[0].span)

    def sort_equations(self, group: Sequence[Equation]) -> list[Equation]:
        """Topological order of the equations of one iteration, makers before readers (Kahn 1962)."""
        left, made = list(group), list[Equation]()
        while left:
            open_names = {e.target.name for e in left}
            ready = [e for e in left if not any(n in open_names and not any(d) for n, d in self.variables_read(e))]
            made += ready
            left = [e for e in left if e not in ready]
            assert ready, "equations that are well-founded have a first one"
        return made


def _box(points: isl.Set, dimensions: int) -> Box:
    """Bounding box of points at given sizes."""
    return tuple((int(str(points.dim_min_val(m))), int(str(points.dim_max_val(m)))) for m in range(dimensions))


def _box_constraints(box: Box, dimensions: Sequence[str]) -> Polyhedron:
    return Polyhedron(
        tuple(
            c
            for (low, high), name in zip(box, dimensions, strict=True)
            for c in (Affine.symbol(name) - low, -Affine.symbol(name) + high)
        )
    )
