# SPDX-License-Identifier: Apache-2.0
"""Intrinsics of the vendor's instructions as a C header, made from the instruction table: `fadd.ps` is
`et_f32x8 et_fadd_ps(et_f32x8 a, et_f32x8 b)`.

What is masked keeps lanes of its destination, so each such function has a twin `…_masked(old, …)`. Immediates and
numbers of mask registers are constants, which the header checks. Source of names and operands: ET Programmer's
Reference Manual, chapters 2 and 4 to 7, by the rows of riscv/xaifet.txt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.riscv.isa import Field, Row
from polyloom.targets.minion.words.isa import extension_rows

_FLOATS: Final = "et_f32x8"
_INTEGERS: Final = "et_i32x8"
_HEAD: Final = """\
// SPDX-License-Identifier: Apache-2.0
// Intrinsics of the vendor's instructions, made from the instruction table.
"""
# The comparison value of a conditional swap is in x31 (manual, chapter 7).
_COMPARES: Final = "amocmpswap"
_WRITERS: Final = ("fsq2", "fsw", "fsc", "sb", "sh", "amo", "famo")
# These ignore m0, and write all lanes (manual, chapter 4).
_UNMASKED: Final = ("flq2", "fsq2", "fcmovm.ps")


@dataclass(frozen=True, slots=True)
class _Operand:
    """C side of an operand: its parameter, how the asm statement names it, and its constraint."""

    parameter: str
    text: str
    constraint: str
    check: str = ""

    @property
    def name(self) -> str:
        return re.split(r"[ *]", self.parameter)[-1]

    @property
    def type(self) -> str:
        """With the space or asterisk behind it."""
        return self.parameter.removesuffix(self.name)


def _constant(name: str, text: str, low: int, high: int) -> _Operand:
    return _Operand(name, text.format(f"%c[{name}]"), "i", f"({name}_) >= {low} && ({name}_) <= {high}")


def simd_header() -> str:
    """Header of all functions; minion.h includes it. Deterministic: rows are in the table's order."""
    return _HEAD + "\n".join(text for row in extension_rows() for text in _functions(row)) + "\n"


def function_name(row: Row) -> str:
    """Name in C of an instruction."""
    return "et_" + row.mnemonic.replace(".", "_")


def _functions(row: Row) -> Iterator[str]:
    # Undefined lanes cost nothing: no move of the old value.
    yield _function(row, masked=False)
    writes_lanes = any(field.role == "rd" and field.kind == "f" for field in row.fields)
    if writes_lanes and row.mnemonic not in _UNMASKED and not row.mnemonic.startswith("famo"):
        yield _function(row, masked=True)


def _function(row: Row, *, masked: bool) -> str:
    """One function, or a macro where an operand is a constant: the asm statement must see its value."""
    operands = [_operand(row, field) for field in row.fields if field.role not in ("rd", "rm")]
    result = next((field for field in row.fields if field.role == "rd"), None)
    # An atomic takes its data from the register that gets the old values.
    exchanges = row.mnemonic.startswith("famo")
    keeps = masked or exchanges
    kind = _result_type(row, result)
    first = [_Operand(f"{kind} old", "", "")] if keeps else []
    if result is not None and result.kind == "m":
        first = [_constant("mask", "m{}", 0, 7)]
    name = function_name(row) + ("_masked" if masked else "")
    parameters = [operand for operand in (*first, *operands) if operand.parameter]
    text = f"{row.mnemonic} {_statement(row, operands, result)}".strip()
    # An asm statement needs the number itself, which a parameter of a function is not.
    is_macro = any(operand.constraint == "i" for operand in parameters)
    statement = _asm(text, kind, keeps, parameters, row, "__et_" if is_macro else "")
    if is_macro:
        return _macro(name, parameters, kind, keeps, statement, row)
    lines = [f"ET_INTRINSIC {kind} {name}({', '.join(operand.parameter for operand in parameters) or 'void'}) {{"]
    if kind != "void":
        lines.append(f"    {kind} result{' = old' if keeps else ''};")
    if row.mnemonic.startswith(_COMPARES):
        lines[0] = lines[0].replace(") {", ", uint64_t expected) {")
        lines.append('    register uint64_t compared __asm__("x31") = expected;')
    lines.append(f"    {statement}")
    if kind != "void":
        lines.append("    return result;")
    return "\n".join([*lines, "}"])


def _macro(name: str, parameters: Sequence[_Operand], kind: str, keeps: bool, statement: str, row: Row) -> str:
    # Locals have names that C reserves: an argument may be any expression of the user's.
    names = [f"{operand.name}_" for operand in parameters]
    lines = [f"#define {name}({', '.join(names)}) __extension__({{"]
    for operand in parameters:
        if operand.check:
            lines.append(f'    _Static_assert({operand.check}, "{row.mnemonic}: {_range_text(operand.check)}");')
        if operand.constraint == "i":
            lines.append(f"    enum {{ __et_{operand.name} = ({operand.name}_) }};")
        else:
            lines.append(f"    {operand.type}__et_{operand.name} = ({operand.name}_);")
    if kind != "void":
        lines.append(f"    {kind} __et_result{' = __et_old' if keeps else ''};")
    lines.append(f"    {statement}")
    lines.append("    __et_result;" if kind != "void" else "    (void)0;")
    return " \\\n".join([*lines, "})"])


