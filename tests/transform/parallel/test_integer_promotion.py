# SPDX-License-Identifier: Apache-2.0
"""Integer promotion keeps every value: random expressions over all integer types, beside the interpreter."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from polyloom.ir.nest import Apply, Assign, Expression, Loop, Nest, Storage
from polyloom.ir.nest_interpret import interpret
from polyloom.ir.numbers import NUMPY, type_limits
from polyloom.ir.operations import BY_NAME, INTEGERS, ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.transform.parallel.integer_promotion import promote_integers

TYPES: tuple[ElementType, ...] = (*INTEGERS, "bool")
_NAMES = ("add", "sub", "mul", "and", "or", "xor", "shl", "shr", "min", "max", "neg", "abs", "madd", "move")
_ORDERS = ("lt", "le", "eq", "ne", "ge", "gt")
_SIZE = 16
EVERYWHERE = Condition((Polyhedron(),))


def expression(random: Random, dtype: ElementType, depth: int) -> Expression:
    """An expression of a type; conversions lead to all other types."""
    if depth == 0:
        return Reference(f"x_{dtype}", (Affine.symbol("i"),)) if random.random() < 0.7 else constant(random, dtype)
    kind = random.randrange(4)
    if kind == 0:
        others: list[ElementType] = [t for t in TYPES if t != dtype]
        other = random.choice(others)
        return Apply(f"to_{dtype}", other, (expression(random, other, depth - 1),))
    if kind == 1:
        test = expression(random, "i32", depth - 1)
        return Apply("select", dtype, (test, *(expression(random, dtype, depth - 1) for _ in range(2))))
    if kind == 2 and dtype == "i32":
        other = random.choice(INTEGERS)
        return Apply(random.choice(_ORDERS), other, tuple(expression(random, other, depth - 1) for _ in range(2)))
    name = random.choice(("and", "or", "xor", "move") if dtype == "bool" else _NAMES)
    return Apply(name, dtype, tuple(expression(random, dtype, depth - 1) for _ in range(BY_NAME[name].arity)))


def constant(random: Random, dtype: ElementType) -> Constant:
    low, high = type_limits(dtype) or (0, 0)
    return Constant(random.choice((low, high, random.randint(low, high), min(high, random.randint(0, 40)))), dtype)


@pytest.mark.parametrize(
    "types", [("u32",), ("u32", "bool"), tuple(t for t in TYPES if t != "i32")], ids=["u32", "truth", "all"]
)
def test_values_stay(types: tuple[ElementType, ...]) -> None:
    random = Random(4)
    for seed in range(60):
        dtype = random.choice(TYPES)
        shape = (Affine((), _SIZE),)
        storage = [Storage(f"x_{t}", t, shape) for t in TYPES] + [Storage("y", dtype, shape)]
        at = Affine.symbol("i")
        body = Assign("s", Reference("y", (at,)), expression(random, dtype, 3))
        nest = Nest("f", (), EVERYWHERE, tuple(storage), (Loop("i", (Affine((), 0),), shape, (body,)),))
        numbers = np.random.default_rng(seed)
        inputs = {s.name: numbers.integers(0, 1 << 32, _SIZE).astype(NUMPY[s.dtype]) for s in storage}
        made = promote_integers(nest, types)
        assert not {s.dtype for s in made.storage} & {*types}
        # What is kept in a wider type is given there, extended.
        wide = {s.name: inputs[s.name].astype(NUMPY[s.dtype]) for s in made.storage}
        got = interpret(made, {}, wide)["y"].astype(NUMPY[dtype])
        assert np.array_equal(got, interpret(nest, {}, inputs)["y"]), body.value


def test_other_nests_are_the_same_object() -> None:
    body = Assign("s", Reference("y", ()), Apply("add", "i32", (Reference("y", ()), Constant(1, "i32"))))
    nest = Nest("f", (), EVERYWHERE, (Storage("y", "i32"),), (body,))
    assert promote_integers(nest, ("u32", "i8")) is nest
