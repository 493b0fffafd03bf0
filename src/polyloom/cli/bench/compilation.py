# SPDX-License-Identifier: Apache-2.0
"""Compile time of every example, in seconds, all candidates included; then that of front ends alone."""

from __future__ import annotations

from collections.abc import Iterator

from polyloom import api
from polyloom.cli import examples
from polyloom.cli.bench import front_ends
from polyloom.cli.bench.timing import median_seconds

PLACES = (
    ("bits", "paper"),
    ("fir", "wide"),
    ("matmul", "wide"),
    ("conv", "wide"),
    ("lcs", "unit"),
    ("jacobi1d", "unit"),
    ("matvec", "wide"),
)


def rows() -> Iterator[dict[str, object]]:
    yield from (_row(kernel, f"tcpa:{member}") for kernel, member in PLACES)
    yield from front_ends.rows()


def _row(kernel: str, on: str) -> dict[str, object]:
    seconds = median_seconds(lambda: api.compile(examples.path(kernel), on=on), times=3)
    return {"kernel": kernel, "on": on, "seconds": round(seconds, 3)}
