# SPDX-License-Identifier: Apache-2.0
"""Generated header riscv/table.hpp: the instruction table for the native interpreter, from the same rows.

Rows with the most fixed bits come first, so that the first match counts. Every instruction is one of the meanings, with
six operands by role. An operand is a field of the word or, where a compressed instruction implies it, a constant,
stored as its complement; a role that is not there is the constant 0.
"""

from __future__ import annotations

from typing import Final

from polyloom.riscv.isa import ROLES, Field, Role, Row, base_mnemonics, fields, instruction_table, rows_of_mnemonics
from polyloom.riscv.names import LETTERS, NAMES

EXTENSIONS: Final = (*LETTERS, *NAMES)
"""Bit n of a set of extensions stands for number n of these."""
_HEAD: Final = """// SPDX-License-Identifier: Apache-2.0
// The instruction table, made from instructions.txt and fields.txt by polyloom.riscv.header, when the package is built.
// clang-format off
#pragma once

#include "riscv/row.hpp"

namespace polyloom::riscv {
"""


def extension_bits(extensions: frozenset[str]) -> int:
    """Set of extensions as bits, as the native table has it."""
    return sum(1 << EXTENSIONS.index(name) for name in extensions)


def table_header() -> str:
    """Text of riscv/table.hpp."""
    operations = ",\n    ".join(f"{_enumerator(name)}" for name in base_mnemonics())
    return "\n".join(
        [
            f"{_HEAD}",
            f"enum class Op : uint8_t {{\n    {operations},\n    COUNT,\n}};\n",
            "inline constexpr Field FIELDS[] = {",
            *(
                f"    // {number}: {field.name}\n    {_field_initializer(field)},"
                for number, field in enumerate(fields().values())
            ),
            "};\n",
            "inline constexpr Row ROWS[] = {",
            *(
                f"    {_row_initializer(row)},  // {row.mnemonic}"
                for row in sorted(instruction_table(), key=lambda row: -row.mask.bit_count())
            ),
            "};\n",
            "}  // namespace polyloom::riscv",
        ]
    )


def _enumerator(mnemonic: str) -> str:
    return mnemonic.upper().replace(".", "_")


def _field_initializer(field: Field) -> str:
    pieces = ", ".join(f"{{{p.word}, {p.value}, {p.width}}}" for p in field.pieces)
    # The native row has room for two forbidden values: one is repeated, none is -1.
    forbidden = [*field.forbidden, *field.forbidden[:1] * 2, -1, -1][:2]
    sign = field.width if field.signed else 0
    return f"{{{{{pieces}}}, {len(field.pieces)}, {sign}, {field.base}, {{{forbidden[0]}, {forbidden[1]}}}}}"


def _row_initializer(row: Row) -> str:
    base = row if row.expansion is None else rows_of_mnemonics()[row.expansion[0]][0]
    numbers = {name: number for number, name in enumerate(fields())}
    own: dict[Role, int] = {field.role: numbers[field.name] for field in row.fields}
    if row.expansion is None:
        sources: dict[Role, int] = own
    else:
        pairs = zip(base.fields, row.expansion[1], strict=True)
        # Complements are negative, so that a constant and a field number cannot be confused.
        sources = {field.role: ~source if isinstance(source, int) else own[source] for field, source in pairs}
    operands = ", ".join(str(sources.get(role, ~0)) for role in ROLES)
    checked = [numbers[field.name] for field in row.fields if field.forbidden]
    assert len(checked) <= 2
    checked += [-1] * (2 - len(checked))
    writes = any(field.role == "rd" and field.kind == "x" for field in base.fields)
    bits = extension_bits(row.extensions)
    return (
        f"{{{row.match:#010x}, {row.mask:#010x}, {bits:#05x}, {row.xlen}, {row.size}, "
        f"Op::{_enumerator(base.mnemonic)}, "
        f"{str(writes).lower()}, "
        f"{{{operands}}}, {{{checked[0]}, {checked[1]}}}}}"
    )
