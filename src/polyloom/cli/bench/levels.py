# SPDX-License-Identifier: Apache-2.0
"""Executed instructions and code size on RISC-V without clang's optimizer beside those with it: what the optimizer of
this package leaves to clang's.

The functions in C are those of `executed`, read at -O0 (`--ssa 0`) and at -O2 (`--ssa 2`). The kernels in Python are
those of examples/kernels at the sizes of `bench polybench`, as they are compiled, and through their C text at -O2. Both
get the same arguments; what they leave in arrays must be the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from polyloom import frontend, temporary
from polyloom.cli.bench import executed
from polyloom.cli.bench.polybench import SIZES, path
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest
from polyloom.ir.nest_c import c_name, print_c
from polyloom.ir.numbers import NUMPY
from polyloom.ir.ssa import Function, with_distinct_arrays
from polyloom.ir.ssa_interpret import Argument
from polyloom.riscv import names
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.run import call
from polyloom.riscv.symbols import objects

Row = dict[str, object]
LOW, HIGH = 0, 2
KERNEL_ISA: Final = "rv64gc"
UNITS: Final = (executed.EXECUTED, executed.BYTES)
PYTHON: Final = "kernels in Python"
C: Final = "functions in C"


@dataclass(frozen=True, slots=True)
class Case:
    """A function without (`low`) and with clang's optimizer, with arguments that are copied for each run."""

    what: str
    group: str
    isa: names.Isa
    low: Function
    high: Function
    arguments: tuple[Argument, ...]


def rows(only: Sequence[str] = ()) -> Iterator[Row]:
    """Two rows per function, or per function that is named; then geometric means and sums by group, instruction set and
    unit."""
    found: list[tuple[Case, dict[str, tuple[int, int]]]] = []
    for case in cases(only):
        measured = measure(case)
        found.append((case, measured))
        for unit, (low, high) in measured.items():
            yield _row(case.what, case.isa, low, high, unit)
    for group, isa in dict.fromkeys((case.group, case.isa) for case, _ in found):
        for unit in UNITS:
            pairs = [m[unit] for case, m in found if (case.group, case.isa) == (group, isa)]
            yield _row(f"sum of {group}", isa, sum(low for low, _ in pairs), sum(high for _, high in pairs), unit)
            logs = [math.log(low / high) for low, high in pairs]
            mean = round(math.exp(sum(logs) / len(logs)), 3)
            yield {"what": f"geometric mean of {group}", "isa": str(isa), "to --ssa 2": mean, "unit": unit}


def _row(what: str, isa: names.Isa, low: int, high: int, unit: str) -> Row:
    return {
        "what": what,
        "isa": str(isa),
        "polyloom": high,
        "--ssa 0": low,
        "to --ssa 2": round(low / high, 3),
        "unit": unit,
    }


def measure(case: Case) -> dict[str, tuple[int, int]]:
    """By unit the figures at the low and at the high level."""
    (low, first), (high, second) = (_run(function, case) for function in (case.low, case.high))
    assert all(map(np.array_equal, first, second)), f"{case.what} computes something else without clang's optimizer"
    return {unit: (low[k], high[k]) for k, unit in enumerate(UNITS)}


def _run(function: Function, case: Case) -> tuple[tuple[int, int], list[Argument]]:
    elf = compile_function(function, case.isa).elf
    arguments = [a.copy() if isinstance(a, np.ndarray) else a for a in case.arguments]
    outcome = call(elf, case.isa, function, arguments)
    # Functions that stay calls count, too.
    size = sum(size for _, size in objects(elf).values())
    result = 0 if outcome.result is None else outcome.result
    return (outcome.instructions, size), [result, *arguments]


def cases(only: Sequence[str] = ()) -> Iterator[Case]:
    for name in executed.ISAS:
        isa = names.parse(name)
        levels = [executed.functions(isa, level) for level in (LOW, HIGH)]
        for low, high in zip(*levels, strict=True):
            if not only or low.name in only:
                yield Case(low.name, C, isa, low, high, tuple(executed.arguments(high, isa)))
    for kernel in SIZES:
        if not only or kernel in only:
            yield _kernel(path(kernel), kernel)


def _kernel(file: str, name: str) -> Case:
    isa = names.parse(KERNEL_ISA)
    nest = frontend.python_nest(file, Options(), indirect=True)[0]
    low, high = frontend.nest_ssa(nest, isa.xlen), with_distinct_arrays(through_c(nest, isa))
    return Case(name, PYTHON, isa, low, high, tuple(_arguments(nest, SIZES[name])))


def through_c(nest: Nest, isa: names.Isa) -> Function:
    """The function that clang makes of a nest's C text at -O2."""
    with temporary.folder() as folder:
        file = Path(folder, "nest.c")
        file.write_text(print_c(nest), encoding="utf-8")
        return frontend.ssa(str(file), Options(function=c_name(nest)), HIGH, f"riscv{isa.xlen}-unknown-elf")


def _arguments(nest: Nest, sizes: Mapping[str, int]) -> Iterator[Argument]:
    """Sizes, and arrays that dominate on their diagonals, so that decompositions have results."""
    values = {name: sizes[name.upper()] for name in nest.parameters}
    yield from values.values()
    random = np.random.default_rng(1)
    for each in (s for s in nest.storage if s.role == "argument"):
        shape = tuple(e.evaluate(values) for e in each.shape)
        array = np.asarray(random.integers(1, 4, shape)).astype(NUMPY[each.dtype])
        if len(shape) == 2 and shape[0] == shape[1] and each.dtype == "f32":
            array += 4 * shape[0] * np.eye(shape[0], dtype=array.dtype)
        yield array if shape or each.writable else array.item()
