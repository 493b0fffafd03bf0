# SPDX-License-Identifier: Apache-2.0
"""Every operation on every type: values streamed through one functional unit against the NumPy semantics of the
interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.targets.tcpa.model.configurations import box

from polyloom.diagnostics import PolyloomError
from polyloom.ir import semantics
from polyloom.ir.numbers import NUMPY, type_limits
from polyloom.ir.operations import BY_NAME, DIVISIONS, OPERATIONS, STORED, ElementType, Operation, may_divide_by_zero
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import ArrayLayout, Concrete, Controller, ElementProgram, Generator
from polyloom.targets.tcpa.words.isa import File, Halt, If, Instruction, Register, encode_opcode

MACHINE = machine_file.load("generic")
CASES = [(o, t) for o in OPERATIONS for t in o.types if o.gives not in STORED]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-38, 3.4e38, 0.1, -7.5]
EDGES = [
    2.5,
    127.5,
    -128.5,
    255.5,
    32767.5,
    2147483520.0,
    2147483647.5,
    2.0**31,
    -(2.0**31),
    -2147483649.0,
    4294967040.0,
]
WIDE_EDGES = [4294967295.5, 2.0**32, -2147483648.5, 1e308, 5e-324, 1 + 2.0**-30, 3.4028235677973366e38]


def _streaming(operation: Operation, types: tuple[ElementType, ...], result: ElementType, count: int) -> bytes:
    """One element that applies `operation` to `count` triples of inputs; its latency is 1 and pi is 1."""
    sources = tuple(Register(File.IO, n) for n in range(operation.arity))
    step = (encode_opcode(operation.name, types[-1]), (Register(File.IO, 0),), sources)
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
            classes=(ElementProgram((program,), (), (1,) * operation.arity),),
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
    bounds = type_limits(dtype)
    if bounds is None:
        listed = [*SPECIAL, *EDGES, *(WIDE_EDGES if dtype == "f64" else [])]
        pool = np.concatenate([listed, rng.standard_normal(10) * 1000]).astype(NUMPY[dtype])
    else:
        least, most = bounds
        edges = [
            v for v in (0, 1, -1, 2, -7, 31, 127, 128, 255, 32768, 65535, most, least, most - 1) if least <= v <= most
        ]
        pool = np.concatenate([edges, rng.integers(least, most, 16, endpoint=True)]).astype(NUMPY[dtype])
    return [a.ravel() for a in np.meshgrid(*[pool] * min(arity, 2))] + [
        rng.choice(pool, pool.size**2) for _ in range(arity - 2)
    ]


@pytest.mark.parametrize(("operation", "dtype"), CASES, ids=lambda c: c if isinstance(c, str) else c.name)
def test_every_operation(operation: Operation, dtype: ElementType) -> None:
    operands = _values(dtype, operation.arity)
    types: tuple[ElementType, ...] = (dtype,) * operation.arity
    if operation.name == "select":
        operands[0], types = (np.arange(operands[0].size) % 3).astype(np.int32), ("i32", dtype, dtype)
    if may_divide_by_zero(operation.name, dtype):
        operands = [x[operands[1] != 0] for x in operands]
    with np.errstate(all="ignore"):
        wanted = np.asarray(semantics.apply(operation.name, dtype, operands))
    data = _streaming(operation, types, operation.result(dtype), operands[0].size)
    got = model.run(data, MACHINE, {f"x{n}": x for n, x in enumerate(operands)}).outputs["y"]
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)
    if got.dtype.kind == "f":
        assert (np.signbit(got) == np.signbit(wanted))[~np.isnan(wanted)].all()


@pytest.mark.parametrize("name", DIVISIONS)
def test_division_by_zero_names_its_place(name: str) -> None:
    data = _streaming(BY_NAME[name], ("i32", "i32"), "i32", 3)
    with pytest.raises(PolyloomError, match=r"PL0619.*element \(0, 0\), unit alu, cycle 1: integer division by zero"):
        model.run(data, MACHINE, {"x0": np.ones(3, np.int32), "x1": np.array([1, 0, 1], np.int32)})
