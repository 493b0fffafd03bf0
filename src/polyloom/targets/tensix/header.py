# SPDX-License-Identifier: Apache-2.0
"""C header generator for programs of a tile's cores, from the tables: a macro per instruction in three spellings, the
names of the configuration.

`TT_OP_X(...)` is the word, `TT_X(...)` pushes it by a store, with values that are known at run time, `TTI_X(...)` is an
instruction of the core, whose operands are constants. Operands go from the highest bit down. Names and spellings are
those of the vendor's ckernel_ops.h and cfg_defines.h, so kernels compile unchanged (docs/targets/tensix.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from polyloom.targets.tensix.words.configuration import settings
from polyloom.targets.tensix.words.isa import MEMBERS, Instruction, Member, table

_LICENCE: Final = "// SPDX-License-Identifier: Apache-2.0"
_WORD: Final = 32
CONFIGURATION: Final[Mapping[Member, str]] = {
    "wormhole": "tensix_config.h",
    "blackhole": "tensix_config_blackhole.h",
}


def files() -> Iterator[tuple[str, str]]:
    """Headers that are generated when the package is built: name and text."""
    for member in MEMBERS:
        yield f"tensix_{member}.h", instructions(member)
        yield CONFIGURATION[member], configuration(member)


def instructions(member: Member) -> str:
    """Instruction header of a member: one block of macros per row of the table."""
    guard = f"POLYLOOM_TENSIX_{member.upper()}_H"
    lines = [
        _LICENCE,
        f"// The instructions of a {member.capitalize()} tile, made of the instruction table: do not edit.",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        '#include "tensix.h"',
        "",
    ]
    for row in table(member).values():
        lines += _macros(row)
    return "\n".join([*lines, "#endif", ""])


def _macros(row: Instruction) -> Iterator[str]:
    names = ", ".join(f.name for f in row.fields)
    parts = [f"0x{row.opcode << 24:08x}u"]
    # TENSIX_FIELD masks each operand, so that a negative immediate does not reach other fields.
    parts += [f"TENSIX_FIELD({f.name}, {f.shift}, {f.width})" for f in row.fields]
    head, *others = parts
    body = " | \\\n    ".join([f"({head}", *others]) if others else f"({head}"
    yield f"#define TT_OP_{row.name}({names}) \\"
    yield f"    {body})"
    yield f"#define TT_{row.name}({names}) TENSIX_PUSH(TT_OP_{row.name}({names}))"
    yield f"#define TTI_{row.name}({names}) TENSIX_INLINE(TT_OP_{row.name}({names}))"
    yield ""


def configuration(member: Member) -> str:
    """Configuration header of a member: NAME_ADDR32, NAME_SHAMT and NAME_MASK of every field."""
    guard = f"POLYLOOM_{CONFIGURATION[member].replace('.', '_').upper()}"
    lines = [
        _LICENCE,
        f"// The configuration of a {member.capitalize()} tile, made of its table: word, shift and mask. Do not edit.",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
    ]
    for setting in settings(member).values():
        lines.append(f"#define {setting.name}_ADDR32 {setting.word}")
        lines.append(f"#define {setting.name}_SHAMT {setting.shift}")
        # A field of several words has no mask that a C expression of 32 bits could hold.
        if setting.width <= _WORD:
            lines.append(f"#define {setting.name}_MASK 0x{setting.mask:x}u")
    return "\n".join([*lines, "", "#endif", ""])