def _range_text(check: str) -> str:
    name, _, low, _, _, _, high = check.replace("(", "").replace(")", "").split()
    what = "the number of the mask register" if name.startswith("mask") else f"the {name[:-1]}"
    return f"{what} is a constant from {low} to {high}"


def _operand(row: Row, field: Field) -> _Operand:
    if field.kind == "f":
        kind, name = _vector_type(row, field), {"rs1": "a", "rs2": "b", "rs3": "c"}[field.role]
        if field.role == "rs1" and "(rs2)" in row.operands:
            name = "index"
        elif field.name == "fv3" or (field.name == "fs2" and "(rs1)" in row.operands):
            name = "data"
        return _Operand(f"{kind} {name}", f"%[{name}]", "vr")
    if field.kind == "m":
        name = {"rs1": "mask1", "rs2": "mask2"}[field.role]
        return _constant(name, "m{}", 0, 7)
    if field.kind == "x":
        return _integer_operand(row, field)
    if "(rs1)" in row.operands:
        # The compiler computes addresses.
        return _Operand("", "0", "")
    name = "lane" if field.name == "v3" else "amount" if field.name == "sh5" else "immediate"
    low, high = field.range[0], field.range[-1]
    if field.name == "v20":
        low, high = 0, (1 << 20) - 1
    return _constant(name, "{}", low, high)


def _integer_operand(row: Row, field: Field) -> _Operand:
    if f"({field.name})" in row.operands:
        constant = "" if row.mnemonic.startswith(_WRITERS) else "const "
        return _Operand(f"{constant}volatile void *at", "%[at]", "r")
    name = {"rs1": "x", "rs2": "value" if "(rs1)" in row.operands else "y"}[field.role]
    if field.role == "rs1" and "(rs2)" in row.operands:
        name = "index"
    return _Operand(f"uint64_t {name}", f"%[{name}]", "r")


def _statement(row: Row, operands: Sequence[_Operand], result: Field | None) -> str:
    """The operands of the asm statement, in the table's order and punctuation."""
    fields = [field for field in row.fields if field.role not in ("rd", "rm")]
    texts = {field.name: operand.text for field, operand in zip(fields, operands, strict=True)}
    if result is not None:
        texts[result.name] = "m%c[mask]" if result.kind == "m" else "%[result]"
    text = row.operands.partition(";")[0]
    # Longer names first, because `fs1` holds the name `s1`.
    for name in sorted(texts, key=len, reverse=True):
        text = text.replace(name, f"<{name}>")
    for name, made in texts.items():
        text = text.replace(f"<{name}>", made)
    return "" if text == "-" else text.replace(",", ", ")


def _asm(text: str, kind: str, keeps: bool, parameters: Sequence[_Operand], row: Row, prefix: str) -> str:
    """Asm statement: no instruction moves across another, since all read masks and accrue flags."""
    constraint = ("+" if keeps else "=") + ("vr" if _lanes(kind) else "r")
    outputs = "" if kind == "void" else f'[result] "{constraint}"({prefix}result{_lanes(kind)})'
    inputs = [
        f'[{each.name}] "{each.constraint}"({prefix}{each.name}{_lanes(each.type.strip())})'
        for each in parameters
        if each.constraint
    ]
    if row.mnemonic.startswith(_COMPARES):
        inputs.append('"r"(compared)')
    clobbers = ' : "memory"' if "(" in row.operands else ""
    return f'__asm__ __volatile__("{text}" : {outputs} : {", ".join(inputs)}{clobbers});'


def _lanes(kind: str) -> str:
    return ".lanes" if kind in (_FLOATS, _INTEGERS) else ""


def _result_type(row: Row, result: Field | None) -> str:
    """Type of what an instruction returns. Comparisons and classes give integers in lanes, and words of 32 bits come
    with their sign (manual, chapter 7).
    """
    if result is None or result.kind == "m":
        return "void"
    if result.kind == "x":
        return "int32_t" if row.mnemonic.endswith(".w") else "int64_t" if row.mnemonic.startswith("amo") else "uint64_t"
    stem, *parts = row.mnemonic.split(".")
    if stem == "fcvt":
        return _FLOATS if parts[0] == "ps" else _INTEGERS
    if (
        stem in ("fle", "flt", "feq", "fclass")
        or parts[-1:] == ["pi"]
        or stem.startswith(("fgh", "fgb", "fg32h", "fg32b"))
    ):
        return _INTEGERS
    return _FLOATS


def _vector_type(row: Row, field: Field) -> str:
    """Type of a vector operand: indices and conditions are integers."""
    stem, *parts = row.mnemonic.split(".")
    if "(rs2)" in row.operands and field.role == "rs1":
        return _INTEGERS
    if stem == "fcvt":
        return _FLOATS if parts[-1] == "ps" and parts[0] != "ps" else _INTEGERS
    if stem == "fcmov" and field.role == "rs1":
        return _INTEGERS
    # Bytes and halves stand in words.
    narrow = stem.startswith(("fsch", "fscb", "fsc32h", "fsc32b"))
    return _INTEGERS if parts[-1:] == ["pi"] or narrow else _FLOATS
