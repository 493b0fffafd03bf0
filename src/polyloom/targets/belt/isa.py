# SPDX-License-Identifier: Apache-2.0
"""Instruction table of the belt machine: one row per operation (docs/targets/belt.md, Values and faults).

Verifiers, encoder, decoder, notations, documentation and the model's own table follow from it. The operations, their
phases and their modes of overflow are those of the public Mill wiki and forum; row numbers and widths of fields are
this project's.

A row's position is its number in words: rows are only appended. `phase` tells when in a bundle an operation reads and
drops (docs/targets/belt.md, Time), `unit` which slots of a member execute it, `latency` is a key of the member's table.
Modes of overflow are rows of their own: bare names wrap, `ss` and `us` saturate signed and unsigned, `sx` and `ux` give
NaR, `sw` and `uw` widen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

# Reader, compute, call, pick and writer phase: the order in which a Mill bundle acts (docs/targets/belt.md, Time).
Phase = Literal["R", "C", "K", "P", "X"]
PHASES: Final[tuple[Phase, ...]] = ("R", "C", "K", "P", "X")
Unit = Literal["alu", "shift", "mul", "fp", "div", "shuf", "fill", "pick", "spill", "ls", "control", "con", "conform"]
# A bundle has an execution half (E) and a flow half (F); scratch and picks have slots of their own, as on the Mill.
SLOTS: Final[Mapping[Unit, str]] = {
    **dict.fromkeys(("alu", "shift", "mul", "fp", "div", "shuf"), "E"),
    **dict.fromkeys(("ls", "control", "con", "conform"), "F"),
    "fill": "R",
    "pick": "P",
    "spill": "W",
}
"""The kind of slot whose members execute a unit's operations."""
MANY: Final = -1
"""Operands or results: a list, as long as the operation says."""


@dataclass(frozen=True, slots=True)
class Op:
    """Instruction row. `operands` is (least, most), predicates included; `results` their number.

    `width`: what states the result's or the access's width: "" (the operands), "=" (a field), "b" (a comparison's), "2"
    (twice the operands'). `immediate`: the last operand may be a constant from -128 to 127. `strict`: a None among the
    operands makes all results None, else a NaR makes them NaR (docs/targets/belt.md, Values and faults).
    """

    name: str
    phase: Phase
    unit: Unit
    latency: str
    operands: tuple[int, int]
    results: int
    width: str = ""
    immediate: bool = False
    strict: bool = True


def _alu_op(name: str, width: str = "", operands: int = 2) -> Op:
    """Row of the arithmetic unit; two operands allow an immediate, one result of the operands' width or of a
    comparison's."""
    return Op(name, "C", "alu", "compare" if width == "b" else "alu", (operands, operands), 1, width, operands == 2)


def _overflow_family(name: str, unit: Unit) -> tuple[Op, ...]:
    """Seven rows of one operation: modulo, saturating, excepting and widening, as the Mill wiki lists them for
    `add`."""
    return tuple(
        Op(f"{name}{mode}", "C", unit, unit, (2, 2), 1, "2" if mode in ("sw", "uw") else "", True)
        for mode in ("", "ss", "us", "sx", "ux", "sw", "uw")
    )


def _float_op(name: str, latency: str, operands: int = 2, width: str = "") -> Op:
    """Row of IEEE 754 arithmetic: no modes of overflow, no immediate; divisions and roots have a unit of their own."""
    return Op(name, "C", "div" if latency == "div" else "fp", latency, (operands, operands), 1, width)


