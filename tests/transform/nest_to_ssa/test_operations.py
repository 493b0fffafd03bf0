# SPDX-License-Identifier: Apache-2.0
"""Every operation on every type, on edge cases and random elements: in SSA form and on RISC-V it gives the
bits of `ir.semantics`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.frontend.python.helpers import Arrays
from tests.transform.nest_to_ssa.checking import check, check_on_riscv

from polyloom.ir.nest import Apply, Assign, Loop, Nest, Storage
from polyloom.ir.nest_verify import verify
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import ALL_TYPES, INTEGERS, OPERATIONS, ElementType, Operation, may_divide_by_zero
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine, Condition, Polyhedron

N = Affine.symbol("N")
ELEMENT = (Affine.symbol("i"),)
EDGES: dict[str, list[float]] = {
    "i": [0, 1, -1, 2, -2, 3, 7, -7, 127, -128, 32767, -32768, 2**31 - 1, -(2**31), 100, 12345],
    "u": [0, 1, 2, 3, 7, 127, 128, 255, 256, 32768, 65535, 2**31, 2**32 - 1, 100, 12345, 9],
    "b": [0, 1],
    "f": [
        *(0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-40, 126.5, 127.5, 128.0, -128.5, -129.0),
        *(255.0, 256.0, 65519.0, 65520.0, -65536.0, 2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0),
        *(4294967040.0, 4294967296.0, 3e38, 8388607.5, 8388608.5, 6e-8, 2.9e-8, 1.0009765625, 1.00048828125, 1.0014648),
    ],
}


def operations(dtype: ElementType) -> Iterator[Operation]:
    return (operation for operation in OPERATIONS if operation.accepts_type(dtype))


def nest_of(dtype: ElementType, chosen: list[Operation], constant: int | None = None) -> Nest:
    """y_operation[i] = operation(a[i], b[i], c[i]), where b may be a constant."""
    names = ("s", "b", "c")
    storage = [Storage("s", "i32", (N,)), *(Storage(name, dtype, (N,)) for name in ("a", "b", "c"))]
    body: list[Assign] = []
    for operation in chosen:
        given: list[Any] = [Reference(name, ELEMENT) for name in ("a", "b", "c")]
        if constant is not None:
            given[1] = Constant(constant, dtype)
        given = given[: operation.arity]
        if operation.name == "select":
            given = [Reference(name, ELEMENT) for name in names]
        result = operation.result(dtype)
        storage.append(Storage(f"y_{operation.name}", result, (N,)))
        body.append(
            Assign(
                f"S_{operation.name}",
                Reference(f"y_{operation.name}", ELEMENT),
                Apply(operation.name, dtype, tuple(given)),
            )
        )
    loop = Loop("i", (Affine(),), (N,), tuple(body))
    nest = Nest("f", ("N",), Condition((Polyhedron((N,)),)), tuple(storage), (loop,))
    verify(nest)
    return nest


def inputs(nest: Nest, dtype: ElementType, seed: int, count: int | None = None) -> Arrays:
    """All pairs of edge cases, or so many of them."""
    rng, kind = np.random.default_rng(seed), NUMPY[dtype]
    with np.errstate(all="ignore"):
        known = np.array(EDGES[kind.kind], np.float64 if kind.kind == "f" else np.int64).astype(kind)
    a, b = np.repeat(known, len(known)), np.tile(known, len(known))
    if count is not None:
        chosen = rng.permutation(a.size)[:count]
        a, b = a[chosen], b[chosen]
    if dtype in INTEGERS:
        b = np.where(b == 0, kind.type(5), b)
    made: Arrays = {"s": rng.integers(-1, 2, a.size).astype(np.int32), "a": a, "b": b, "c": rng.permutation(a)}
    return made | {s.name: np.zeros(a.size, NUMPY[s.dtype]) for s in nest.storage if s.name not in made}


@pytest.mark.parametrize("pointers", [32, 64])
@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_operations_are_those_of_nests(dtype: ElementType, pointers: int) -> None:
    nest = nest_of(dtype, list(operations(dtype)))
    given = inputs(nest, dtype, pointers, 120)
    check(nest, {"N": given["a"].size}, given, pointers)


@pytest.mark.parametrize("constant", [1, 2, 3, 64, 100])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_divisors_and_amounts_may_be_constants(dtype: ElementType, constant: int) -> None:
    for sign in (1, -1) if dtype.startswith("i") else (1,):
        chosen = [
            o for o in operations(dtype) if may_divide_by_zero(o.name, dtype) or o.name in ("shl", "shr", "mul", "min")
        ]
        nest = nest_of(dtype, chosen, sign * constant)
        given = inputs(nest, dtype, 2, 40)
        check(nest, {"N": given["a"].size}, given)


@pytest.mark.parametrize("isa", ["rv64gc", "rv32gc"])
@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_operations_on_riscv(dtype: ElementType, isa: str) -> None:
    chosen = list(operations(dtype))
    for part in (chosen[::3], chosen[1::3], chosen[2::3]):
        nest = nest_of(dtype, part)
        given = inputs(nest, dtype, 3)
        check_on_riscv(nest, {"N": given["a"].size}, given, isa)
