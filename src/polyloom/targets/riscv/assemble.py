# SPDX-License-Identifier: Apache-2.0
"""Assembly text to bytes: two passes over statements whose sizes are known from the text alone.

A line is `label: mnemonic operands # comment`. Operands are those of instructions.txt, with ABI or numeric register names,
integers in Python's notation, and labels where an offset stands. Pseudo-instructions are rewritten first (pseudo.txt; `li`
into the shortest chain of lui, addi and slli). Nothing is relaxed or compressed: an offset out of range is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from polyloom.diagnostics import PolyloomError, Source, Span, input_error, nearest
from polyloom.targets.riscv import disassemble
from polyloom.targets.riscv.encode import encode
from polyloom.targets.riscv.isa import F_NAMES, OPERAND, X_NAMES, Field, Instruction, Row, by_mnemonic, find, lines, register
from polyloom.targets.riscv.names import Isa

_LINE: Final = re.compile(r"\s*(?:([A-Za-z_.$][\w.$]*)\s*:)?\s*(?:([A-Za-z.][\w.]*)(?:\s+(\S.*?))?)?\s*")
_DATA: Final = {".byte": 1, ".half": 2, ".word": 4, ".dword": 8}
_MNEMONIC: Final = re.compile(r"(.+?)(\.aqrl|\.aq|\.rl)?")
_MAXIMUM: Final = 1 << 26
"""Bytes that `.zero` and `.balign` may make."""


@dataclass(frozen=True, slots=True)
class Assembled:
    """The bytes from `base` on, and the address of every label."""

    data: bytes
    base: int
    labels: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Text:
    """A piece of the source: what it says, and where it stands."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class _Statement:
    """A mnemonic or directive with its operands, at an address."""

    mnemonic: _Text
    operands: _Text
    address: int
    pair: int
    """The address of the first instruction of the pseudo-instruction that this one belongs to."""


def assemble(text: str, isa: Isa, base: int = 0, name: str = "<assembly>") -> Assembled:
    """The bytes of `text`. Errors: PL0902 to PL0905, with the place in `text`, which is called `name`."""
    labels: dict[str, int] = {}
    statements: list[_Statement] = []
    address = base
    for label, mnemonic, operands in _statements(Source(name, text)):
        if label is not None:
            if label.text in labels:
                raise input_error("PL0904", f"the label '{label.text}' is defined twice", span=label.span, help="rename one of them")
            labels[label.text] = address
        if mnemonic is None:
            continue
        pair = address
        for each in _rewrite(mnemonic, operands, isa):
            statements.append(_Statement(*each, address, pair))
            address += _size(*each, address, isa)
    return Assembled(b"".join(_bytes(statement, labels, isa) for statement in statements), base, labels)


def _statements(source: Source) -> Iterator[tuple[_Text | None, _Text | None, _Text]]:
    place = 0
    for line in source.text.splitlines(keepends=True):
        code = re.split("#|//", line.rstrip("\r\n"), maxsplit=1)[0]
        found = _LINE.fullmatch(code)
        if found is None:
            start = place + len(code) - len(code.lstrip())
            raise input_error(
                "PL0905", "this is neither a label nor an instruction", span=Span(source, start, place + len(code)), help="write `label: mnemonic operands`"
            )
        end = Span(source, place + len(code.rstrip()), place + len(code.rstrip()))
        yield _part(source, place, found, 1), _part(source, place, found, 2), _part(source, place, found, 3) or _Text("", end)
        place += len(line)


def _part(source: Source, place: int, found: re.Match[str], group: int) -> _Text | None:
    return _Text(found[group], Span(source, place + found.start(group), place + found.end(group))) if found[group] is not None else None


def _rewrite(mnemonic: _Text, operands: _Text, isa: Isa) -> Sequence[tuple[_Text, _Text]]:
    """The instructions that a pseudo-instruction stands for; any other statement itself."""
    given = [part.strip() for part in operands.text.split(",")] if operands.text else []
    if mnemonic.text == "li" and len(given) == 2:
        value = _integer(_Text(given[1], operands.span), range(-(1 << isa.xlen - 1), 1 << isa.xlen))
        lines = [
            f"{each} {given[0]},{rest}" if each == "lui" else f"{each} {given[0]},{given[0] if n else 'zero'},{rest}"
            for n, (each, rest) in enumerate(constant(value, isa.xlen))
        ]
    else:
        pseudo = _pseudos().get((mnemonic.text, len(given)))
        if pseudo is None:
            return ((mnemonic, operands),)
        values = dict(zip(pseudo[0], given, strict=True))
        lines = [OPERAND.sub(lambda m: values.get(m[0], m[0]), line) for line in pseudo[1]]
    halves = [line.partition(" ") for line in lines]
    return tuple((_Text(first, mnemonic.span), _Text(rest, operands.span)) for first, _, rest in halves)


