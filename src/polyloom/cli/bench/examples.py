# SPDX-License-Identifier: Apache-2.0
"""Every example at the sizes for which bounds or results have been published, checked against its interpreter.

`units` are those of an element. `limit` is the number of cycles that the project promises. `published, 1 unit` is what
a coarse-grained array of 4x4 elements with one unit each needs for the same nest, without filling and draining: Neura's
initiation interval for an integer product (`polybench.PUBLISHED`) times the iterations. `bench generic` compares at
equal units.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Final

from polyloom import api
from polyloom.cli import examples
from polyloom.cli.bench.polybench import PUBLISHED
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.place import parse_place

RUNS: Final[tuple[tuple[str, str, Mapping[str, int], int | None], ...]] = (
    ("bits", "tcpa:paper:1x3", {"N": 16}, None),
    ("fir", "tcpa:wide:4x4", {"N": 64, "T": 16}, None),
    ("matmul", "tcpa:wide:4x4", {"N": 20, "M": 20, "K": 20}, None),
    ("matmul", "tcpa:unit:4x4", {"N": 20, "M": 20, "K": 20}, 585),
    ("matmul", "tcpa:unit:8x8", {"N": 32, "M": 32, "K": 32}, 638),
    ("conv", "tcpa:wide:4x4", {"M": 8, "C": 4, "H": 8, "W": 8, "R": 3, "S": 3}, None),
    ("matvec", "tcpa:wide:4x4", {"N": 32, "M": 32}, None),
    ("matvec", "tcpa:unit:4x1", {"N": 32, "M": 32}, 287),
    ("lcs", "tcpa:unit:4x4", {"N": 32, "M": 32}, None),
    ("jacobi1d", "tcpa:unit:1x4", {"T": 8, "N": 32}, None),
)


def rows() -> Iterator[dict[str, object]]:
    yield from (_row(*run) for run in RUNS)


def _row(kernel: str, on: str, parameters: Mapping[str, int], limit: int | None) -> dict[str, object]:
    result = api.compile(examples.path(kernel), on=on).instantiate(parameters).run()
    data = result.data
    return {
        "kernel": kernel,
        "parameters": " ".join(f"{n}={v}" for n, v in parameters.items()),
        "on": on,
        "units": len(machine_file.load(parse_place(on.partition(":")[2]).member).units),
        "pi": data["initiation_interval"],
        "minimum": data["minimum_initiation_interval"],
        "proved": data["proved_minimal"],
        "cycles": result.cycles,
        "predicted": data["predicted_cycles"],
        "limit": limit,
        "published, 1 unit": PUBLISHED["gemm"] * prod(parameters.values())
        if kernel == "matmul" and on.endswith("4x4")
        else None,
        "verdict": result.verdict,
        "bound by": data["interval_bound_by"],
    }
