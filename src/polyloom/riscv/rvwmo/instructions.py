# SPDX-License-Identifier: Apache-2.0
"""Decoding of a litmus test's instructions to operands by role, through the instruction table of the target.

Rows and pseudo-instructions are those of `isa`; a litmus test writes besides: `.aq`, `.rl` and `.aq.rl` on any load and
store (herd's notation for RCpc accesses), `li` of any constant, `la`, and branch targets by label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import PolyloomError, input_error, nearest
from polyloom.numerals import parse_integer
from polyloom.riscv import names
from polyloom.riscv.isa import OPERAND, X_NAMES, Field, Role, Row, find_row, register_number, rows_of_mnemonics
from polyloom.riscv.pseudo import pseudo_table
from polyloom.riscv.rvwmo.litmus import Instruction
from polyloom.riscv.rvwmo.values import signed

ISA: Final = names.parse_isa("rv64ia_zicond_zifencei_zbb")
_ORDERED: Final = re.compile(r"(.+?)(\.aq)?((?(2)\.?|\.)rl)?")
_ACCESS: Final = re.compile(r"l[bhwd]u?|s[bhwd]|(?:lr|sc|amo\w+)\.[wd]")
_ADDRESS: Final = re.compile(r"([^()]*)\((\w+)\)")
_OUTSIDE: Final = {"ecall", "ebreak", "auipc"}


@dataclass(frozen=True, slots=True)
class Step:
    """Base instruction: its mnemonic without order, and its operands (x0, 0 and "" where it has none)."""

    mnemonic: str
    rd: int = 0
    rs1: int = 0
    rs2: int = 0
    immediate: int = 0
    label: str = ""
    sets: tuple[str, str] = ("", "")
    acquire: bool = False
    release: bool = False
    has_immediate: bool = False


def decode_instruction(instruction: Instruction) -> Step:
    """Operands of an instruction by role. Errors: PL0902 (unknown mnemonic), PL0903 (operands), PL0945 (not
    modelled)."""
    mnemonic, acquire, release = _split_order(instruction)
    if mnemonic in ("li", "la"):
        return _decode_constant(instruction)
    base, texts = _expand_pseudo(mnemonic, instruction.operands)
    row = find_row(base, ISA)
    # Compressed rows stand for others and have no meaning of their own in a test.
    if row is None or row.expansion is not None or base in _OUTSIDE:
        raise _unknown_error(instruction, base)
    if (acquire or release) and not _ACCESS.fullmatch(base):
        # Plain loads and stores take them too, as Zalasr's do: litmus tests are written like this.
        raise _operand_error(
            instruction, f"'{base}' takes no .aq or .rl", f"write {base}, with a fence where order is needed"
        )
    values = dict(_role_values(instruction, row, texts))
    sets = (str(values["rs1"]), str(values["rs2"])) if base == "fence" else ("", "")
    immediate = values.get("imm", 0)
    return Step(
        base,
        rd=_role_number(values, "rd"),
        rs1=0 if any(sets) else _role_number(values, "rs1"),
        rs2=0 if any(sets) else _role_number(values, "rs2"),
        immediate=0 if isinstance(immediate, str) else immediate,
        label=immediate if isinstance(immediate, str) else "",
        sets=sets,
        acquire=acquire,
        release=release,
        has_immediate="imm" in values,
    )


def canonical_operand(operand: str) -> str:
    """Operand with numeric register names: `8(a0)` is `8(x10)`, `(a0)` is `0(x10)`."""
    found = _ADDRESS.fullmatch(operand)
    if found is not None:
        return f"{found[1] or '0'}({canonical_operand(found[2])})"
    number = register_number(operand, X_NAMES)
    return operand if number is None else f"x{number}"


def _role_number(values: Mapping[Role, int | str], role: Role) -> int:
    value = values.get(role, 0)
    return value if isinstance(value, int) else 0


def _split_order(instruction: Instruction) -> tuple[str, bool, bool]:
    found = _ORDERED.fullmatch(instruction.mnemonic.lower())
    assert found is not None
    return found[1], found[2] is not None, found[3] is not None


def _decode_constant(instruction: Instruction) -> Step:
    if len(instruction.operands) != 2:
        raise _operand_error(
            instruction,
            f"'{instruction.mnemonic}' does not take these operands",
            f"write {instruction.mnemonic} rd,value",
        )
    rd, value = instruction.operands
    if instruction.mnemonic == "la":
        return Step("la", rd=_register(instruction, rd), label=value)
    return Step("li", rd=_register(instruction, rd), immediate=_integer(instruction, value, range(-(1 << 63), 1 << 64)))


def _expand_pseudo(mnemonic: str, operands: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """What a pseudo-instruction stands for; any other instruction itself."""
    pseudo = pseudo_table().get((mnemonic, len(operands)))
    if pseudo is None or ";" in (line := ";".join(pseudo[1])):
        return mnemonic, operands
    given = dict(zip(pseudo[0], operands, strict=True))
    base, _, rest = OPERAND.sub(lambda m: given.get(m[0], m[0]), line).partition(" ")
    return base, tuple(rest.split(",")) if rest else ()


def _role_values(instruction: Instruction, row: Row, texts: tuple[str, ...]) -> Iterator[tuple[Role, int | str]]:
    """Values of the operands, by role. Errors: PL0903."""
    template = row.operands.partition(";")[0]
    # Two spellings of one instruction: `jalr rd,rs1,imm` and `jalr rd,imm(rs1)`.
    if row.mnemonic == "jalr" and len(texts) == 3:
        texts = (texts[0], f"{texts[2]}({texts[1]})")
    flat = [part for text in texts for part in _split_operand(text, row)]
    wanted = [field for field in row.fields if field.kind != "order"]
    if len(flat) != len(wanted) or [bool(_ADDRESS.fullmatch(t)) for t in texts] != [
        "(" in t for t in template.strip("-").split(",") if t
    ]:
        shown = OPERAND.sub(lambda m: next((f.role for f in row.fields if f.name == m[0]), m[0]), template)
        raise _operand_error(
            instruction, f"'{row.mnemonic}' does not take these operands", f"write {row.mnemonic} {shown}".rstrip(" -")
        )
    return ((field.role, _value(instruction, field, text)) for field, text in zip(wanted, flat, strict=True))


def _split_operand(text: str, row: Row) -> Iterator[str]:
    found = _ADDRESS.fullmatch(text)
    if found is None:
        yield text
        return
    if any(field.role == "imm" for field in row.fields) or found[1] not in ("", "0"):
        yield found[1] or "0"
    yield found[2]


def _value(instruction: Instruction, field: Field, text: str) -> int | str:
    if field.kind == "x":
        return _register(instruction, text)
    if field.kind == "fence":
        if not re.fullmatch("(?=.)i?o?r?w?", text):
            raise _operand_error(instruction, f"'{text}' is no set of accesses", "write r, w or rw")
        return text
    if field.kind == "offset":
        return text
    if field.kind == "upper":
        return signed(_integer(instruction, text, range(-(1 << 19), 1 << 20)), 20) << 12
    return _integer(instruction, text, field.range)


def _register(instruction: Instruction, text: str) -> int:
    number = register_number(text, X_NAMES)
    if number is None:
        raise _operand_error(
            instruction,
            f"'{text}' is no integer register",
            nearest(text, [*(f"x{n}" for n in range(32)), *X_NAMES], "register"),
        )
    return number


def _integer(instruction: Instruction, text: str, legal: range) -> int:
    try:
        value = parse_integer(text, 0)
    except ValueError:
        raise _operand_error(instruction, f"'{text}' is no integer", "write for instance 12, -1 or 0x7ff") from None
    if value not in legal:
        raise _operand_error(
            instruction,
            f"{value} is outside the range of the operand",
            f"it takes {legal[0]} to {legal[-1]}; `li` takes any constant",
        )
    return value


def _unknown_error(instruction: Instruction, base: str) -> PolyloomError:
    if base in rows_of_mnemonics():
        help = (
            "a test has integer instructions, branches, loads, stores, atomics and fences: RV64IA with Zbb and Zicond"
        )
        return input_error(
            "PL0945", f"the memory model has no '{instruction.mnemonic}'", span=instruction.span, help=help
        )
    known = [
        *(name for name, rows in rows_of_mnemonics().items() if any(row.is_in_isa(ISA) for row in rows)),
        *(name for name, _ in pseudo_table()),
        "li",
        "la",
    ]
    return input_error(
        "PL0902",
        f"there is no instruction '{instruction.mnemonic}'",
        span=instruction.span,
        help=nearest(base, known, "instruction"),
    )


def _operand_error(instruction: Instruction, message: str, help: str) -> PolyloomError:
    return input_error("PL0903", message, span=instruction.span, help=help)
