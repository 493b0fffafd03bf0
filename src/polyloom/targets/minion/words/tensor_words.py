# SPDX-License-Identifier: Apache-2.0
"""Encoding of the tensor coprocessor's words: one table of fields per CSR, from which encoder and decoder follow.

A tensor instruction is a CSR write; loads, stores and `tensor_load_l2` take a second word from x31. `encode` makes the
words of one of the operations, `decode` reads them back. Source: ET Programmer's Reference Manual, chapter 9.
`tensor_notation.py` has their text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Type = Literal["fp32", "fp16", "int8"]

# Numbers 3 and 4 are reserved: a load with them sets tensor_error[1] and does nothing.
TRANSFORMS: Final = ("plain", "interleave8", "interleave16", "", "", "transpose8", "transpose16", "transpose32")
# Other numbers are illegal instructions; 1 is fp16 with sums in fp32, 3 is int8 with sums in int32.
TYPES: Final = ("fp32", "fp16", "", "int8", "", "", "", "")
DEPTH: Final[Mapping[str, int]] = {"fp32": 1, "fp16": 2, "int8": 4}
"""Elements per word of 32 bits, along the depth of a product."""
QUANT: Final = (
    "last",
    "i32_to_f32",
    "f32_to_i32",
    "relu",
    "add_row",
    "add_col",
    "mul_row",
    "mul_col",
    "sat8",
    "satu8",
    "pack",
)
"""The transforms of tensor_quant by number; add and mul take a line of L1Scp each."""
# Numbers that are not listed set tensor_error[9], whatever the count is.
FUNCTIONS: Final[Mapping[str, int]] = {
    "fadd": 0,
    "fmax": 2,
    "fmin": 3,
    "add": 4,
    "max": 6,
    "min": 7,
    "move": 8,
}
"""What a receiver does with the registers that arrive."""
EVENTS: Final = (
    "load0",
    "load1",
    "load_l2_0",
    "load_l2_1",
    "prefetch0",
    "prefetch1",
    "cacheop",
    "fma",
    "store",
    "reduce",
    "quant",
)
"""What tensor_wait waits for, by number."""
# Sets 0 to 11 of L1, four ways each, in scratchpad mode (manual, chapter 8).
SCP_LINES: Final = 48


@dataclass(frozen=True, slots=True)
class Field:
    """Bit field: a value in bits [low, low + width) of the CSR's word, or of x31. The bits hold (value - base) / unit.
    `split`: how many of its lowest bits lie at bit `split_low` instead.
    """

    name: str
    low: int
    width: int
    base: int = 0
    unit: int = 1
    x31: bool = False
    signed: bool = False
    split: int = 0
    split_low: int = 0

    @property
    def least(self) -> int:
        return -(self.unit << (self.width - 1)) if self.signed else self.base

    @property
    def most(self) -> int:
        """The greatest value; one that may be negative takes its bits as unsigned too."""
        return self.base + ((1 << self.width) - 1) * self.unit

    def put(self, value: int) -> int:
        """Bits of a value in place. ValueError where it does not fit."""
        if not self.least <= value <= self.most or (value - self.base) % self.unit:
            step = f" in steps of {self.unit}" if self.unit > 1 else ""
            raise ValueError(f"{self.name} is from {self.least} to {self.most}{step}, not {value}")
        bits = (value - self.base) // self.unit & ((1 << self.width) - 1)
        return (bits >> self.split) << self.low | (bits & ((1 << self.split) - 1)) << self.split_low

    def get(self, word: int) -> int:
        """The value in a word."""
        high = word >> self.low & ((1 << (self.width - self.split)) - 1)
        bits = high << self.split | (word >> self.split_low & ((1 << self.split) - 1))
        if self.signed and bits >> (self.width - 1):
            bits -= 1 << self.width
        return self.base + bits * self.unit

    @property
    def mask(self) -> int:
        """Its bits in the word."""
        return ((1 << (self.width - self.split)) - 1) << self.low | ((1 << self.split) - 1) << self.split_low


@dataclass(frozen=True, slots=True)
class Operation:
    """Row of the table, one tensor instruction: `fixed` are bits that make it this one among those of its CSR,
    `fixed_mask` where they are.
    """

    name: str
    csr: int
    fields: tuple[Field, ...]
    fixed: int = 0
    fixed_mask: int = 0

    @property
    def takes_x31(self) -> bool:
        return any(field.x31 for field in self.fields)

    def field(self, name: str) -> Field | None:
        return next((each for each in self.fields if each.name == name), None)


@dataclass(frozen=True, slots=True)
class Word:
    """Encoded operation: the CSR, its word, and x31, None where the operation takes none."""

    csr: int
    value: int
    x31: int | None = None


def _address_field(low: int) -> Field:
    """Address field from bit `low` to bit 47, sign-extended, in units of its lowest bit (manual, chapter 9)."""
    # Virtual addresses of Sv48 are sign-extended from bit 47.
    return Field("address", low, 48 - low, unit=1 << low, signed=True)


_STRIDE = Field("stride", 6, 42, unit=64, x31=True)
_ID = Field("id", 0, 1, x31=True)
_MASKED = Field("masked", 63, 1)
_ROWS = Field("rows", 51, 4, base=1)
_LINES = Field("rows", 0, 4, base=1)
_COLUMNS = Field("columns", 55, 2, base=4, unit=4)
_FREG = Field("freg", 57, 5)
_COUNT = Field("count", 16, 7)
_FUNCT = Field("funct", 24, 4)
_PEER = Field("peer", 3, 13)
_HEIGHT = Field("height", 3, 4)

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        "tensor_load_b",
        0x83F,
        (Field("coop", 62, 1), _address_field(6), _LINES, _STRIDE, _ID),
        fixed=1 << 52,
        fixed_mask=1 << 52,
    ),
    Operation(
        "tensor_load",
        0x83F,
        (
            _MASKED,
            Field("coop", 62, 1),
            Field("transform", 59, 3),
            Field("start", 53, 6),
            _address_field(4),
            _LINES,
            _STRIDE,
            _ID,
        ),
        fixed_mask=1 << 52,
    ),
    Operation(
        "tensor_load_l2",
        0x85F,
        (_MASKED, Field("line", 48, 17, split=2, split_low=4), _address_field(6), _LINES, _STRIDE, _ID),
    ),
    Operation(
        "tensor_fma",
        0x801,
        (
            _MASKED,
            _COLUMNS,
            _ROWS,
            Field("words", 47, 4, base=1),
            Field("offset", 43, 4),
            Field("to_registers", 23, 1),
            Field("b_unsigned", 22, 1),
            Field("a_unsigned", 21, 1),
            Field("tenb", 20, 1),
            Field("b", 12, 6),
            Field("a", 4, 6),
            Field("type", 1, 3),
            Field("first", 0, 1),
        ),
    ),
    Operation(
        "tensor_quant",
        0x806,
        (
            _FREG,
            _COLUMNS,
            _ROWS,
            Field("start", 45, 6),
            *(Field(f"transform{k}", 4 * k, 4) for k in range(10)),
        ),
    ),
    Operation(
        "tensor_store_scp",
        0x87F,
        (Field("step", 62, 2, base=1), Field("start", 56, 6), _ROWS, _address_field(6), _STRIDE),
        fixed=1 << 48,
        fixed_mask=1 << 48,
    ),
    Operation(
        "tensor_store",
        0x87F,
        (
            Field("step", 62, 2, base=1),
            _FREG,
            Field("bytes", 55, 2, base=16, unit=16),
            _ROWS,
            Field("coop", 49, 2, base=1),
            _address_field(4),
            Field("stride", 4, 44, unit=16, x31=True, signed=True),
        ),
        fixed_mask=1 << 48,
    ),
    Operation("tensor_send", 0x800, (_FREG, _COUNT, _PEER), fixed=0, fixed_mask=3),
    Operation("tensor_recv", 0x800, (_FREG, _FUNCT, _COUNT, _PEER), fixed=1, fixed_mask=3),
    Operation("tensor_broadcast", 0x800, (_FREG, _FUNCT, _COUNT, _HEIGHT), fixed=2, fixed_mask=3),
    Operation("tensor_reduce", 0x800, (_FREG, _FUNCT, _COUNT, _HEIGHT), fixed=3, fixed_mask=3),
    Operation("tensor_wait", 0x830, (Field("event", 0, 4),)),
    Operation("tensor_mask", 0x805, (Field("mask", 0, 16),)),
    Operation("tensor_error", 0x808, (Field("error", 0, 16),)),
    Operation("tensor_coop", 0x804, (Field("neighbourhoods", 16, 4), Field("minions", 8, 8), Field("group", 0, 5))),
    Operation(
        "tensor_conv_size",
        0x802,
        (
            Field("row_step", 56, 8, signed=True),
            Field("rows", 32, 16),
            Field("column_step", 24, 8, signed=True),
            Field("columns", 0, 16),
        ),
    ),
    Operation(
        "tensor_conv_ctrl",
        0x803,
        (Field("row", 32, 16, signed=True), Field("column", 0, 16, signed=True)),
    ),
)
BY_NAME: Final[Mapping[str, Operation]] = {row.name: row for row in OPERATIONS}


def encode(name: str, **values: int) -> Word:
    """Encoder of a tensor operation (programmer's reference manual, chapter 9). A field that is not named has its least
    value, addresses, strides and steps of convolutions 0. ValueError where a value does not fit, or the operation has
    no such field.
    """
    row = BY_NAME[name]
    for given in values:
        if row.field(given) is None:
            raise ValueError(f"{name} has no field {given}: {', '.join(each.name for each in row.fields)}")
    words = [row.fixed, 0]
    for field in row.fields:
        words[field.x31] |= field.put(values.get(field.name, field.base))
    return Word(row.csr, words[0], words[1] if row.takes_x31 else None)


def find_operation(csr: int, value: int) -> Operation | None:
    """Row that a word belongs to, by its CSR and fixed bits; None for another CSR."""
    return next((row for row in OPERATIONS if row.csr == csr and value & row.fixed_mask == row.fixed), None)


def decode(word: Word) -> tuple[str, dict[str, int]] | None:
    """Decoder of a tensor word: the operation's name and its fields, without those of x31 where that is not known; None
    for another CSR (programmer's reference manual, chapter 9).
    """
    row = find_operation(word.csr, word.value)
    if row is None:
        return None
    words = (word.value, word.x31)
    return row.name, {f.name: f.get(from_word) for f in row.fields if (from_word := words[f.x31]) is not None}


def unknown_bits(word: Word) -> int:
    """Bits of the CSR's word that belong to no field of its operation, and do not make it this operation. The notation
    keeps them, so that any word reads back to the same bits.
    """
    row = find_operation(word.csr, word.value)
    if row is None:
        return word.value
    known = row.fixed_mask
    for field in row.fields:
        known |= 0 if field.x31 else field.mask
    return word.value & ~known


def load(
    start: int,
    rows: int = 16,
    address: int = 0,
    *,
    transform: str = "plain",
    masked: bool = False,
    coop: bool = False,
) -> int:
    """Encoder of tensor_load into `rows` lines of L1Scp (manual, chapter 9). An address that is known only at run time
    is or-ed in.
    """
    return encode(
        "tensor_load",
        start=start,
        rows=rows,
        address=address,
        transform=TRANSFORMS.index(transform),
        masked=masked,
        coop=coop,
    ).value


def load_b(rows: int = 16, address: int = 0, *, coop: bool = False) -> int:
    """Encoder of tensor_load to TenB, for the next tensor_fma that takes its right factor from there (manual, chapter
    9).
    """
    return encode("tensor_load_b", rows=rows, address=address, coop=coop).value


def load_l2(line: int, rows: int = 16, address: int = 0, *, masked: bool = False) -> int:
    """Encoder of tensor_load_l2 to a line of the issuing shire's scratchpad (manual, chapter 9)."""
    return encode("tensor_load_l2", line=line, rows=rows, address=address, masked=masked).value


def load_second_word(stride: int, id: int = 0) -> int:
    """Second word of loads: the stride in bytes, a multiple of 64, and the id that a wait names (manual, chapter 9)."""
    return _STRIDE.put(stride) | _ID.put(id)


def fma(
    type: Type,
    m: int = 16,
    n: int = 16,
    words: int = 16,
    *,
    a: int = 0,
    b: int | None = None,
    first: bool = False,
    masked: bool = False,
    offset: int = 0,
    to_registers: bool = False,
    a_unsigned: bool = False,
    b_unsigned: bool = False,
) -> int:
    """Encoder of tensor_fma (manual, chapter 9): m rows, n columns (rounded up to four) and `words` words of 32 bits in
    depth; `b` is a line of L1Scp, None for TenB.
    """
    return encode(
        "tensor_fma",
        type=TYPES.index(type),
        rows=m,
        columns=-(-n // 4) * 4,
        words=words,
        a=a,
        b=b or 0,
        tenb=b is None,
        first=first,
        masked=masked,
        offset=offset,
        to_registers=to_registers,
        a_unsigned=a_unsigned,
        b_unsigned=b_unsigned,
    ).value


def quant(transforms: tuple[str, ...], m: int = 16, n: int = 16, *, freg: int = 0, start: int = 0) -> int:
    """Encoder of tensor_quant (manual, chapter 9); add and mul take the lines of L1Scp from `start` on, one each."""
    numbers = {f"transform{k}": QUANT.index(name) for k, name in enumerate(transforms)}
    return encode("tensor_quant", freg=freg, columns=-(-n // 4) * 4, rows=m, start=start, **numbers).value


def store(rows: int = 16, bytes: int = 64, address: int = 0, *, freg: int = 0, step: int = 1, coop: int = 1) -> int:
    """Encoder of tensor_store from f registers (manual, chapter 9); x31 is the stride itself."""
    return encode("tensor_store", rows=rows, bytes=bytes, address=address, freg=freg, step=step, coop=coop).value


def store_scp(rows: int = 16, address: int = 0, *, start: int = 0, step: int = 1) -> int:
    """Encoder of tensor_store of lines of L1Scp (manual, chapter 9); x31 is the stride itself."""
    return encode("tensor_store_scp", rows=rows, address=address, start=start, step=step).value


def send(peer: int, count: int, freg: int = 0) -> int:
    """Encoder of the tensor_reduce word that sends `count` registers to the minion `peer` (manual, chapter 9)."""
    return encode("tensor_send", peer=peer, count=count, freg=freg).value


def receive(peer: int, count: int, function: str = "move", freg: int = 0) -> int:
    """Encoder of the tensor_reduce word that receives `count` registers from the minion `peer` (manual, chapter 9)."""
    return encode("tensor_recv", peer=peer, count=count, funct=FUNCTIONS[function], freg=freg).value


def broadcast(height: int, count: int, function: str = "move", freg: int = 0) -> int:
    """Encoder of a step of a tree towards the leaves, at a height: of a pair m and m + 2^height the lower one sends
    (manual, chapter 9).
    """
    return encode("tensor_broadcast", height=height, count=count, funct=FUNCTIONS[function], freg=freg).value


def reduce(height: int, count: int, function: str = "fadd", freg: int = 0) -> int:
    """Encoder of a step of a tree towards minion 0, at a height: of a pair m and m + 2^height the upper one sends
    (manual, chapter 9).
    """
    return encode("tensor_reduce", height=height, count=count, funct=FUNCTIONS[function], freg=freg).value
