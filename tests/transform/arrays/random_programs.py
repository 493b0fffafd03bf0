# SPDX-License-Identifier: Apache-2.0
"""Random whole-array programs: trees of values over all kinds of nodes, stored into views, in loops and under
conditions; every index is inside of its array for sizes from 3 on."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from polyloom.ir.arrays.program import (
    Apply,
    Cases,
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
    axis,
    element_view,
    read_array,
)
from polyloom.ir.arrays.program import shape as shape_of
from polyloom.ir.arrays.quotients import ceiling_quotient
from polyloom.ir.nest import Storage
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition, Polyhedron

N, M = Affine.symbol("N"), Affine.symbol("M")
_ONE = Affine((), 1)
SHAPES: tuple[Shape, ...] = ((N,), (M,), (N, M), (M, N), (N, N), (Affine((), 3), M))
DOMAIN = Condition((Polyhedron((M - 3, N - 3)),))


class Writer:
    """Writes one program over elements of a type; `storage` are its arrays, `loops` those around (mutable)."""

    def __init__(self, random: Random, dtype: ElementType) -> None:
        self.random, self.loops = random, 0
        self.dtype: ElementType = dtype
        self.storage = [
            Storage(f"{'abt'[kind]}{n}", dtype, shape, "local" if kind == 2 else "argument")
            for kind in range(3)
            for n, shape in enumerate(SHAPES)
        ]
        self.storage.append(Storage("alpha", dtype, (), writable=False))

    def program(self) -> Program:
        body = tuple(self.statement(1) for _ in range(self.random.randint(2, 4)))
        return Program("f", ("N", "M"), DOMAIN, tuple(self.storage), body)

    def statement(self, depth: int) -> Statement:
        kind = self.random.randint(0, 7) if depth else 7
        if kind == 0:
            self.loops += 1
            name = f"q{self.loops}"
            inner = tuple(self.statement(depth - 1) for _ in range(self.random.randint(1, 2)))
            step: Any = self.random.choice([1, -1])
            ends = self.random.choice([((Affine(),), (N,)), ((_ONE,), (M, N))])
            return For(name, ends[0], ends[1], inner, step)
        if kind == 1:
            where = Condition((Polyhedron((N - M - self.random.randint(-1, 1),)),))
            return If(where, (self.statement(0),), (self.statement(0),))
        storage = self.random.choice([s for s in self.storage if s.writable])
        target = self.view(read_array(storage), self.random.randint(0, 3) == 0)
        return Store(target, self.value(target.shape, 3))

    def view(self, read: Read, partly: bool = True) -> Read:
        """A part of an array: without borders, with a step, or backwards."""
        if not partly:
            return read
        index, shape = list[Affine](), list[Affine]()
        for n, extent in enumerate(read.shape):
            kind = self.random.randint(0, 4)
            symbol = axis(n)
            if kind == 0:
                index.append(symbol + 1)
                shape.append(extent - 2)
            elif kind == 1:
                index.append(extent - 1 - symbol)
                shape.append(extent)
            elif kind == 2:
                index.append(symbol * 2)
                shape.append(ceiling_quotient(extent, 2))
            else:
                index.append(symbol)
                shape.append(extent)
        found = element_view(read, index, tuple(shape))
        assert isinstance(found, Read)
        return found

    def value(self, shape: Shape, depth: int) -> Value:
        makers = [self.leaf, self.leaf, self.apply, self.apply, self.apply, self.reduction, self.cases, self.broadcast]
        if len(shape) <= 2:
            makers += [self.contraction]
        if shape:
            makers += [self.scan, self.gather]
        return self.random.choice(makers if depth > 0 else [self.leaf])(shape, depth)

    def leaf(self, shape: Shape, depth: int) -> Value:
        del depth
        found = [s for s in self.storage if s.shape == shape]
        if found and self.random.random() < 0.8:
            return read_array(self.random.choice(found))
        turned = [s for s in self.storage if len(shape) == 2 and s.shape == shape[::-1]]
        if turned:
            return element_view(read_array(self.random.choice(turned)), [axis(1), axis(0)], shape)
        larger = [s for s in self.storage if len(s.shape) == 1 and shape == (s.shape[0] - 2,)]
        if larger:
            return element_view(read_array(self.random.choice(larger)), [axis(0) + self.random.randint(0, 2)], shape)
        number = self.random.randint(-3, 3)
        if shape and self.random.random() < 0.5:
            return Form(axis(0) + number, self.dtype, shape)
        return Constant(float(number) if self.dtype == "f32" else number, self.dtype)

    def apply(self, shape: Shape, depth: int) -> Value:
        a, b = (self.value(shape, depth - 1) for _ in range(2))
        operation = self.random.choice(["add", "sub", "mul", "min", "max", "neg", "abs", "select"])
        if operation in ("neg", "abs"):
            return Apply(operation, self.dtype, (a,))
        if operation == "select":
            return Apply("select", self.dtype, (Apply("lt", self.dtype, (a, b)), b, self.value(shape, depth - 1)))
        return Apply(operation, self.dtype, (a, b))

    def reduction(self, shape: Shape, depth: int) -> Value:
        axes_before = self.random.randint(0, len(shape))
        extent = self.random.choice([N, M, Affine((), 3)])
        inner = (*shape[:axes_before], extent, *shape[axes_before:])
        kinds: list[Any] = ["add", "mul", "maximum", "minimum"]
        return Reduce(self.random.choice(kinds), (axes_before,), self.spread(self.value(inner, depth - 2), inner))

    def spread(self, value: Value, shape: Shape) -> Value:
        """A value of the shape, also of a number."""
        return value if shape_of(value) else View(value, (), shape)

    def cases(self, shape: Shape, depth: int) -> Value:
        if not shape:
            return self.leaf(shape, depth)
        form = axis(self.random.randrange(len(shape))) - self.random.randint(0, 2)
        where = Condition((Polyhedron((form,)),))
        inside = self.spread(self.value(shape, depth - 1), shape)
        return Cases(where, inside, self.spread(self.value(shape, depth - 1), shape), shape)

    def broadcast(self, shape: Shape, depth: int) -> Value:
        if len(shape) != 2:
            return self.leaf(shape, depth)
        n = self.random.randrange(2)
        inner = self.spread(self.value((shape[n],), depth - 1), (shape[n],))
        return element_view(inner, [axis(n)], shape)

    def contraction(self, shape: Shape, depth: int) -> Value:
        extent = self.random.choice([N, M])
        result = "ij"[: len(shape)]
        if len(shape) == 2:
            shapes, labels = ((shape[0], extent), (extent, shape[1])), ("ik", "kj")
        else:
            shapes, labels = ((*shape, extent), (extent,)), (f"{result}k", "k")
        operands = [self.spread(self.value(s, depth - 2), s) for s in shapes]
        return Contract(labels, result, tuple(operands))

    def gather(self, shape: Shape, depth: int) -> Value:
        """Indices from -3 to 2, which every extent has."""
        along = self.random.randrange(len(shape))
        extent = self.random.choice([N, M, Affine((), 3)])
        inner = (*shape[:along], extent, *shape[along + 1 :])
        own = (shape[along],)
        data: Value = Form(axis(0) * self.random.choice([1, -1]), "i32", own)
        if self.dtype != "f32":
            data = self.spread(self.value(own, depth - 2), own)
        kind = "i32" if self.dtype == "f32" else self.dtype
        data = Apply("max", kind, (Apply("min", kind, (data, Constant(2, kind))), Constant(-3, kind)))
        return Gather(self.spread(self.value(inner, depth - 1), inner), data, along)

    def scan(self, shape: Shape, depth: int) -> Value:
        along = self.random.randrange(len(shape))
        return Scan("add", along, self.spread(self.value(shape, depth - 1), shape))


def random_program(seed: int, dtype: ElementType) -> Program:
    """One for a seed."""
    return Writer(Random(seed), dtype).program()


def random_arrays(program: Program, parameters: dict[str, int], seed: int) -> dict[str, Any]:
    """Small numbers for every argument, a few of which are NaNs or infinite."""
    generator = np.random.default_rng(seed)
    found = dict[str, Any]()
    for s in program.storage:
        if s.role == "argument":
            shape = tuple(extent.evaluate(parameters) for extent in s.shape)
            values = np.asarray(generator.integers(-8, 9, shape)).astype(NUMPY[s.dtype])
            if s.dtype == "f32" and shape and seed % 4 == 0:
                values.flat[0] = np.nan
            found[s.name] = values if s.dtype != "f32" else values / np.float32(4)
    return found
