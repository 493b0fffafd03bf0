# SPDX-License-Identifier: Apache-2.0
"""Encoding of machine code: the shortest encodings, compressed ones where the instruction set has them, and branch
relaxation.

Sizes start at their least and grow until every distance fits, so that the process ends (Szymanski 1978, span-dependent
instructions). A branch whose target is out of reach becomes its inverse over a jump. A pair of a branch and its shadow
is parted here, where the sizes of both are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Final

from polyloom.diagnostics import infeasible
from polyloom.ir.ssa import NOWHERE, Place
from polyloom.riscv.backend.atomics import cas_loop
from polyloom.riscv.backend.code import BRANCHES, EXCHANGES, PUSHES, RA, ZERO, Code, Op, Reg, instruction_row
from polyloom.riscv.backend.pairs import halves, is_pair
from polyloom.riscv.backend.push import rotate_word
from polyloom.riscv.encode import encode
from polyloom.riscv.isa import Instruction, Role, Row, instruction_table
from polyloom.riscv.names import Isa
from polyloom.twos_complement import sign_extend

FUNCTION: Final = "@"
"""Begins the name of a function's first block."""
_INVERSE: Final = {"beq": "bne", "bne": "beq", "blt": "bge", "bge": "blt", "bltu": "bgeu", "bgeu": "bltu"}
_LINKS: Final = {"j": ZERO, "call": RA}
"""Where jumps leave the address behind them."""
# Of the operations with a compressed two-operand form.
_COMMUTATIVE: Final = ("add", "and", "or", "xor", "addw")


@dataclass(frozen=True, slots=True)
class _Place:
    """Instruction with the sizes in bytes that it may have, least first; `target` is a block where the distance
    decides.
    """

    op: Op
    sizes: tuple[int, ...]
    target: str = ""


def encode_words(code: Code) -> bytes:
    """The words of a function, wherever it stands."""
    return encode_with_labels(code)[0]


def encode_with_labels(code: Code) -> tuple[bytes, dict[str, int]]:
    """Words of a function, and the offset of each block."""
    made = encode_function(code)
    return made.words, made.labels


@dataclass(frozen=True, slots=True)
class Marked:
    """Encoded function: its words, where each block begins, by number where each coprocessor word is handed over
    (push.py), and the source place of each instruction: its own, else that of the one before.
    """

    words: bytes
    labels: dict[str, int]
    marks: dict[int, int]
    places: dict[int, Place]


def encode_function(code: Code) -> Marked:
    """Encoding of a function, wherever it stands, with branch relaxation (Szymanski 1978)."""
    places = [[_possible_sizes(op, code.isa) for op in block.ops] for block in code.blocks]
    chosen = [[0] * len(group) for group in places]
    # Branch relaxation from the smallest sizes: sizes only grow, so that it ends, and what is left is a least fixed
    # point.
    while True:
        starts = _addresses(places, chosen)
        labels = {block.name: starts[k][0] for k, block in enumerate(code.blocks)}
        if not _relax(code.isa, places, chosen, starts, labels):
            break
    made = bytearray()
    marks: dict[int, int] = {}
    known: dict[int, Place] = {}
    last = NOWHERE
    for block, group, sizes, addresses in zip(code.blocks, places, chosen, starts, strict=True):
        # The place of a function's last instruction says nothing of the next function.
        last = NOWHERE if block.name.startswith(FUNCTION) else last
        for place, number, address in zip(group, sizes, addresses, strict=False):
            if place.op.mnemonic in PUSHES and isinstance(mark := place.op.operands[-1], int):
                marks[mark] = address
            last = place.op.place if place.op.place.line else last
            known[address] = replace(last, reason=place.op.place.reason)
            if place.op.mnemonic == "word":
                made += _coprocessor_word(place.op).to_bytes(4, "little")
                continue
            for instruction in _encoded_instructions(
                # A distance counts from the instruction itself (RISC-V unprivileged manual, "Control Transfer
                # Instructions").
                place,
                place.sizes[number],
                labels.get(place.target, 0) - address,
                code.isa,
            ):
                made += encode(instruction).to_bytes(instruction.row.size, "little")
    return Marked(bytes(made), labels, marks, known)


