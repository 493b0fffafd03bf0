# SPDX-License-Identifier: Apache-2.0
"""Kernels in Python on RISC-V: executed instructions and code size as they are compiled, beside those of their C text
through clang at -O2, which is what the optimizer of this package would leave to clang's.

The kernels are those of examples/kernels at the sizes of `bench polybench`. Both get the same arguments; what they
leave in arrays must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from polyloom import frontend, temporary
from polyloom.cli.bench.executed_instructions import BYTES, EXECUTED, geometric_mean
from polyloom.cli.bench.polybench import SIZES, path
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest
from polyloom.ir.nest_c import c_name, print_c
from polyloom.ir.numbers import NUMPY
from polyloom.ir.ssa import Function, assume_distinct_arrays
from polyloom.ir.ssa_interpret import Argument
from polyloom.riscv import names
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.run import call
from polyloom.riscv.symbols import symbol_extents

Row = dict[str, object]
ISA: Final = "rv64gc"
MEAN: Final = "geometric mean of kernels"
UNITS: Final = (EXECUTED, BYTES)
THROUGH_C: Final = "through C"
RATIO: Final = f"to {THROUGH_C}"


def rows(only: Sequence[str] = ()) -> Iterator[Row]:
    """Two rows per kernel, or per kernel that is named; then the geometric means of the ratios."""
    found: dict[str, list[tuple[int, int]]] = {unit: [] for unit in UNITS}
    for kernel in SIZES:
        if not only or kernel in only:
            for unit, pair in zip(UNITS, measure(kernel), strict=True):
                found[unit].append(pair)
                direct, through = pair
                cells: Row = {"polyloom": direct, THROUGH_C: through, RATIO: round(direct / through, 3)}
                yield {"what": f"{kernel}.py", "isa": ISA, **cells, "unit": unit}
    for unit in UNITS:
        yield {"what": MEAN, "isa": ISA, RATIO: geometric_mean(iter(found[unit])), "unit": unit}


def measure(kernel: str) -> list[tuple[int, int]]:
    """By unit the figures of a kernel as it is compiled, and through C."""
    isa = names.parse_isa(ISA)
    nest = frontend.python_nest(path(kernel), Options(), indirect=True)[0]
    functions = frontend.nest_ssa(nest, isa.xlen), assume_distinct_arrays(nest_from_c(nest, isa))
    (direct, first), (through, second) = (_run(f, isa, _arguments(nest, SIZES[kernel])) for f in functions)
    assert all(map(np.array_equal, first, second)), f"{kernel} computes something else through C"
    return list(zip(direct, through, strict=True))


def nest_from_c(nest: Nest, isa: names.Isa) -> Function:
    """The function that clang makes of a nest's C text at -O2."""
    with temporary.temporary_folder() as folder:
        file = Path(folder, "nest.c")
        file.write_text(print_c(nest), encoding="utf-8")
        return frontend.ssa(str(file), Options(function=c_name(nest)), 2, f"riscv{isa.xlen}-unknown-elf")


def _run(function: Function, isa: names.Isa, arguments: list[Argument]) -> tuple[tuple[int, int], list[Argument]]:
    """Executed instructions and bytes, and what the arrays hold then."""
    elf = compile_function(function, isa).elf
    outcome = call(elf, isa, function, arguments)
    # Functions that stay calls count, too.
    return (outcome.instructions, sum(size for _, size in symbol_extents(elf).values())), arguments


def _arguments(nest: Nest, sizes: Mapping[str, int]) -> list[Argument]:
    """Sizes, and arrays that dominate on their diagonals, so that decompositions have results."""
    values = {name: sizes[name.upper()] for name in nest.parameters}
    made: list[Argument] = list(values.values())
    random = np.random.default_rng(1)
    for each in (s for s in nest.storage if s.role == "argument"):
        shape = tuple(e.evaluate(values) for e in each.shape)
        array = np.asarray(random.integers(1, 4, shape)).astype(NUMPY[each.dtype])
        # Diagonally dominant: factorizations without pivoting stay finite.
        if len(shape) == 2 and shape[0] == shape[1] and each.dtype == "f32":
            array += 4 * shape[0] * np.eye(shape[0], dtype=array.dtype)
        made.append(array if shape or each.writable else array.item())
    return made
