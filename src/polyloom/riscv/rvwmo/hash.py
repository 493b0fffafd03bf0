# SPDX-License-Identifier: Apache-2.0
"""Hash of a litmus test, the `Hash=` by which herd7 and litmus7 know it, whatever its name: what its first lines say,
or else a digest of what it does.

The digest is MD5 (RFC 1321) of three digests: of the initial state, of the code, and of the observed places. Each is
printed in one form, with sorted places and renamed labels; condition, name and layout have no part in it. Format:
`lib/testHash.ml` of the herdtools7 sources. Of the 3,318 hashes in `hw-results/SiFive-Freedom-U540.log` of the
collection litmus-tests/litmus-tests-riscv, 3,317 are those of its files, and one belongs to a file that was changed
afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import md5
from itertools import zip_longest
from typing import Final

from polyloom.riscv.rvwmo.litmus import Declaration, Instruction, Litmus, Place, Register, Statement, mentioned_places
from polyloom.riscv.rvwmo.values import Constant, Pointer

_DECLARED: Final = re.compile(r"hash[ \t]*=[ \t]*(\S+)[ \t]*", re.IGNORECASE)


def litmus_hash(test: Litmus) -> str:
    """In lower case."""
    return declared_hash(test.info) or computed_hash(test)


def declared_hash(info: Sequence[str]) -> str | None:
    """What the lines between name and initial state say."""
    return next((found[1].lower() for found in map(_DECLARED.fullmatch, info) if found), None)


def computed_hash(test: Litmus) -> str:
    """Hash from a test's initial state, code and observed places."""
    parts = (_initial_text(test), _code_text(test), _observed_text(test))
    return md5(
        # MD5 identifies a test and protects nothing.
        b"".join(md5(part.encode(), usedforsecurity=False).digest() for part in parts),
        usedforsecurity=False,
    ).hexdigest()


def _initial_text(test: Litmus) -> str:
    first: dict[Place, Declaration] = {}
    for declaration in sorted(test.declarations, key=lambda d: _place_order(d.place)):
        # herd sorts the initial state; sorting is stable, so that the first of several declarations of a place counts.
        first.setdefault(declaration.place, declaration)
    return "; ".join(map(_declaration, first.values()))


def _declaration(declaration: Declaration) -> str:
    type = f"{declaration.type} " if declaration.type else ""
    return f"{type}{'*' if declaration.pointer else ''}{_place(declaration.place)}={_value(declaration.value)}"


def _observed_text(test: Litmus) -> str:
    return "; ".join(
        map(_place, sorted(mentioned_places(test.condition) | frozenset(test.locations), key=_place_order))
    )


def _code_text(test: Litmus) -> str:
    """Code as a table with a column for each hart; labels are numbered by name, over all harts."""
    # Labels are made canonical: renaming one must not change the hash.
    labels = sorted({label for hart in test.harts for statement in hart for label in statement.labels})
    renamed = {label: f"L{number:02}" for number, label in enumerate(labels)}
    columns = [[line for statement in hart for line in _lines(statement, renamed)] for hart in test.harts]
    widths = [max(map(len, column), default=0) for column in columns]
    rows = zip_longest(*columns, fillvalue="")
    return "".join(
        "|".join(f" {cell:{width}} " for cell, width in zip(row, widths, strict=True)) + ";\n" for row in rows
    )


def _lines(statement: Statement, renamed: dict[str, str]) -> list[str]:
    lines = [f"{renamed[label]}:" for label in statement.labels]
    return [*lines, _instruction_text(statement.instruction, renamed)] if statement.instruction else lines


def _instruction_text(instruction: Instruction, renamed: dict[str, str]) -> str:
    """Instruction as herd prints it: `li` is an `ori`, the address of an atomic has no offset, and `xori` has a blank
    in front.
    """
    mnemonic, operands = instruction.mnemonic, [renamed.get(operand, operand) for operand in instruction.operands]
    if mnemonic == "li" and len(operands) == 2:
        mnemonic, operands = "ori", [operands[0], "x0", operands[1]]
    if mnemonic == "fence" and not operands:
        operands = ["rw", "rw"]
    if mnemonic.startswith("amo"):
        operands = [operand.removeprefix("0") if operand.startswith("0(") else operand for operand in operands]
    return f"{' xori' if mnemonic == 'xori' else mnemonic} {','.join(operands)}".rstrip()


def _place_order(place: Place) -> tuple[bool, int, str]:
    """Registers by hart and name as text, then locations."""
    return (False, place.hart, place.spelling) if isinstance(place, Register) else (True, 0, place)


def _place(place: Place) -> str:
    return f"{place.hart}:{place.spelling}" if isinstance(place, Register) else place


def _value(value: Constant | None) -> str:
    return value.name if isinstance(value, Pointer) else str(value or 0)
