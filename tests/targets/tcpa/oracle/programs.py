# SPDX-License-Identifier: Apache-2.0
"""Random flat programs that are valid by construction.

Every internal variable is defined everywhere in a box of symbolic bounds: in the interior, where all its dependences
stay in the box, by a random operation (perhaps two, split by a half-space); on the rest, cut into disjoint faces, by an
input or a constant. Dependence vectors are lexicographically positive under one random signed permutation; in a small
share of programs they all lie on one side of a hyperplane instead, so that values exist but a scan order need not.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Array, Constant, Equation, Operand, Program, Reference, Variable
from polyloom.sets import Affine, Condition, Polyhedron

NAMES = ("i", "j", "k", "l")
BOUNDS = ("N", "M", "K", "L")
INTEGER_OPERATIONS = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "shl", "shr")
FLOAT_OPERATIONS = ("add", "sub", "mul", "min", "max")
SIZES = (0, 1, 2, 3, 5, 7, 11, 13)


@dataclass(frozen=True, slots=True)
class Box:
    """The dimensions' half-open ranges [low, size + high)."""

    dims: tuple[str, ...]
    sizes: tuple[str, ...]

    def whole(self) -> tuple[Affine, ...]:
        return tuple(c for m in range(len(self.dims)) for c in (self.above(m, 0), self.below(m, 0)))

    def above(self, m: int, low: int) -> Affine:
        return Affine.symbol(self.dims[m]) - low

    def below(self, m: int, high: int) -> Affine:
        return Affine.symbol(self.sizes[m]) - Affine.symbol(self.dims[m]) + (high - 1)


def random_program(seed: int) -> Program:
    """The program of a seed: the same one every time."""
    return _Builder(random.Random(seed)).program(f"random_{seed}")


def random_sizes(program: Program, rng: random.Random, limit: int = 1500) -> dict[str, int]:
    """Bounds among 0, 1 and primes whose box has at most `limit` iterations."""
    while True:
        sizes = {p: rng.choice(SIZES[1:] if rng.random() < 0.9 else SIZES) for p in program.parameters}
        volume = 1
        for size in sizes.values():
            volume *= size
        if volume <= limit:
            return sizes


