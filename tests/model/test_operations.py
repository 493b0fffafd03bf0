# SPDX-License-Identifier: Apache-2.0
"""Every operation on every type: values streamed through one functional unit against the NumPy semantics of the
interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.model.configurations import MACHINE, box

from polyloom.diagnostics import PolyloomError
from polyloom.ir import semantics
from polyloom.ir.numbers import NUMPY
from polyloom.ir.operations import BY_NAME, DIVISIONS, OPERATIONS, ElementType, Operation, divides
from polyloom.targets.tcpa import concrete_file, machine_file, model
from polyloom.targets.tcpa.concrete import ArrayLayout, Concrete, Controller, ElementProgram, Generator
from polyloom.targets.tcpa.isa import File, Halt, If, Instruction, Register, opcode

CASES = [(o, t) for o in OPERATIONS for t in o.types]
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-38, 3.4e38, 0.1, -7.5], np.float32)


def _streaming(operation: Operation, types: tuple[ElementType, ...], result: ElementType, count: int) -> bytes:
    """One element that applies `operation` to `count` triples of inputs; its latency is 1 and pi is 1."""
    sources = tuple(Register(File.IO, n) for n in range(operation.arity))
    step = (opcode(operation.name, types[-1]), (Register(File.IO, 0),), sources)
    program = (Instruction(*step, If((0,), (0, 1))), Instruction(*step, Halt()))
    inputs = tuple(ArrayLayout(f"x{n}", t, (count,), (1,), False) for n, t in enumerate(types))
    every = box(0, count - 1)
    return concrete_file.encode(
        Concrete(
            kernel=operation.name,
            machine=MACHINE.name,
            machine_hash=machine_file.fingerprint(MACHINE),
            initiation_interval=1,
            rows=1,
            columns=1,
            extents=(count,),
            controller=Controller(False, False, 0, 0, 0, count, (box(count - 2, count - 2),)),
            classes=(ElementProgram((program, ()), (), (1,) * operation.arity),),
            element_class=((0,),),
            wrappers=((),),
            wrapper=((0,),),
            generators=(
                Generator("north", 0, 0, 0, 0, operation.arity, 0, (1,), 1, every),
                *(Generator("west", n, 0, n, 0, n, 0, (1,), 0, every) for n in range(operation.arity)),
            ),
            arrays=(*inputs, ArrayLayout("y", result, (count,), (1,), True)),
        )
    )


def _values(dtype: ElementType, arity: int) -> list[npt.NDArray[Any]]:
    rng = np.random.default_rng(arity)
    if dtype == "f32":
        pool = np.concatenate([SPECIAL, rng.standard_normal(20).astype(np.float32) * np.float32(1000)])
    else:
        kind = np.iinfo(NUMPY[dtype])
        edges = np.array([0, 1, -1, 2, -7, 31, kind.max, kind.min, kind.max - 1])
        pool = np.concatenate([edges, rng.integers(kind.min, kind.max, 20, endpoint=True)]).astype(NUMPY[dtype])
    return [a.ravel() for a in np.meshgrid(*[pool] * min(arity, 2))] + [
        rng.choice(pool, pool.size**2) for _ in range(arity - 2)
    ]


@pytest.mark.parametrize(("operation", "dtype"), CASES, ids=lambda c: c if isinstance(c, str) else c.name)
def test_every_operation(operation: Operation, dtype: ElementType) -> None:
    operands = _values(dtype, operation.arity)
    types: tuple[ElementType, ...] = (dtype,) * operation.arity
    if operation.name == "select":
        operands[0], types = (np.arange(operands[0].size) % 3).astype(np.int32), ("i32", dtype, dtype)
    if divides(operation.name, dtype):
        operands = [x[operands[1] != 0] for x in operands]
    with np.errstate(all="ignore"):
        wanted = np.asarray(semantics.apply(operation.name, dtype, operands))
    data = _streaming(operation, types, operation.result(dtype), operands[0].size)
    got = model.run(data, MACHINE, {f"x{n}": x for n, x in enumerate(operands)}).outputs["y"]
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)
    if dtype == "f32" and got.dtype == np.float32:
        assert (np.signbit(got) == np.signbit(wanted))[~np.isnan(wanted)].all()


@pytest.mark.parametrize("name", DIVISIONS)
def test_division_by_zero_names_its_place(name: str) -> None:
    data = _streaming(BY_NAME[name], ("i32", "i32"), "i32", 3)
    with pytest.raises(PolyloomError, match=r"PL0619.*element \(0, 0\), unit alu0, cycle 1: integer division by zero"):
        model.run(data, MACHINE, {"x0": np.ones(3, np.int32), "x1": np.array([1, 0, 1], np.int32)})
