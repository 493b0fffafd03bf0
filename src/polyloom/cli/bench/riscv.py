# SPDX-License-Identifier: Apache-2.0
"""RISC-V: the speed of the interpreter on one core; executed instructions beside clang's, and at `--ssa 0`; kernels in
Python beside their C text through clang; and lengths of selects beside those that two compilers emit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from polyloom.cli.bench import executed_instructions, harts, kernels_through_c, selects

Row = dict[str, object]
_RATIOS: Final = tuple(column for peer in executed_instructions.PEERS for column in (peer, f"to {peer}"))
_COLUMNS: Final = (
    "what",
    "isa",
    "polyloom",
    "QEMU",
    "to QEMU",
    "host",
    *_RATIOS,
    "--ssa 0",
    "to --ssa 2",
    kernels_through_c.THROUGH_C,
    kernels_through_c.RATIO,
    "LLVM",
    "GCC",
    "unit",
)


def rows() -> Iterator[Row]:
    for row in chain(harts.rows(), executed_instructions.rows(), kernels_through_c.rows(), selects.rows()):
        yield _row(**row)


def _row(**cells: object) -> Row:
    """A row with all columns of the table."""
    return {column: cells.get(column) for column in _COLUMNS}
