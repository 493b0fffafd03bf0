# SPDX-License-Identifier: Apache-2.0
"""Kernels in Python on RISC-V: executed instructions and code size from clang's code at -O0 (`--ssa 0`) beside those
from -O2 (`--ssa 2`), which is what the optimizer of this package leaves to clang's.

The kernels are those of examples/kernels at the sizes of `bench polybench`. Both levels get the same arguments; what
they leave in arrays must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from polyloom import frontend
from polyloom.cli.bench.executed import BYTES, EXECUTED, beside_plain, geometric_mean
from polyloom.cli.bench.polybench import SIZES, path
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest
from polyloom.ir.numbers import NUMPY
from polyloom.ir.ssa import Function, with_distinct_arrays
from polyloom.ir.ssa_interpret import Argument
from polyloom.riscv import names
from polyloom.riscv.backend.compile import compile_function
from polyloom.riscv.backend.run import call
from polyloom.riscv.symbols import objects

Row = dict[str, object]
LEVELS: Final = (0, 2)
ISA: Final = "rv64gc"
MEAN: Final = "geometric mean of kernels"
UNITS: Final = (EXECUTED, BYTES)


def rows(only: Sequence[str] = ()) -> Iterator[Row]:
    """Two rows per kernel, or per kernel that is named; then the geometric means of the ratios."""
    found: list[Row] = []
    for kernel in SIZES:
        if not only or kernel in only:
            found += _rows(kernel)
            yield from found[-len(UNITS) :]
    for unit in UNITS:
        mean = geometric_mean((row["--ssa 0"], row["polyloom"]) for row in found if row["unit"] == unit)
        yield {"what": MEAN, "isa": ISA, "to --ssa 2": mean, "unit": unit}


def _rows(kernel: str) -> Iterator[Row]:
    isa = names.parse(ISA)
    nest = frontend.python_nest(path(kernel), Options(), indirect=True)[0]
    read = (frontend.nest_ssa(nest, level, f"riscv{isa.xlen}-unknown-elf") for level in LEVELS)
    (low, first), (high, second) = (_run(with_distinct_arrays(f), isa, _arguments(nest, SIZES[kernel])) for f in read)
    assert all(map(np.array_equal, first, second)), f"{kernel} computes something else at --ssa 0"
    for unit, one, other in zip(UNITS, low, high, strict=True):
        yield {"what": f"{kernel}.py", "isa": ISA, "polyloom": other, **beside_plain(one, other), "unit": unit}


def _run(function: Function, isa: names.Isa, arguments: list[Argument]) -> tuple[tuple[int, int], list[Argument]]:
    """Executed instructions and bytes, and what the arrays hold then."""
    elf = compile_function(function, isa).elf
    outcome = call(elf, isa, function, arguments)
    # Functions that stay calls count, too.
    return (outcome.instructions, sum(size for _, size in objects(elf).values())), arguments


def _arguments(nest: Nest, sizes: Mapping[str, int]) -> list[Argument]:
    """Sizes, and arrays that dominate on their diagonals, so that decompositions have results."""
    values = {name: sizes[name.upper()] for name in nest.parameters}
    made: list[Argument] = list(values.values())
    random = np.random.default_rng(1)
    for each in (s for s in nest.storage if s.role == "argument"):
        shape = tuple(e.evaluate(values) for e in each.shape)
        array = np.asarray(random.integers(1, 4, shape)).astype(NUMPY[each.dtype])
        if len(shape) == 2 and shape[0] == shape[1] and each.dtype == "f32":
            array += 4 * shape[0] * np.eye(shape[0], dtype=array.dtype)
        made.append(array if shape or each.writable else array.item())
    return made
