# SPDX-License-Identifier: Apache-2.0
"""RISC-V: the speed of the interpreter on one core, executed instructions beside clang's, and lengths of selects beside
those that two compilers emit."""

from __future__ import annotations

from typing import Final

from polyloom.cli.bench import executed, harts, selects

Row = dict[str, object]
_RATIOS: Final = tuple(column for peer in executed.PEERS for column in (peer, f"to {peer}"))
_COLUMNS: Final = ("what", "isa", "polyloom", "QEMU", "to QEMU", "host", *_RATIOS, "LLVM", "GCC", "unit")


def rows() -> list[Row]:
    return [_row(**each) for each in (*harts.rows(), *executed.rows(), *selects.rows())]


def _row(**cells: object) -> Row:
    """A row with all columns of the table."""
    return {column: cells.get(column) for column in _COLUMNS}