ROWS: Final[tuple[Op, ...]] = (
    *_overflow_family("add", "alu"),
    *_overflow_family("sub", "alu"),
    *(_alu_op(name) for name in ("and", "or", "xor", "andn")),
    *(_alu_op(name, "b") for name in ("eql", "neq", "lsss", "leqs", "gtrs", "geqs", "lssu", "lequ", "gtru", "gequ")),
    *(_alu_op(name) for name in ("mins", "maxs", "minu", "maxu")),
    *(_alu_op(name, operands=1) for name in ("abs", "not", "clz", "ctz", "pop", "bswap")),
    *(Op(name, "C", "shift", "shift", (2, 2), 1, "", True) for name in ("shl", "shrs", "shru", "rotl")),
    *_overflow_family("mul", "mul"),
    Op("muladd", "C", "mul", "mul", (3, 3), 1),  # a * b + c, members that fuse
    Op("shladd", "C", "shift", "shift", (3, 3), 1, "", True),  # (a << c) + b, members that fuse
    *(Op(name, "C", "div", "div", (2, 2), 1, "", True) for name in ("divs", "divu", "rems", "remu")),
    # To the width of the field; of a vector, widening gives two results of half as many lanes: low lanes, high lanes.
    *(Op(name, "C", "alu", "widen", (1, 1), 1, "=") for name in ("widens", "widenu", "narrow", "narrowss", "narrowus")),
    *(Op(name, "C", "shuf", "widenv", (1, 1), 2, "=") for name in ("widensv", "widenuv")),
    *(Op(name, "C", "shuf", "widenv", (2, 2), 1, "=") for name in ("narrowv",)),
    *(_float_op(name, "float") for name in ("addf", "subf", "mulf", "minf", "maxf")),
    _float_op("fmaf", "fused", 3),
    _float_op("divf", "div"),
    _float_op("sqrtf", "div", 1),
    *(_float_op(name, "alu", 1) for name in ("negf", "absf")),
    _float_op("copysignf", "alu"),
    # Ordered: false where an operand is a NaN, as C's operators are (neqf is not); `unof` tells whether one is.
    *(_float_op(name, "compare", width="b") for name in ("eqlf", "neqf", "lssf", "leqf", "gtrf", "geqf", "unof")),
    *(_float_op(name, "float", 1, "=") for name in ("stof", "utof", "ftos", "ftou", "widenf", "narrowf")),
    # Lanes. `splat`: to the lanes of the issue; `shuffle v, k`: lane j is v's lane j + k, modulo the lanes.
    *(Op(name, "C", "shuf", "shuffle", (1, 1), 1) for name in ("splat", "iota")),
    *(Op(name, "C", "shuf", "shuffle", (2, 2), 1, "", True) for name in ("shuffle", "extract")),
    Op("inject", "C", "shuf", "shuffle", (3, 3), 1, "", True),  # v, x, k: v with x in lane k
    *(Op(name, "C", "alu", "smear", (1, 1), 1, strict=False) for name in ("any", "all")),
    *(Op(name, "C", "alu", "smear", (1, 1), 2, strict=False) for name in ("smearx", "smeari")),
    Op("orm", "C", "alu", "alu", (2, 2), 1, strict=False),  # true beats NaR
    # n: lane k is true where k >= n; the second result tells whether any is.
    Op("remaining", "C", "alu", "smear", (1, 1), 2, "b"),
    # Reader phase: a constant, like a fill, is on the belt before anything of the same bundle computes.
    Op("con", "R", "con", "con", (0, 0), 1, "=", strict=False),
    Op("fill", "R", "fill", "fill", (0, 0), 1, "=", strict=False),  # scratch, renamed by rotate
    Op("fillx", "R", "fill", "fill", (0, 0), 1, "=", strict=False),  # scratch that does not rotate
    *(Op(name, "C", "ls", "load", (1, 2), 1, "=", strict=False) for name in ("load", "loads", "loadu")),
    # load gives the width of the field; loads and loadu widen to w, with the sign or zeros.
    Op("store", "X", "ls", "store", (2, 3), 0, "=", strict=False),
    Op("call", "K", "control", "call", (0, MANY), MANY, strict=False),
    Op("calltr", "K", "control", "call", (1, MANY), MANY, strict=False),
    Op("pick", "P", "pick", "pick", (2, 3), 1, strict=False),
    # Not strict: it turns a None into the initial value, which is how a recurrence starts in a stage after the first.
    Op("recur", "P", "pick", "pick", (2, 2), 1, strict=False),
    Op("spill", "X", "spill", "spill", (1, 1), 0, "=", strict=False),
    Op("spillx", "X", "spill", "spill", (1, 1), 0, "=", strict=False),
    Op("scratchf", "X", "control", "control", (0, 0), 0, strict=False),
    Op("conform", "X", "conform", "conform", (0, MANY), 0, strict=False),  # the belt becomes the list
    *(Op(name, "X", "control", "control", (0, MANY), 0, strict=False) for name in ("br", "inner", "leave", "retn")),
    *(
        Op(name, "X", "control", "control", (1, MANY), 0, strict=False)
        for name in ("brtr", "brfl", "leavetr", "leavefl")
    ),
    # Last, out of its family's order: the number of a row is part of the file format, so rows are only appended.
    Op("shrsadd", "C", "shift", "shift", (3, 3), 1, "", True),  # (a >> c, with the sign) + b, members that fuse
)
OPS: Final[Mapping[str, Op]] = {op.name: op for op in ROWS}
NUMBERS: Final[Mapping[str, int]] = {op.name: number for number, op in enumerate(ROWS)}

BY_WIDTH: Final = ("shift", "mul")
"""Keys of latency that a member may give by width. Their operations state the width of their first operand, because a
None that stands for a missing result has no width, and what is computed of it must drop in its bundle nevertheless."""
LANED: Final = frozenset(
    {"con", "fill", "fillx", "spill", "spillx", "load", "loads", "loadu", "splat", "iota", "remaining"}
)
"""Operations that state lanes."""


def states_width(op: Op) -> bool:
    """Whether an issue of `op` states a width: of memory, scratch or the result ("="), or of its first operand.
    Elsewhere the width is the operand's tag, as on the Mill (docs/targets/belt.md, Values and faults)."""
    return op.width == "=" or op.latency in BY_WIDTH


def predicate_count(op: Op) -> int:
    """Number of operands before the list of an operation that takes one: the predicate of calltr, brtr, leavefl and so
    on."""
    return op.operands[0] if op.operands[1] == MANY else 0