def _possible_sizes(op: Op, isa: Isa) -> _Place:
    """Sizes that an instruction may have."""
    if op.mnemonic in PUSHES:
        return _Place(op, (4,))
    if op.mnemonic in EXCHANGES:
        # A compare-and-exchange: four instructions that are never compressed, so that their distances are fixed.
        return _Place(op, (16,))
    if op.mnemonic == "function":
        return _Place(op, (8,), str(op.operands[1]))
    if is_pair(op):
        return _Place(op, (sum(half.row.size for half in _pair_instructions(op, isa)),))
    target = next((o for o in op.operands if isinstance(o, str)), "")
    least = 2 if "c" in isa.extensions else 4
    if op.mnemonic in ("j", "call"):
        return _Place(op, (least, 4) if least < 4 else (4,), target)
    if op.mnemonic in BRANCHES:
        return _Place(op, (least, 4, 8) if least < 4 else (4, 8), target)
    return _Place(op, (_shortest_encoding(op, isa).row.size,))


def _addresses(places: list[list[_Place]], chosen: list[list[int]]) -> list[list[int]]:
    """Addresses: that of each instruction, and of what follows the block."""
    made: list[list[int]] = []
    address = 0
    for group, sizes in zip(places, chosen, strict=True):
        addresses = [address]
        for place, number in zip(group, sizes, strict=True):
            address += place.sizes[number]
            addresses.append(address)
        made.append(addresses)
    return made


def _relax(
    isa: Isa, places: list[list[_Place]], chosen: list[list[int]], starts: list[list[int]], labels: Mapping[str, int]
) -> bool:
    """One round of relaxation: whether something had to grow. Errors: PL0932 for what is out of reach at its greatest
    size.
    """
    grown = False
    for group, sizes, addresses in zip(places, chosen, starts, strict=True):
        for k, place in enumerate(group):
            if place.target and not _fits_distance(
                place, place.sizes[sizes[k]], labels[place.target] - addresses[k], isa
            ):
                if sizes[k] + 1 == len(place.sizes):
                    raise infeasible(
                        "PL0932",
                        "the code is too long: a jump or a call reaches one megabyte",
                        help="split the function",
                    )
                sizes[k] += 1
                grown = True
    return grown


def _fits_distance(place: _Place, size: int, distance: int, isa: Isa) -> bool:
    """Whether the distance has an encoding of this size."""
    if place.op.mnemonic == "function":
        return True
    if size == 8:
        # The jump stands behind the inverted branch, 4 bytes further.
        return distance - 4 in instruction_row("jal", isa).fields[-1].range
    plain = _wide_encoding(place.op, distance, isa)
    found = plain if size == 4 else _compress(plain, isa)
    return found is not None and _is_legal(found)


def _encoded_instructions(place: _Place, size: int, distance: int, isa: Isa) -> Iterator[Instruction]:
    """Instructions of the table for one place, at a distance from its target."""
    if is_pair(place.op):
        yield from _pair_instructions(place.op, isa)
    elif place.op.mnemonic in EXCHANGES:
        yield from (_wide_encoding(each, 0, isa) for each in cas_loop(place.op))
    elif place.op.mnemonic == "function":
        yield from _pc_relative(place.op, distance, isa)
    elif place.op.mnemonic == "push":
        word, port, _ = place.op.operands
        yield _shortest_encoding(Op("sw", (word, 0, port)), isa)
    elif not place.target:
        yield _shortest_encoding(place.op, isa)
    elif size == 8:
        branch = Op(_INVERSE[place.op.mnemonic], place.op.operands)
        # A branch that reaches too little jumps over a jump.
        yield _wide_encoding(branch, 8, isa)
        yield _wide_encoding(Op("j", place.op.operands[-1:]), distance - 4, isa)
    else:
        plain = _wide_encoding(place.op, distance, isa)
        compressed = _compress(plain, isa) if size == 2 else None
        yield compressed or plain


