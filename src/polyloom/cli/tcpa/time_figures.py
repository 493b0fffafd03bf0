# SPDX-License-Identifier: Apache-2.0
"""Whole time on a member that one could build: configurations, DMA and the array (docs/targets/tcpa.md, Whole time).

`asked` is the goal of the total; `least` are iterations / elements. Products run in the
blocks that are chosen by their time. Nothing is executed: all follows from the words, class by class of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import polyloom as pl
from polyloom.cli.bench import polybench
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run.phases.memory_traffic import measure_time
from polyloom.targets.tcpa.run.phases.step_sequence import run

Row = dict[str, object]
MEMBER: Final = "mid"
PES: Final = (4, 4)
N = pl.sizes("N")


@pl.kernel
def product(C: pl.i32[N, N], A: pl.i32[N, N], B: pl.i32[N, N]) -> None:
    """C += A·B of integers."""
    for i in range(N):
        for j in range(N):
            for k in range(N):
                C[i, j] += A[i, k] * B[k, j]


@dataclass(frozen=True, slots=True)
class Case:
    """Kernel at a size, and the whole time that it is asked to take at most."""

    kernel: Callable[..., Any] | str
    sizes: Mapping[str, int]
    asked: int | None = None

    @property
    def name(self) -> str:
        return self.kernel if isinstance(self.kernel, str) else self.kernel.__name__


CASES: Final = (
    Case(product, {"N": 128}),
    Case(product, {"N": 1024}, 69_900_000),
    Case("floyd_warshall", polybench.SIZES["floyd_warshall"]),
    Case("jacobi2d", polybench.SIZES["jacobi2d"]),
)


def rows(cases: Sequence[Case] = CASES) -> Iterator[Row]:
    """One row per case."""
    machine = machine_file.load(MEMBER)
    for case in cases:
        source = polybench.path(case.kernel) if isinstance(case.kernel, str) else case.kernel
        made = pl.compile(source, on=f"tcpa:{MEMBER}").instantiate(dict(case.sizes), pes=PES)
        time = measure_time(run(made.data), machine)
        iterations = prod(case.sizes.values()) ** 3 if case.kernel is product else None
        least = None if iterations is None else iterations // prod(PES)
        blocks: Mapping[str, int] = made.program.options.block or {}
        yield {
            "kernel": case.name,
            "sizes": " ".join(f"{name}={value}" for name, value in case.sizes.items()),
            "blocks": ",".join(f"{name}={size}" for name, size in blocks.items()) or None,
            "steps": len(run(made.data).steps),
            **time.as_dict(),
            "asked": case.asked,
            "least": least,
            "least %": None if least is None else round(100 * least / time.total, 1),
        }
