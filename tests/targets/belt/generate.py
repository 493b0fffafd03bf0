# SPDX-License-Identifier: Apache-2.0
"""Random innermost loops in the member-independent form, and arguments for them.

    function drawn(%n, %c, %d, %x, %y, %z) -> w, w      a guard, one loop, two results

A loop has 3 to 40 operations: accumulators and recurrences of distance 1 to 4, whose initial values differ, some of
invariants alone; loads of x, y and z; up to three stores into y and z before the exits and three behind, so that memory
recurrences have distances up to 12; picks; guarded stores; and one to three exits. `order` has every pair of accesses
that meet, by the exact distance of their subscripts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom.targets.belt.source.ir import (
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Loop,
    Module,
    Op,
    Operand,
    Order,
    Return,
    Value,
)
from polyloom.targets.belt.value_types import Type

W: Final = Type("w")
B: Final = Type("b")
PAD: Final = 16
"""Elements behind the n that a loop walks over: subscripts are i + 0 ... i + 12."""
_PURE: Final = ("add", "add", "sub", "and", "or", "xor", "mul", "shl", "shrs", "shru", "andn", "not")
_COMPARE: Final = ("eql", "neq", "lsss", "leqs", "gtrs", "geqs", "lssu", "gtru")


@dataclass(frozen=True, slots=True)
class Case:
    """`most`: operations in the loop."""

    module: Module
    most: int

    @property
    def loop(self) -> Loop:
        return next(b for b in self.module.functions[0].blocks if isinstance(b, Loop))

    def arguments(self, n: int, random: Random) -> list[int | npt.NDArray[Any]]:
        """Fresh ones for a run that wants n iterations."""
        arrays = [np.array([random.randrange(-99, 99) for _ in range(n + PAD)], np.int32) for _ in range(3)]
        return [n, random.randrange(-50, 50), random.randrange(-(2**31), 2**31), *arrays]


@dataclass(slots=True)
class _Drawing:
    """Mutable: the loop so far. `accesses` has per operation its array, subscript and whether it stores."""

    random: Random
    words: list[Operand]
    ops: list[Op] = field(default_factory=list[Op])
    bits: list[Operand] = field(default_factory=list[Operand])
    accesses: list[tuple[int, str, int, bool]] = field(default_factory=list[tuple[int, str, int, bool]])
    number: int = 0

    def value(self, type: Type) -> Value:
        self.number += 1
        return Value(f"v{self.number}", type)

    def add(self, name: str, *operands: Operand, type: Type = W) -> Value:
        result = self.value(type)
        self.ops.append(Op(name, operands, (result,)))
        (self.bits if type == B else self.words).append(result)
        return result

    def word(self) -> Operand:
        if self.random.random() < 0.1:
            return Constant(W, self.random.choice((self.random.randrange(128), self.random.getrandbits(32))))
        recent = self.words[-6:] if self.random.random() < 0.6 else self.words
        return self.random.choice(recent)

    def compute(self) -> None:
        kind = self.random.random()
        if kind < 0.15:
            self.bit()
        elif kind < 0.3 and self.bits:
            self.add("pick", self.random.choice(self.bits), self.word(), self.word())
        elif kind < 0.5:
            self.load()
        else:
            name = self.random.choice(_PURE)
            last = Constant(W, self.random.randrange(1, 31)) if name[:2] == "sh" else self.word()
            self.add(name, self.word(), *([] if name == "not" else [last]))

    def bit(self) -> Value:
        return self.add(self.random.choice(_COMPARE), self.word(), self.word(), type=B)

    def load(self) -> None:
        array, at = self.random.choice("xyz"), self.random.randrange(PAD - 3)
        self.accesses.append((len(self.ops), array, at, False))
        result = self.value(W)
        self.ops.append(Op("load", (_base(array), _INDEX), (result,), "w", 4, 4 * at))
        self.words.append(result)

    def store(self) -> None:
        array, at = self.random.choice("yz"), self.random.randrange(PAD - 3)
        if self.bits and self.random.random() < 0.3:
            bytes_ = self.add("shl", _INDEX, Constant(W, 2))
            address = self.add("add", _base(array), bytes_)
            guarded = self.value(W)
            self.ops.append(Op("pick", (self.random.choice(self.bits), address), (guarded,)))
            self.accesses.append((len(self.ops), array, at, True))
            self.ops.append(Op("store", (guarded, self.word()), (), "w", 0, 4 * at))
            return
        self.accesses.append((len(self.ops), array, at, True))
        self.ops.append(Op("store", (_base(array), _INDEX, self.word()), (), "w", 4, 4 * at))

    def leave(self, condition: Operand) -> None:
        name = "leavetr" if self.random.random() < 0.8 else "leavefl"
        self.ops.append(Op(name, (condition,), edge=Edge("done", (self.word(), self.word()))))

    def order(self) -> tuple[Order, ...]:
        """Accesses meet where their subscripts do: i + a = j + b."""
        found: list[Order] = []
        for k, array, a, stores in self.accesses:
            for m, other, b, also in self.accesses:
                if array == other and (stores or also) and (a > b or (a == b and k < m)):
                    found.append(Order(k, m, a - b))
        return tuple(found)


_INDEX: Final = Value("i", W)
_PARAMETERS: Final = tuple(Value(name, W) for name in ("n", "c", "d", "x", "y", "z"))


def _base(array: str) -> Value:
    return Value(array, W)


def draw(random: Random, most: int = 40) -> Case:
    """A loop with at most that many operations, a few more where it has several exits."""
    invariants: list[Operand] = [Value("c", W), Value("d", W)]
    drawing = _Drawing(random, [_INDEX, *invariants])
    recurrences = [_recurrence(drawing, k) for k in range(random.randrange(4))]
    budget = random.randrange(3, most + 1)
    early = random.randrange(2)
    before, after, exits = random.randrange(4), random.randrange(4), random.randrange(1, 4)
    stop = _test(drawing) if early else None
    steps = ["compute"] * max(1, budget - before - after - 2 * exits - 2 * len(recurrences) - 2)
    _insert(random, steps, ["store"] * before)
    tail = ["compute"] * random.randrange(3)
    _insert(random, tail, ["store"] * after)
    middle = ["exit"] * (exits - 1)
    for step in (*steps, *middle):
        _step(drawing, step)
    if stop is None:
        stop = _test(drawing)
    drawing.ops.append(Op("leavetr", (stop,), edge=Edge("done", (drawing.word(), drawing.word()))))
    for step in tail:
        _step(drawing, step)
    nexts: list[Operand] = [_counted(drawing)]
    for parameters, _ in recurrences:
        new = _carried(drawing, parameters, invariants)
        nexts += [new, *parameters[:-1]]
    return Case(_module(drawing, recurrences, nexts, guarded=not early), len(drawing.ops))


def _insert(random: Random, steps: list[str], more: Sequence[str]) -> None:
    for step in more:
        steps.insert(random.randrange(len(steps) + 1), step)


def _step(drawing: _Drawing, step: str) -> None:
    if step == "exit":
        masked = drawing.add("and", drawing.word(), Constant(W, drawing.random.choice((7, 31, 127))))
        drawing.leave(drawing.add("eql", masked, Constant(W, drawing.random.randrange(7)), type=B))
        return
    getattr(drawing, step)()


def _recurrence(drawing: _Drawing, k: int) -> tuple[list[Value], list[Operand]]:
    """Parameters, the one of the last iteration first, and their initial values."""
    distance = drawing.random.choice((1, 1, 1, 2, 3, 4))
    parameters = [Value(f"r{k}.{d}", W) for d in range(1, distance + 1)]
    drawing.words.append(parameters[-1])
    first: list[Operand] = [
        drawing.random.choice((Constant(W, drawing.random.getrandbits(7)), Value("c", W), Value("d", W)))
        for _ in parameters
    ]
    return parameters, first


def _carried(drawing: _Drawing, parameters: Sequence[Value], invariants: Sequence[Operand]) -> Value:
    """What the recurrence becomes; of invariants alone now and then."""
    kind = drawing.random.random()
    other = drawing.random.choice(invariants) if kind < 0.3 else drawing.word()
    result = drawing.add(drawing.random.choice(("add", "sub", "xor", "add")), parameters[-1], other)
    drawing.words.pop()
    return result


def _test(drawing: _Drawing) -> Value:
    """Whether n iterations are done, tested at the loop's head or behind the step of the index."""
    return drawing.add("geqs", _INDEX, Value("n", W), type=B)


def _counted(drawing: _Drawing) -> Value:
    return drawing.add("add", _INDEX, Constant(W, 1))


def _module(
    drawing: _Drawing, recurrences: Sequence[tuple[list[Value], list[Operand]]], nexts: Sequence[Operand], guarded: bool
) -> Module:
    """Subscripts reach n + 12 at most: a loop that is not tested at its head runs once where n is 0."""
    parameters = (_INDEX, *(p for ps, _ in recurrences for p in ps))
    first: tuple[Operand, ...] = (Constant(W, 0), *(o for _, os in recurrences for o in os))
    loop = Loop("body", parameters, tuple(drawing.ops), tuple(nexts), drawing.order())
    done = Edge("done", (Constant(W, 1), Constant(W, 2)))
    test = Op("gtrs", (Value("n", W), Constant(W, 0)), (Value("some", B),))
    enter = Edge("body", first)
    entry = Block("entry", _PARAMETERS, (test,), Branch(Value("some", B), enter, done if guarded else enter))
    results = (Value("p", W), Value("q", W))
    last = Block("done", results, (), Return(results))
    return Module((Function("drawn", (W, W), (entry, loop, last)),))
