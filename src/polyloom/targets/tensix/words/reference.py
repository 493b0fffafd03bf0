# SPDX-License-Identifier: Apache-2.0
"""Instruction reference: the tables of docs/targets/tensix.md, generated from the instruction table so that the page
cannot say something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from polyloom.targets.tensix.words.isa import UNITS, Instruction, Role, table

_TITLES: Final[Mapping[str, str]] = {
    "front": "Front end",
    "sync": "Sync unit",
    "unpack": "Unpackers",
    "matrix": "Matrix unit",
    "pack": "Packers",
    "vector": "Vector unit",
    "scalar": "Scalar unit",
    "config": "Configuration unit",
    "mover": "Mover",
    "misc": "Miscellaneous unit",
}
BEGIN: Final = "<!-- instructions: made of the table by tests/targets/tensix/table/test_reference.py -->"
END: Final = "<!-- end of instructions -->"


def instructions() -> str:
    """Markdown of the reference: a section per unit, with a row per instruction of both members."""
    return "\n".join([BEGIN, *_sections(), END])


def _sections() -> Iterator[str]:
    # Wormhole's row wins where both members have the instruction, as its fields are those of the page's text.
    rows = {**table("blackhole"), **table()}
    for unit in UNITS:
        yield from ("", f"### {_TITLES[unit]}", "")
        yield "| instruction | opcode | operands | other fields | reads | writes | latency |"
        yield "|---|---|---|---|---|---|---|"
        yield from (_table_row(row) for _, row in sorted(rows.items()) if row.unit == unit)
    missing = ", ".join(f"`{row.mnemonic}`" for _, row in sorted(rows.items()) if row.semantics is None)
    yield from (
        "",
        "### Not modelled",
        "",
        f"These assemble and disassemble, and fault by name when executed: {missing}.",
        "",
    )


def _table_row(row: Instruction) -> str:
    others = [f for f in row.fields if f not in row.operands]
    marks = " (Blackhole)" if row.only_blackhole else ""
    name = f"`{row.mnemonic}`{marks}{'' if row.semantics else ' – not modelled'}"
    operands = ", ".join(f"{f.name} [{f.shift + f.width - 1}:{f.shift}]" for f in row.operands)
    named = ", ".join(f"{f.name} [{f.shift + f.width - 1}:{f.shift}]" for f in others)
    cells = (name, f"{row.opcode:02x}", operands, named, _roles(row.reads), _roles(row.writes), row.latency)
    return f"| {' | '.join(cells)} |"


def _roles(roles: tuple[Role, ...]) -> str:
    return ", ".join(f"{role.what}{_mode_condition(role)}" for role in roles)


def _mode_condition(role: Role) -> str:
    if role.modes is not None:
        return f" (mode {', '.join(map(str, sorted(role.modes)))})"
    if role.none_of:
        return f" (mode & {role.none_of} = 0)"
    return f" (mode & {role.any_of})" if role.any_of else ""