class _Builder:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        n = rng.choice((1, 2, 2, 3, 3, 4))
        self.box = Box(NAMES[:n], BOUNDS[:n])
        self.dtype: ElementType = rng.choice(("i32", "i32", "i16", "i8", "f32", "f32"))
        self.inputs: list[Array] = []
        self.equations: list[Equation] = []
        self.order = rng.sample(range(n), n)
        self.signs = [rng.choice((1, 1, 1, -1)) for _ in range(n)]
        self.wild = rng.random() < 0.05
        self.slope = [rng.choice((-3, -2, 2, 3)) for _ in range(n)]

    def program(self, name: str) -> Program:
        rng, dims = self.rng, self.box.dims
        count = rng.choice((1, 1, 2, 3))
        budget = rng.randint(1, 6)
        variables = tuple(Variable(f"x{v}", self.dtype) for v in range(count))
        for v in range(count):
            share = budget if v == count - 1 else rng.randint(0, budget)
            budget -= share
            self._define(v, count, [self._dependence(v, count) for _ in range(share)])
        outputs = tuple(self._output(o, rng.randrange(count)) for o in range(rng.choice((1, 1, 2))))
        assumptions = Condition((Polyhedron(tuple(Affine.symbol(s) for s in self.box.sizes)),))
        space = Condition((Polyhedron(self.box.whole()),))
        known = {v.name for v in variables}
        links = tuple(
            Variable(e.target.name, self.dtype)
            for e in self.equations
            if e.target.name.startswith("t") and e.target.name not in known
        )
        variables += links
        return Program(
            name,
            self.box.sizes,
            assumptions,
            dims,
            space,
            tuple(self.inputs),
            outputs,
            variables,
            tuple(self.equations),
        )

    def _dependence(self, v: int, count: int) -> tuple[int, tuple[int, ...]]:
        """(variable read, distance): a zero distance only reads an earlier variable."""
        rng, n = self.rng, len(self.box.dims)
        while True:
            d = [rng.choice((0, 0, 0, 1, 1, -1, 2, -2)) for _ in range(n)]
            if not any(d):
                if v and rng.random() < 0.7:
                    return rng.randrange(v), tuple(d)
                continue
            ahead = self._ahead(d)
            if ahead:
                return rng.randrange(count), tuple(c if ahead > 0 else -c for c in d)

    def _ahead(self, d: list[int]) -> int:
        """Positive when d points forward: in the scan order, or, in a wild program, along a slope that need not be any
        scan's."""
        if self.wild:
            return sum(c * s for c, s in zip(d, self.slope, strict=True))
        leading = next(m for m in self.order if d[m])
        return d[leading] * self.signs[leading]

    def _define(self, v: int, count: int, reads: list[tuple[int, tuple[int, ...]]]) -> None:
        """Equations of variable v: the interior, then the faces around it."""
        n = len(self.box.dims)
        low = [max([0, *(d[m] for _, d in reads)]) for m in range(n)]
        high = [min([0, *(d[m] for _, d in reads)]) for m in range(n)]
        inside = tuple(c for m in range(n) for c in (self.box.above(m, low[m]), self.box.below(m, high[m])))
        operands: list[Operand] = [self._instance(y, d) for y, d in reads]
        self._interior(v, operands, Polyhedron(inside))
        for m in range(n):
            earlier = tuple(c for e in range(m) for c in (self.box.above(e, low[e]), self.box.below(e, high[e])))
            later = tuple(c for e in range(m + 1, n) for c in (self.box.above(e, 0), self.box.below(e, 0)))
            if low[m]:
                self._face(
                    v,
                    Polyhedron(
                        (*earlier, self.box.above(m, 0), self.box.below(m, 0), -self.box.above(m, low[m]) - 1, *later)
                    ),
                )
            if high[m]:
                self._face(
                    v,
                    Polyhedron(
                        (
                            *earlier,
                            self.box.above(m, low[m]),
                            self.box.below(m, 0),
                            -self.box.below(m, high[m]) - 1,
                            *later,
                        )
                    ),
                )

    def _interior(self, v: int, operands: list[Operand], where: Polyhedron) -> None:
        while len(operands) < 2 and self.rng.random() < 0.5:
            operands.append(self._leaf())
        if not operands:
            operands.append(self._leaf())
        if self.rng.random() < 0.25:
            cut = Affine.from_terms({d: self.rng.choice((-1, 0, 1)) for d in self.box.dims}, self.rng.randint(-3, 3))
            if cut.terms:
                self._combine(v, list(operands), Polyhedron((*where.constraints, cut)))
                self._combine(v, list(operands), Polyhedron((*where.constraints, -cut - 1)))
                return
        self._combine(v, operands, where)

    def _combine(self, v: int, operands: list[Operand], where: Polyhedron) -> None:
        """Reduce the operands to one value by a chain of operations; the links are variables of their own."""
        while len(operands) > 2:
            name = f"t{len(self.equations)}"
            operation, arity = ("madd", 3) if self.rng.random() < 0.2 else (self._operation(), 2)
            self._equation(name, operation, tuple(operands[:arity]), where)
            del operands[:arity]
            operands.append(self._instance_of(name, (0,) * len(self.box.dims)))
        operation = self._operation() if len(operands) == 2 else "move"
        self._equation(f"x{v}", operation, tuple(operands), where)

    def _face(self, v: int, where: Polyhedron) -> None:
        self._equation(f"x{v}", "move", (self._leaf(),), where)

    def _operation(self) -> str:
        return self.rng.choice(FLOAT_OPERATIONS if self.dtype == "f32" else INTEGER_OPERATIONS)

    def _leaf(self) -> Operand:
        """A constant, or a new input: a scalar, a projection of the iteration, or the whole iteration."""
        if self.rng.random() < 0.4:
            value = self.rng.randint(-3, 3)
            return Constant(float(value) if self.dtype == "f32" else value, self.dtype)
        kept = [m for m in range(len(self.box.dims)) if self.rng.random() < 0.5]
        shift = [self.rng.choice((0, 0, 1)) for _ in kept]
        name = f"in{len(self.inputs)}"
        self.inputs.append(
            Array(
                name, self.dtype, tuple(Affine.symbol(self.box.sizes[m]) + s for m, s in zip(kept, shift, strict=True))
            )
        )
        return Reference(name, tuple(Affine.symbol(self.box.dims[m]) + s for m, s in zip(kept, shift, strict=True)))

    def _output(self, number: int, v: int) -> Array:
        """The whole variable, or its last face in some dimensions."""
        n = len(self.box.dims)
        dropped = {m for m in range(n) if self.rng.random() < 0.4}
        kept = [m for m in range(n) if m not in dropped]
        where = Polyhedron((*self.box.whole(), *(-self.box.below(m, 0) for m in sorted(dropped))))
        array = Array(f"out{number}", self.dtype, tuple(Affine.symbol(self.box.sizes[m]) for m in kept))
        target = Reference(array.name, tuple(Affine.symbol(self.box.dims[m]) for m in kept))
        source = self._instance_of(f"x{v}", (0,) * n)
        self.equations.append(
            Equation(f"E{len(self.equations)}", target, "move", self.dtype, (source,), Condition((where,)))
        )
        return array

    def _equation(self, name: str, operation: str, operands: tuple[Operand, ...], where: Polyhedron) -> None:
        target = self._instance_of(name, (0,) * len(self.box.dims))
        self.equations.append(
            Equation(f"E{len(self.equations)}", target, operation, self.dtype, operands, Condition((where,)))
        )

    def _instance(self, v: int, d: tuple[int, ...]) -> Reference:
        return self._instance_of(f"x{v}", d)

    def _instance_of(self, name: str, d: tuple[int, ...]) -> Reference:
        return Reference(name, tuple(Affine.symbol(m) - c for m, c in zip(self.box.dims, d, strict=True)))