def _pc_relative(op: Op, distance: int, isa: Isa) -> Iterator[Instruction]:
    """pc-relative address, by auipc and addi: at a distance from the first of both, wherever they stand."""
    register, low = op.operands[0], sign_extend(distance, 12)
    # The low part is signed, so that the upper part is rounded (psABI, "PC-Relative Symbol Addresses").
    yield _wide_encoding(Op("auipc", (register, sign_extend(distance - low, 32))), 0, isa)
    yield _wide_encoding(Op("addi", (register, register, low)), 0, isa)


def _coprocessor_word(op: Op) -> int:
    word = op.operands[0]
    assert isinstance(word, int)
    return rotate_word(word)


def _wide_encoding(op: Op, distance: int, isa: Isa) -> Instruction:
    """Instruction of four bytes."""
    mnemonic, operands = (
        ("jal", (_LINKS[op.mnemonic], op.operands[0])) if op.mnemonic in _LINKS else (op.mnemonic, op.operands)
    )
    values = tuple(distance if isinstance(o, str) else o.number if isinstance(o, Reg) else o for o in operands)
    return Instruction(instruction_row(mnemonic, isa), values)


def _pair_instructions(op: Op, isa: Isa) -> tuple[Instruction, Instruction]:
    """Branch over its shadow, and that; whether a branch is compressed does not depend on so short a distance."""
    shadow = _shortest_encoding(halves(op)[1], isa)
    size = _shortest_encoding(halves(op)[0], isa).row.size
    return _shortest_encoding(halves(op, size + shadow.row.size)[0], isa), shadow


@lru_cache(1 << 14)
def _shortest_encoding(op: Op, isa: Isa) -> Instruction:
    plain = _wide_encoding(op, 0, isa)
    assert _is_legal(plain), f"`{op}` has no encoding"
    return _compress(plain, isa) or plain


def _is_legal(instruction: Instruction) -> bool:
    """Whether every operand is in the range of its field."""
    pairs = zip(instruction.row.fields, instruction.values, strict=True)
    return all(value in field.range and value not in field.forbidden for field, value in pairs)


def _compress(plain: Instruction, isa: Isa) -> Instruction | None:
    """Compressed instruction that stands for this one, by the table read backwards (RISC-V unprivileged manual, chapter
    "C" Extension: each expands into a single base instruction).
    """
    orders = [plain.values]
    if plain.row.mnemonic in _COMMUTATIVE:
        # Compressed forms have one source in the place of the result: either order of a commutative operation will do.
        orders.append((plain.values[0], plain.values[2], plain.values[1]))
    for row in _compressed_rows(plain.row.mnemonic, isa):
        for values in orders:
            found = _match_row(row, values)
            if found is not None and _is_legal(found):
                return found
    return None


def _match_row(row: Row, values: tuple[int, ...]) -> Instruction | None:
    """Compressed row with the values that it takes from an expanded instruction, where its constants are those of that
    one.
    """
    assert row.expansion is not None
    roles: dict[Role, int] = {}
    for source, value in zip(row.expansion[1], values, strict=True):
        if isinstance(source, int):
            if source != value:
                return None
        # A compressed form that names a register once needs both values to be equal.
        elif roles.setdefault(source, value) != value:
            return None
    return Instruction(row, tuple(roles[field.role] for field in row.fields))


@cache
def _compressed_rows(mnemonic: str, isa: Isa) -> tuple[Row, ...]:
    return tuple(
        row
        for row in instruction_table()
        if row.is_in_isa(isa) and row.expansion is not None and row.expansion[0] == mnemonic
    )
