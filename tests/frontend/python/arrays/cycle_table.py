# SPDX-License-Identifier: Apache-2.0
"""Cycles of whole arrays beside those of the loops of examples/kernels, on every machine, as a table:
`python -m tests.frontend.python.arrays.cycle_table [MACHINE...]`, a part of `make arrays`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.device.devices import ROOT
from tests.frontend.python.arrays.random_kernels import MACHINES

import polyloom as pl
from polyloom.cli.answer import table

LOOPS: Final = ROOT / "examples" / "kernels"
_HEAD: Final = """import numpy as np
import polyloom as pl

N, M, NI, NJ, NK, TSTEPS = pl.sizes("N M NI NJ NK TSTEPS")


@pl.kernel
"""
_TERMS: Final = "{a}[1:-1, 1:-1] + {a}[1:-1, :-2] + {a}[1:-1, 2:] + {a}[2:, 1:-1] + {a}[:-2, 1:-1]"
_STEP: Final = f"    {{b}}[1:-1, 1:-1] = 0.2 * ({_TERMS})"


@dataclass(frozen=True, slots=True)
class Case:
    """Kernel of whole arrays that computes what a kernel of loops of the same name does, and sizes."""

    arguments: str
    body: str
    sizes: Mapping[str, int]


CASES: Final = {
    "gemm": Case(
        "alpha: pl.f32, beta: pl.f32, C: pl.f32[NI, NJ], A: pl.f32[NI, NK], B: pl.f32[NK, NJ]",
        "C[:] = alpha * A @ B + beta * C",
        {"NI": 24, "NJ": 20, "NK": 16},
    ),
    "conv2d": Case(
        "x: pl.f32[N + 2, M + 2], w: pl.f32[3, 3], y: pl.f32[N, M]",
        "y[:] = 0.0\nfor k in range(3):\n    for m in range(3):\n        y += w[k, m] * x[k : k + N, m : m + M]",
        {"N": 20, "M": 24},
    ),
    "jacobi2d": Case(
        "A: pl.f32[N, N], B: pl.f32[N, N]",
        "\n".join(["for t in range(TSTEPS):", _STEP.format(a="A", b="B"), _STEP.format(a="B", b="A")]),
        {"N": 20, "TSTEPS": 3},
    ),
    "covariance": Case(
        "float_n: pl.f32, data: pl.f32[N, M], cov: pl.f32[M, M], mean: pl.f32[M]",
        "mean[:] = data.sum(axis=0) / float_n\ndata -= mean\ncov[:] = data.T @ data / (float_n - 1.0)",
        {"N": 24, "M": 12},
    ),
}


def count_cycles(path: Path, sizes: Mapping[str, int], on: str) -> int:
    """Cycles of a run, or instructions where a machine has no clock."""
    result = pl.compile(str(path), on=on).run(sizes, **MACHINES[on])
    assert result.verified
    return result.cycles or result.execution.operations


def compare_cycles(name: str, on: str, folder: Path) -> tuple[int, int]:
    """Cycles of whole arrays, and of loops."""
    case, path = CASES[name], folder / f"{name}.py"
    lines = "".join(f"    {line}\n" for line in case.body.split("\n"))
    path.write_text(f"{_HEAD}def {name}({case.arguments}):\n{lines}", encoding="utf-8")
    whole, loops = (count_cycles(each, case.sizes, on) for each in (path, LOOPS / f"{name}.py"))
    return whole, loops


def cycle_rows(machines: list[str], folder: Path) -> list[dict[str, object]]:
    found = [(on, name, *compare_cycles(name, on, folder)) for on in machines for name in CASES]
    heads = ("machine", "kernel", "whole arrays", "loops", "ratio")
    return [dict(zip(heads, (*row, f"{row[2] / row[3]:.3f}"), strict=True)) for row in found]


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        print(table(cycle_rows(sys.argv[1:] or [*MACHINES], Path(made))))
