# SPDX-License-Identifier: Apache-2.0
"""Generated header minion/packed_table.hpp: rows of the packed instructions (SIMD extension) for the native
interpreter.

Rows with the most fixed bits come first, so that the first match counts. A row says of each register field in which
file its register is, which is what issue has to know; what the instruction does, packed.cpp says by its name. Source:
ET Programmer's Reference Manual, chapters 2 to 7.
"""

from __future__ import annotations

from typing import Final

from polyloom.riscv.isa import Role, Row
from polyloom.targets.minion.words.isa import extension_rows

_PLACES: Final[dict[Role, int]] = {"rd": 7, "rs1": 15, "rs2": 20, "rs3": 27}
"""Where the decoder takes the registers of a custom row from; a scatter's data are elsewhere."""
_HEAD: Final = """// SPDX-License-Identifier: Apache-2.0
// The packed instructions, made from xaifet.txt by polyloom.targets.minion.words.header, when the package is built.
// clang-format off
#pragma once

#include <cstdint>

namespace polyloom::minion {

// The file of a register field.
enum class File : uint8_t { none, x, f, m };

"""
_STRUCT: Final = """struct PackedRow {
    uint32_t match, mask;
    Packed op;
    File rd, rs1, rs2, rs3;
};
"""


def header() -> str:
    """The text of minion/packed_table.hpp."""
    # Some rows are special cases of others, with more bits fixed.
    rows = sorted(extension_rows(), key=lambda row: -row.mask.bit_count())
    names = ",\n    ".join(_name(row) for row in extension_rows())
    lines = [f"    {_row(row)},  // {row.mnemonic}" for row in rows]
    return "\n".join(
        [
            f"{_HEAD}enum class Packed : uint8_t {{\n    {names},\n    COUNT,\n}};\n",
            _STRUCT,
            "inline constexpr PackedRow PACKED_ROWS[] = {",
            *lines,
            "};\n",
            "}  // namespace polyloom::minion",
        ]
    )


def _name(row: Row) -> str:
    return row.mnemonic.upper().replace(".", "_")


def _row(row: Row) -> str:
    files = ", ".join(f"File::{_register_file(row, role, place)}" for role, place in _PLACES.items())
    return f"{{{row.match:#010x}, {row.mask:#010x}, Packed::{_name(row)}, {files}}}"


def _register_file(row: Row, role: Role, place: int) -> str:
    """Register file of an operand (x, f or m), none where the row has no such field at that place."""
    kinds = (field.kind for field in row.fields if field.role == role and field.pieces[0].word == place)
    return next((kind for kind in kinds if kind in ("x", "f", "m")), "none")