@cache
def _pseudos() -> dict[tuple[str, int], tuple[tuple[str, ...], tuple[str, ...]]]:
    """By mnemonic and number of operands: the operands' names and the lines."""
    made: dict[tuple[str, int], tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for mnemonic, operands, *rest in lines("pseudo.txt"):
        names = () if operands == "-" else tuple(operands.split(","))
        made[mnemonic, len(names)] = (names, tuple(line.strip() for line in " ".join(rest).split(";")))
    return made


def constant(value: int, xlen: int) -> list[tuple[str, str]]:
    """The chain of lui, addi, addiw, slli that makes a constant modulo 2**xlen, at most eight: (mnemonic, operand) of each. The
    first reads zero, every other one the result before it."""
    value = _signed(value, xlen)
    low = _signed(value, 12)
    if value == low:
        return [("addi", str(value))]
    if value == _signed(value, 32):
        upper = ("lui", str(value - low >> 12 & 0xFFFFF))
        return [upper] if low == 0 else [upper, ("addi" if xlen == 32 else "addiw", str(low))]
    high = value - low >> 12
    shift = (high & -high).bit_length() - 1
    made = [*constant(high >> shift, xlen), ("slli", str(shift + 12))]
    return made if low == 0 else [*made, ("addi", str(low))]


def _signed(value: int, bits: int) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _size(mnemonic: _Text, operands: _Text, address: int, isa: Isa) -> int:
    if mnemonic.text in _DATA:
        return _DATA[mnemonic.text] * len(operands.text.split(","))
    if mnemonic.text in (".zero", ".balign"):
        count = _integer(operands, range(1, _MAXIMUM))
        return count if mnemonic.text == ".zero" else -address % count
    return _row(mnemonic, isa).size


def _bytes(statement: _Statement, labels: Mapping[str, int], isa: Isa) -> bytes:
    mnemonic, operands = statement.mnemonic, statement.operands
    if mnemonic.text in _DATA:
        size = _DATA[mnemonic.text]
        return b"".join(_datum(part, size, labels) for part in _split(operands))
    if mnemonic.text.startswith("."):
        return bytes(_size(mnemonic, operands, statement.address, isa))
    row = _row(mnemonic, isa)
    return encode(Instruction(row, tuple(_values(row, statement, labels)))).to_bytes(row.size, "little")


def _datum(part: _Text, size: int, labels: Mapping[str, int]) -> bytes:
    legal = range(-(1 << 8 * size - 1), 1 << 8 * size)
    value = labels[part.text] if part.text in labels else _integer(part, legal)
    return (value % (1 << 8 * size)).to_bytes(size, "little")


def _split(operands: _Text) -> Iterator[_Text]:
    for found in re.finditer(r"[^,]+", operands.text):
        start = operands.span.start + found.start()
        yield _Text(found[0].strip(), Span(operands.span.source, start, start + len(found[0])))


def _row(mnemonic: _Text, isa: Isa) -> Row:
    if mnemonic.text.startswith("."):
        directives = [*_DATA, ".zero", ".balign"]
        raise input_error("PL0905", f"there is no directive '{mnemonic.text}'", span=mnemonic.span, help=nearest(mnemonic.text, directives, "directive"))
    name = _MNEMONIC.fullmatch(mnemonic.text)
    assert name is not None
    row = find(mnemonic.text, isa) or find(name[1], isa)
    if row is not None and (row.mnemonic == mnemonic.text or row.operands.endswith(";order")):
        return row
    known = by_mnemonic().get(mnemonic.text)
    if known is not None:
        needed = "+".join(sorted(known[0].extensions))
        needed = needed if known[0].extensions - isa.extensions else f"XLEN {known[0].xlen}"
        raise input_error("PL0902", f"{isa} has no '{mnemonic.text}'", span=mnemonic.span, help=f"it needs {needed}")
    shapes = [", ".join(pseudo[0]) for (name, _), pseudo in _pseudos().items() if name == mnemonic.text]
    if shapes or mnemonic.text == "li":
        help = " or ".join(f"{mnemonic.text} {shape}".rstrip() for shape in shapes or ["rd, integer"])
        raise input_error("PL0903", f"'{mnemonic.text}' does not take these operands", span=mnemonic.span, help=f"write {help}")
    names = [*(r.mnemonic for rows in by_mnemonic().values() for r in rows if r.is_in(isa)), *(n for n, _ in _pseudos()), "li"]
    raise input_error("PL0902", f"there is no instruction '{mnemonic.text}'", span=mnemonic.span, help=nearest(mnemonic.text, names, "instruction"))


def _values(row: Row, statement: _Statement, labels: Mapping[str, int]) -> Iterator[int]:
    template, _, modifier = row.operands.partition(";")
    found = _pattern(row.operands).fullmatch(statement.operands.text)
    if found is None:
        shown = OPERAND.sub(lambda m: next((f.role for f in row.fields if f.name == m[0]), m[0]), template).replace(",", ", ")
        raise input_error(
            "PL0903", f"'{row.mnemonic}' does not take these operands", span=statement.operands.span, help=f"write {row.mnemonic} {shown}".rstrip()
        )
    for number, field in enumerate(row.fields):
        if field.name == modifier:
            yield _modifier(modifier, statement, found["modifier"] if modifier != "order" else None)
        else:
            start = statement.operands.span.start + found.start(number + 1)
            inside = start + len(found[number + 1]) <= statement.operands.span.end
            span = Span(statement.operands.span.source, start, start + len(found[number + 1])) if inside else statement.operands.span
            yield _value(field, _Text(found[number + 1] or "0", span), statement, labels)


@cache
def _pattern(operands: str) -> re.Pattern[str]:
    """One group for every operand of the template, and `modifier` for a rounding mode."""
    template, _, modifier = operands.partition(";")
    parts = re.split(f"({OPERAND.pattern})", template)
    text = "".join(
        _group(part, parts[n + 1] if n + 1 < len(parts) else "") if n % 2 else "".join(rf"\s*{re.escape(c)}\s*" for c in part) for n, part in enumerate(parts)
    )
    return re.compile(text + (r"(?:\s*,\s*(?P<modifier>\w+))?" if modifier.startswith("rm") else ""))


def _group(name: str, following: str) -> str:
    return name if name == "sp" else r"([^,()\s]*)" if following.startswith("(") else r"([^,()\s]+)"


def _modifier(kind: str, statement: _Statement, given: str | None) -> int:
    if kind == "order":
        name = _MNEMONIC.fullmatch(statement.mnemonic.text)
        return disassemble.ORDERS.index((name and name[2]) or "")
    if given is None:
        return disassemble.DEFAULT_ROUNDING[kind]
    return _one_of(_Text(given, statement.operands.span), disassemble.ROUNDINGS, "rounding mode")


def _value(field: Field, text: _Text, statement: _Statement, labels: Mapping[str, int]) -> int:
    if field.kind in ("x", "f"):
        value = _register(text, X_NAMES if field.kind == "x" else F_NAMES)
    elif field.kind == "fence":
        value = _fence(text)
    elif field.kind == "csr" and text.text in disassemble.CSRS.values():
        value = next(number for number, name in disassemble.CSRS.items() if name == text.text)
    elif (half := re.fullmatch(r"(.+)@(hi|lo)", text.text)) is not None:
        distance = _label(_Text(half[1], text.span), labels) - statement.pair
        value = distance - _signed(distance, 12) if half[2] == "hi" else _signed(distance, 12)
    elif field.kind == "offset" and re.match(r"[A-Za-z_.$]", text.text):
        value = _label(text, labels) - statement.address
    elif field.kind == "upper":
        value = _signed(_integer(text, range(-(1 << 19), 1 << 20)) << 12, 32)
    else:
        value = _integer(text)
    return _checked(field, value, text)


def _checked(field: Field, value: int, text: _Text) -> int:
    if value in field.range and value not in field.forbidden:
        return value
    what, scale = ("this register", 0) if field.kind in ("x", "f") else (f"{value >> 12 if field.kind == 'upper' else value}", 12 * (field.kind == "upper"))
    low, high, step = field.range[0] >> scale, field.range[-1] >> scale, field.step >> scale
    legal = f"{X_NAMES[low]} to {X_NAMES[high]}" if field.kind == "x" else f"{F_NAMES[low]} to {F_NAMES[high]}" if field.kind == "f" else f"{low} to {high}"
    without = [X_NAMES[n] if field.kind == "x" else str(n) for n in field.forbidden]
    help = f"it takes {legal}" + (f" in steps of {step}" if step > 1 else "") + (f", without {' and '.join(without)}" if without else "")
    more = "; jump over a `j` to go further" if field.kind == "offset" else ""
    raise input_error("PL0903", f"{what} is outside the range of the operand", span=text.span, help=help + more)


def _label(text: _Text, labels: Mapping[str, int]) -> int:
    if text.text not in labels:
        raise input_error("PL0904", f"there is no label '{text.text}'", span=text.span, help=nearest(text.text, labels, "label"))
    return labels[text.text]


def _register(text: _Text, names: tuple[str, ...]) -> int:
    number = register(text.text, names)
    if number is None:
        what = "integer" if names is X_NAMES else "floating-point"
        raise input_error("PL0903", f"'{text.text}' is no {what} register", span=text.span, help=nearest(text.text, names, "register"))
    return number


def _fence(text: _Text) -> int:
    if not re.fullmatch("i?o?r?w?|0", text.text):
        raise input_error("PL0903", f"'{text.text}' is no set of accesses", span=text.span, help="write some of the letters iorw, in this order")
    return sum(8 >> "iorw".index(letter) for letter in text.text if letter != "0")


def _one_of(text: _Text, names: tuple[str, ...], what: str) -> int:
    if text.text not in names:
        raise input_error("PL0903", f"there is no {what} '{text.text}'", span=text.span, help=nearest(text.text, [n for n in names if n], what))
    return names.index(text.text)


def _integer(text: _Text, legal: range | None = None) -> int:
    try:
        value = int(text.text, 0)
    except ValueError:
        raise _no_integer(text) from None
    if legal is not None and value not in legal:
        raise input_error("PL0903", f"{value} is out of range", span=text.span, help=f"write an integer from {legal[0]} to {legal[-1]}")
    return value


def _no_integer(text: _Text) -> PolyloomError:
    return input_error("PL0903", f"'{text.text}' is no integer", span=text.span, help="write for instance 12, -1 or 0x7ff")
