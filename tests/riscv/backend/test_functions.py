# SPDX-License-Identifier: Apache-2.0
"""C functions on RISC-V give what the host's compiler and the interpreter of SSA form give, for every instruction
set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.transform.ssa.native import arguments, same
from tests.transform.ssa.native import call as call_native

from polyloom.diagnostics import PolyloomError, Source
from polyloom.frontend.c.llvm import load_functions
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import Argument, interpret
from polyloom.ir.ssa_types import F32, F64, PTR
from polyloom.riscv import names
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.run import call
from polyloom.transform.ssa.construct import construct

pytest.importorskip("ziglang", reason="C needs the extra `c`")

PATH, CALLS = (Path(__file__).with_name(name) for name in ("functions.c", "calls.c"))


def _names(path: Path) -> tuple[str, ...]:
    """The functions of a file that are no helpers of others."""
    return tuple(
        re.findall(
            r"^(?!static|CALLED|struct|typedef|const)\w[\w ]*?(\w+)\([^;]*\{",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )


NAMES, CALLING = _names(PATH), _names(CALLS)
PLAIN = tuple(name for name in NAMES if name != "float_comparisons")
"""Without what macros of <math.h> make `long double`, unless clang removes it."""
ISAS = ("rv64gc", "rv64gc_zicond_zbb", "rv32gc", "rv32imac", "rv64gc+sfb", "rv32imac+sfb")
_LEVELS = {"rv64gc": 2, "rv32gc": 2}
"""Clang's optimization of what runs there, otherwise 1."""
ELEMENTS = {"d": "f8", "f": "f4", "b": "i1", "h": "i2", "w": "i8"}
STATEFUL = "globals"
"""Its static variable lives on in the host's library."""


def functions(xlen: int, level: int = 1) -> dict[str, Function]:
    return _loaded(PATH, NAMES if level else PLAIN, xlen, level)


def calling(xlen: int, level: int = 1) -> dict[str, Function]:
    """Functions that call others."""
    return _loaded(CALLS, CALLING, xlen, level)


@cache
def _loaded(path: Path, names: tuple[str, ...], xlen: int, level: int) -> dict[str, Function]:
    source = Source(str(path), path.read_text(encoding="utf-8"))
    return {f.name: construct(f) for f in load_functions(source, names, Options(), level, f"riscv{xlen}-unknown-elf")}


def given(function: Function, random: np.random.Generator) -> list[Argument]:
    """Edge and random scalars; arrays of small numbers, of the type that the parameter's name says."""
    made = arguments(function, random)
    return [_array(p.name, random) if p.type == PTR else a for p, a in zip(function.parameters, made, strict=True)]


def _array(name: str, random: np.random.Generator) -> npt.NDArray[Any]:
    return random.integers(-9, 9, 16).astype(ELEMENTS.get(name[0], "i4"))


def copied(values: Sequence[Argument]) -> list[Argument]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in values]


def equal(a: Sequence[Argument], b: Sequence[Argument]) -> bool:
    """NaNs are equal."""
    arrays = [(x, y) for x, y in zip(a, b, strict=True) if isinstance(x, np.ndarray) and isinstance(y, np.ndarray)]
    return all(np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in arrays)


def needs_floats(function: Function) -> bool:
    instructions = [i for f in function.program for b in f.blocks for i in b.instructions]
    values = [*function.parameters, *(i.result for i in instructions if i.result)]
    operands = [o for i in instructions for o in i.operands]
    return any(v.type in (F32, F64) for v in (*values, *operands))


def _pairs(functions: tuple[str, ...]) -> list[Any]:
    """Every function on every instruction set; in a short run on one of the six, in turns."""
    pairs = [
        (name, isa, (row + column) % len(ISAS)) for row, name in enumerate(functions) for column, isa in enumerate(ISAS)
    ]
    return [
        pytest.param(name, isa, id=f"{name}-{isa}", marks=pytest.mark.long if later else ())
        for name, isa, later in pairs
    ]


@pytest.mark.parametrize(("name", "isa"), _pairs(NAMES))
def test_runs_as_on_the_host(name: str, isa: str) -> None:
    machine = names.parse_isa(isa)
    _check_or_refused(name, functions(machine.xlen, _LEVELS.get(isa, 1))[name], machine)


@pytest.mark.parametrize(("name", "isa"), _pairs(CALLING))
def test_calls_run_as_on_the_host(name: str, isa: str) -> None:
    machine = names.parse_isa(isa)
    _check_or_refused(name, calling(machine.xlen, _LEVELS.get(isa, 1))[name], machine)


def _check_or_refused(name: str, function: Function, machine: names.Isa) -> None:
    if "f" not in machine.extensions and needs_floats(function):
        with pytest.raises(PolyloomError, match=r"PL0930.*needs the extension"):
            compile_function(function, machine)
        return
    _check(name, function, machine)


@pytest.mark.parametrize("name", PLAIN)
def test_runs_as_on_the_host_from_code_that_is_not_optimized(name: str) -> None:
    """With variables in memory made values by us, and branches for what clang makes selects."""
    _check(name, functions(64, 0)[name], names.parse_isa("rv64gc"))


@pytest.mark.parametrize("name", CALLING)
def test_calls_run_as_on_the_host_from_code_that_is_not_optimized(name: str) -> None:
    _check(name, calling(64, 0)[name], names.parse_isa("rv64gc"))


def _check(name: str, function: Function, machine: names.Isa) -> None:
    compiled = compile_function(function, machine)
    path = PATH if name in NAMES else CALLS
    random = np.random.default_rng(len(name))
    model = "" if machine.xlen == 64 else "riscv32-unknown-elf"
    for _ in range(5):
        values = given(function, random)
        ours, interpreted, theirs = copied(values), copied(values), copied(values)
        found = call(compiled.elf, machine, function, ours, limit=10**7).result
        assert same(found, interpret(function, interpreted)), values
        assert equal(ours, interpreted)
        if name != STATEFUL:
            assert same(found, call_native(path, function, theirs, model)), values
            assert equal(ours, theirs)


def test_there_are_more_than_forty() -> None:
    assert len(NAMES) >= 60
    assert len(CALLING) >= 28
    assert not set(NAMES) & set(CALLING)
    assert sum(len(function.others) > 0 for function in calling(64).values()) >= 20
