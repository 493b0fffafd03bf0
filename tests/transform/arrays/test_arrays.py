# SPDX-License-Identifier: Apache-2.0
"""Whole-array programs: their text reads back, their verifier refuses each kind of mistake, and their nests give the
bits of their ordered meaning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import Golden
from tests.frontend.python.helpers import assert_same
from tests.transform.arrays.random_programs import random_arrays, random_program

from polyloom.diagnostics import PolyloomError
from polyloom.ir import nest_interpret
from polyloom.ir.arrays.interpret import interpret
from polyloom.ir.arrays.program import Apply, Contract, Form, Gather, Program, Read, Reduce, Store, axis, read_array
from polyloom.ir.arrays.read import read_arrays
from polyloom.ir.arrays.text import print_arrays
from polyloom.ir.arrays.verify import verify
from polyloom.ir.nest_c import print_c
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant
from polyloom.transform.arrays import lower_arrays

TYPES: tuple[ElementType, ...] = ("f32", "i32", "i16")
SEEDS = range(40)


def check(seed: int, dtype: ElementType) -> None:
    program = random_program(seed, dtype)
    verify(program)
    assert read_arrays(print_arrays(program)) == program
    nest = lower_arrays(program)
    for parameters in ({"N": 3, "M": 4}, {"N": 6, "M": 3}):
        arrays = random_arrays(program, parameters, seed)
        expected = interpret(program, parameters, arrays)
        found = nest_interpret.interpret(nest, parameters, arrays) if expected else {}
        assert_same(expected, found)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_nests_have_the_ordered_meaning(seed: int, dtype: ElementType) -> None:
    check(seed, dtype)


@pytest.mark.long
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("start", range(1000, 11000, 1000))
def test_many_nests_have_the_ordered_meaning(start: int, dtype: ElementType) -> None:
    for seed in range(start, start + 200):
        check(seed, dtype)


def program(value: Store | None = None) -> Program:
    """Two squares and two vectors of different extents, with one statement."""
    found = random_program(0, "f32")
    a = read_array(found["a4"])
    return replace(found, body=(value or Store(a, a),))


A, X, Y = (read_array(random_program(0, "f32")[name]) for name in ("a4", "a0", "a1"))
FAULTS = {
    "an unknown array": Store(A, replace(A, name="z")),
    "a wrong number of indices": Store(A, replace(A, index=(axis(0),))),
    "a wrong type": Store(A, replace(A, dtype="i32")),
    "an unknown symbol": Store(X, replace(X, index=(axis(1),))),
    "other extents": Store(X, Y),
    "other extents of operands": Store(X, Apply("add", "f32", (X, Y))),
    "other extents of labels": Store(X, Contract(("ij", "j"), "i", (A, Y))),
    "labels without an operand": Store(X, Contract(("ij", "j"), "k", (A, X))),
    "an index that is no integer": Store(X, Gather(Y, X, 0)),
    "an axis without a gather": Store(X, Gather(Y, Form(axis(0), "i32", X.shape), 1)),
    "an axis that is not there": Store(X, Reduce("add", (2,), A)),
    "an operation on too few": Store(X, Apply("add", "f32", (X,))),
    "an operation on a type": Store(X, Apply("xor", "f32", (X, X))),
    "another type that is stored": Store(X, Apply("lt", "f32", (X, X))),
    "a scalar that is stored to": Store(Read("alpha", "f32", ()), Constant(1.0, "f32")),
}


def test_verifier_refuses_each_mistake(golden: Golden) -> None:
    lines = list[str]()
    for name, store in FAULTS.items():
        with pytest.raises(PolyloomError) as caught:
            verify(program(store))
        lines.append(f"{name}: {caught.value.diagnostics[0].message}")
    golden("verifier", "\n".join(lines))


def test_names_are_unique() -> None:
    found = program()
    with pytest.raises(PolyloomError, match="`a0` is defined twice"):
        verify(replace(found, storage=(*found.storage, found["a0"])))


@pytest.mark.parametrize("text", ["program f( {", "program f() where true {\n x[] : [] = 1\n}", "", "nest"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        read_arrays(text)


TEXT = """\
program f(M, N) where M - 3 >= 0 and N - 3 >= 0 {
argument a: f32[N, M]
argument b: f32[M, N]
argument c: f32[N, N]
argument x: f32[N]
local t: f32[N, N]
  t[$0, $1] : [N, N] = apply.add.f32(c[$0, $1] : [N, N], f32(1.0))
  c[$0, $1] : [N, N] = contract("ik,kj->ij", a[$0, $1] : [N, M], b[$0, $1] : [M, N])
  c[$0, $1] : [N, N] = apply.mul.f32(c[$0, $1] : [N, N], view(reduce.add([1], a[$0, $1] : [N, M]))[$0] : [N, N])
  x[$0 + 1] : [N - 1] = x[$0] : [N - 1]
  x[$0] : [N - 1] = x[$0 + 1] : [N - 1]
  x[$0] : [N] = x[-$0 + N - 1] : [N]
  x[$0] : [N] = scan.add([0], x[$0] : [N])
}
"""


def test_loops_are_perfect_and_copies_few(golden: Golden) -> None:
    """A product is one nest that accumulates in its result; what moves up or down needs no copy, a flip does; an array
    that nobody reads is not computed."""
    found = read_arrays(TEXT)
    verify(found)
    golden("loops", print_c(lower_arrays(found)))


def test_sums_run_in_index_order() -> None:
    """NumPy sums in pairs: other bits."""
    values = np.full(4096, 0.1, np.float32)
    arrays = "argument x: f32[N]\nargument y: f32[1]"
    text = f"program f(N) where N >= 0 {{\n{arrays}\n  y[0] : [] = reduce.add([0], x[$0] : [N])\n}}\n"
    (found,) = interpret(read_arrays(text), {"N": 4096}, {"x": values})["y"]
    total = np.float32(0)
    for value in values:
        total += value
    assert found == total != values.sum()
