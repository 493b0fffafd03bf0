# SPDX-License-Identifier: Apache-2.0
"""Instruction lowering: instructions of SSA form as operations of the belt, by one table, and the few that need
several.

Types lose their meaning and keep their width: pointers and i32 are w, i1 is b with 0 or 1. What C leaves undefined may
be anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from polyloom.analysis.effects import is_ordered_access
from polyloom.ir import ssa
from polyloom.ir.ssa import NOWHERE, Instruction, Place
from polyloom.ir.ssa_types import I1, I8, I16, I32, I64
from polyloom.ir.ssa_types import Type as SsaType
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.source.ir import Address, Constant, Op, Operand, Value
from polyloom.targets.belt.value_types import BYTES, Type, Width
from polyloom.transform.ssa.constant_folding import NEGATED

_WIDTHS: Final[dict[str, Width]] = {
    "i1": "b",
    "i8": "b",
    "i16": "h",
    "i32": "w",
    "i64": "d",
    "f32": "w",
    "f64": "d",
    "ptr": "w",
}
SCALES: Final = (8, 4, 2, 1)
OFFSET_BITS: Final = 12
"""The machine's mode: base + index * scale + a signed offset."""
B: Final = Type("b")
W: Final = Type("w")
SAME: Final = {
    **{name: name for name in ("add", "sub", "mul", "and", "or", "xor", "shl")},
    "sdiv": "divs",
    "udiv": "divu",
    "srem": "rems",
    "urem": "remu",
    "lshr": "shru",
    "ashr": "shrs",
    "fadd": "addf",
    "fsub": "subf",
    "fmul": "mulf",
    "fdiv": "divf",
    "fneg": "negf",
}
# Signed, unsigned and float relations are separate mnemonics, as on the Mill: tags tell widths, not signs.
_RELATIONS: Final = {
    "eq": "eql",
    "ne": "neq",
    "slt": "lsss",
    "sle": "leqs",
    "sgt": "gtrs",
    "sge": "geqs",
    "ult": "lssu",
    "ule": "lequ",
    "ugt": "gtru",
    "uge": "gequ",
}
_OF_BITS: Final = {"slt": "ugt", "sle": "uge", "sgt": "ult", "sge": "ule"}
"""Of an i1, taken as signed, 1 is -1."""
_FLOATS: Final = {
    "foeq": "eqlf",
    "folt": "lssf",
    "fole": "leqf",
    "fogt": "gtrf",
    "foge": "geqf",
    "fune": "neqf",
    "funo": "unof",
}
# Unordered relations have no operation: they are complements of the ordered opposite, which is false for a NaN.
_NOT_FLOATS: Final = {"ford": "unof", "fult": "geqf", "fule": "gtrf", "fugt": "leqf", "fuge": "lssf"}
_INTRINSICS: Final = {
    "smin": "mins",
    "smax": "maxs",
    "umin": "minu",
    "umax": "maxu",
    "abs": "abs",
    "uadd.sat": "addus",
    "usub.sat": "subus",
    "sadd.sat": "addss",
    "ssub.sat": "subss",
    "ctpop": "pop",
    "ctlz": "clz",
    "cttz": "ctz",
    "bswap": "bswap",
    "fabs": "absf",
    "sqrt": "sqrtf",
    "copysign": "copysignf",
    "minnum": "minf",
    "maxnum": "maxf",
    "fma": "fmaf",
}
# An immediate is the last operand: a constant in front changes places, by these or by the swapped relation.
COMMUTES: Final = frozenset(
    {
        *("add", "mul", "and", "or", "xor", "eql", "neq", "mins", "maxs", "minu", "maxu"),
        *("addss", "addus", "addf", "mulf", "eqlf", "neqf", "unof"),
    }
)
SWAPPED: Final = {
    "lsss": "gtrs",
    "leqs": "geqs",
    "gtrs": "lsss",
    "geqs": "leqs",
    "lssu": "gtru",
    "lequ": "gequ",
    "gtru": "lssu",
    "gequ": "lequ",
    "lssf": "gtrf",
    "leqf": "geqf",
    "gtrf": "lssf",
    "geqf": "leqf",
}


def belt_type(type: SsaType) -> Type:
    """Belt type of an SSA type: pointers have 4 bytes, flags one."""
    assert not isinstance(type.lanes, str), type
    return Type(_WIDTHS[type.element], type.lanes or 1)


def bit_width(type: Type) -> int:
    return 8 * BYTES[type.width]


def constant(type: Type, number: int) -> Constant:
    """Constant of a type, modulo its width."""
    return Constant(type, number % (1 << bit_width(type)))


def selected_name(i: Instruction) -> str:
    """Mnemonic that an arithmetic instruction is selected as; "" for others."""
    if i.callee in ("fshl", "fshr"):
        # A funnel shift of one value by itself is a rotation; to the right only by a constant, whose complement is one.
        is_rotation = i.operands[0] == i.operands[1]
        return "rotl" if is_rotation and (i.callee == "fshl" or isinstance(i.operands[2], ssa.Constant)) else ""
    return _INTRINSICS.get(i.callee) or SAME.get(i.operation) or ""


def product_words(i: Instruction, makers: Mapping[str, Instruction]) -> tuple[ssa.Operand, ...] | None:
    """Words of whose zero extensions the instruction is the product of 64 bits: one widening multiplication of two
    words."""
    sources = [makers.get(o.name) if isinstance(o, ssa.Value) else None for o in i.operands]
    found = [s.operands[0] for s in sources if s is not None and s.operation == "zext" and s.operands[0].type == I32]
    return tuple(found) if i.operation == "mul" and i.results[0].type == I64 and len(found) == 2 else None


@dataclass(slots=True)
class Emitter:
    """Emitter of a block's operations, mutable: the operations so far, and what SSA values turned out to be; `makers`
    are its instructions by their results, `around` those of the function, `readers` by a value's name what reads it;
    `any_lane` tells of masks that were smeared whether a lane is set."""

    fresh: Callable[[str], str]
    known: dict[str, Operand] = field(default_factory=dict[str, Operand])
    makers: Mapping[str, Instruction] = field(default_factory=dict[str, Instruction])
    around: Mapping[str, Instruction] = field(default_factory=dict[str, Instruction])
    readers: Mapping[str, Sequence[Instruction | None]] = field(
        default_factory=dict[str, "Sequence[Instruction | None]"]
    )
    any_lane: dict[ssa.Operand, Value] = field(default_factory=dict[ssa.Operand, Value])
    ops: list[Op] = field(default_factory=list[Op])
    place: Place = NOWHERE

    def operand(self, operand: ssa.Operand) -> Operand:
        """Belt operand of an SSA operand."""
        match operand:
            case ssa.Value(name, type):
                return self.known.get(name, Value(name, belt_type(type)))
            case ssa.Address(name, offset):
                return Address(name, offset)
            case ssa.Constant(type, value):
                return constant(belt_type(type), value)
            # An undefined value may be any; zero needs no slot where it can be an immediate.
            case ssa.Undef(type):
                return constant(belt_type(type), 0)

    def emit(self, name: str, *operands: Operand, type: Type | None = None, to: str | None = None) -> Value:
        """Append an operation, of the first operand's type where none is given; its result."""
        row = OPS[name]
        result_type = type or (Type("b", operands[0].type.lanes) if row.width == "b" else operands[0].type)
        result = Value(to or self.fresh("t"), result_type)
        # A constant in front is brought to the end, where it can be an immediate of the word.
        if row.operands == (2, 2) and isinstance(operands[0], Constant) and not isinstance(operands[1], Constant):
            if name in COMMUTES:
                operands = operands[::-1]
            elif name in SWAPPED:
                name, operands = SWAPPED[name], operands[::-1]
        width = result_type.width if row.width == "=" else None
        # Of masks, a second result tells whether a lane is set.
        any_lane = (Value(self.fresh("any"), B),) if row.results > 1 else ()
        self.ops.append(Op(name, operands, (result, *any_lane), width, place=self.place))
        return result

    def alias(self, name: str, operand: Operand) -> None:
        self.known[name] = operand


def lower_instruction(emitter: Emitter, i: Instruction) -> None:
    """Append the operations of an instruction."""
    emitter.place = i.place
    given = [emitter.operand(o) for o in i.operands]
    result = i.results[0] if i.results else None
    if i.operation in ("load", "store"):
        _lower_access(emitter, i, given)
    # A fence orders what other processors see, and nothing else runs on this memory.
    elif i.operation == "fence" or (i.operation == "call" and not i.called and result is None):
        return
    elif i.called:
        _lower_call(emitter, i, given)
    elif result is not None:
        found = _lower_value(emitter, i, given, result)
        if found is not None:
            emitter.alias(result.name, found)


def _lower_value(emitter: Emitter, i: Instruction, given: list[Operand], result: ssa.Value) -> Operand | None:
    """Operand that the result is, unless an operation that gives it by its name was emitted."""
    name, type = i.operation, belt_type(result.type)
    to = result.name
    if name in ssa.LANES:
        return _lane_operation(emitter, i, given, type, to)
    source = i.operands[0].type.scalar
    if (folded := _fold_lanes(emitter, i, given)) is not None:
        emitter.emit(*folded, type=type, to=to)
    elif name in ("zext", "sext") and _extending_load(emitter, i) is not None:
        return None  # the load has given it
    elif type.lanes > 1 and name in ("offset", "trunc"):
        return given[0]  # gathers take it apart; stores do it
    elif name in ("copy", "ptrtoint", "inttoptr", "bitcast"):
        return given[0]
    elif name == "offset":
        emitter.emit("add", *given, to=to)
    elif (pair := _match_andn(emitter, i)) is not None:
        emitter.emit("andn", *pair, to=to)
    elif name == "select":
        if (opposite := complemented_condition(emitter, i.operands[0])) is not None:
            given = [emitter.operand(opposite), *given[:0:-1]]
        emitter.emit("pick", *given, type=type, to=to)
    elif name in _RELATIONS:
        # As a signed number a flag of 1 is -1: the order is the reverse of the unsigned one.
        emitter.emit(_RELATIONS[_OF_BITS.get(name, name) if source == I1 else name], *given, to=to)
    # Arithmetic modulo 2 on flags, which must stay 0 or 1 in their byte.
    elif result.type.scalar == I1 and name in ("add", "sub"):
        emitter.emit("xor", *given, to=to)
    elif result.type.scalar == I1 and name == "mul":
        emitter.emit("and", *given, to=to)
    elif (words := product_words(i, emitter.around)) is not None:
        emitter.emit("muluw", *map(emitter.operand, words), type=type, to=to)
    elif name in SAME:
        mask = _maker(emitter, i.operands[-1], "and") if name in ("shl", "lshr", "ashr") else None
        if mask is not None and mask.operands[1] == ssa.Constant(i.results[0].type, i.results[0].type.bits - 1):
            given[1] = emitter.operand(mask.operands[0])  # amounts count modulo the width
        emitter.emit(SAME[name], *given, to=to)
    elif name in ssa.FLOAT_COMPARISONS:
        return _float_comparison(emitter, name, given, to)
    elif name in ssa.CASTS:
        return _lower_cast(emitter, name, source, result.type, given[0], to)
    else:
        return _lower_intrinsic(emitter, i, given, result)
    return None


def _float_comparison(emitter: Emitter, name: str, given: list[Operand], to: str) -> Operand | None:
    """Comparison of floats; where the machine has none, the complement of the opposite one, or two of them."""
    if name in _FLOATS:
        emitter.emit(_FLOATS[name], *given, to=to)
    elif name in _NOT_FLOATS:
        opposite = emitter.emit(_NOT_FLOATS[name], *given)
        emitter.emit("xor", opposite, constant(opposite.type, 1), to=to)
    else:  # one, and its opposite
        either = emitter.emit("or", emitter.emit("lssf", *given), emitter.emit("gtrf", *given))
        if name == "fone":
            return either
        emitter.emit("xor", either, constant(either.type, 1), to=to)
    return None


def _lane_operation(emitter: Emitter, i: Instruction, given: list[Operand], type: Type, to: str) -> Operand | None:
    """Operation on lanes; an operand where it is known already whether any lane is set."""
    match i.operation:
        case "iota":
            emitter.emit("iota", constant(W, 0), type=type, to=to)
        case "splat":
            emitter.emit("splat", *given, type=type, to=to)
        case "smearx" | "smeari":
            emitter.emit(i.operation, *given, type=type, to=to)
            emitter.any_lane.setdefault(i.operands[0], emitter.ops[-1].results[1])
        case "extract":
            # Whether any lane is set, asked of the last lane of a smear, is the smear's own second result.
            smeared = _maker(emitter, i.operands[0], "smeari")
            lanes = given[0].type.lanes
            if smeared is not None and given[1] == constant(W, lanes - 1):
                return emitter.any_lane[smeared.operands[0]]
            emitter.emit("extract", *given, type=type, to=to)
        case _:
            raise AssertionError(i)
    return None


def _fold_lanes(emitter: Emitter, i: Instruction, given: list[Operand]) -> tuple[str, *tuple[Operand, ...]] | None:
    """Fold operations on lanes: numbers from a scalar on, lanes from a number on, masks that are united; mnemonic and
    operands, or None."""
    if not i.results[0].type.lanes or len(given) < 2:
        return None
    splat, numbers = (_maker(emitter, i.operands[k], "splat") for k in (0, 1)), i.operands[::-1]
    first, second = splat
    if i.operation == "add" and first is not None and _maker(emitter, numbers[0], "iota") is not None:
        return "iota", emitter.operand(first.operands[0])
    if i.operation == "sge" and second is not None and _maker(emitter, i.operands[0], "iota") is not None:
        return "remaining", emitter.operand(second.operands[0])
    if i.operation == "select" and i.results[0].type.mask and given[1] == constant(given[1].type, 1):
        return "orm", given[0], given[2]
    return None


def complemented_condition(emitter: Emitter, condition: ssa.Operand) -> ssa.Operand | None:
    """Condition of which this one is the complement, so that the arms or the sense change instead; None for others."""
    made = _maker(emitter, condition, "xor")
    is_complement = made is not None and made.operands[1] == ssa.Constant(made.results[0].type, 1)
    return made.operands[0] if made is not None and is_complement and condition.type.scalar == I1 else None


def _match_andn(emitter: Emitter, i: Instruction) -> tuple[Operand, Operand] | None:
    """Operands of one `andn` for a conjunction with a comparison that nothing else reads, and whose opposite was
    computed anyway."""
    for whole, other in (i.operands, i.operands[::-1]) if i.operation == "and" and i.results[0].type == I1 else ():
        made = emitter.makers.get(other.name) if isinstance(other, ssa.Value) else None
        if made is None or made.operation not in NEGATED or len(emitter.readers[made.results[0].name]) != 1:
            continue
        # Only comparisons in front of this one: operations stand in the order of the program.
        for opposite in takewhile(lambda earlier: earlier is not i, emitter.makers.values()):
            if opposite.operation == NEGATED[made.operation] and opposite.operands == made.operands:
                return emitter.operand(whole), emitter.operand(opposite.results[0])
    return None


def _extending_load(emitter: Emitter, i: Instruction) -> Instruction | None:
    """Load that does an extension to 32 bits itself, because nothing else reads it; None for others."""
    load = _maker(emitter, i.operands[0], "load") if _maker(emitter, i.results[0], i.operation) is i else None
    narrow = load is not None and load.results[0].type.scalar in (I8, I16) and i.results[0].type.bits == 32
    return load if narrow and load is not None and list(emitter.readers[load.results[0].name]) == [i] else None


def _lower_cast(
    emitter: Emitter, name: str, source: SsaType, target: SsaType, given: Operand, to: str
) -> Operand | None:
    """Conversion of a width, or between integers and floats; an operand where the bits stay as they are."""
    type = belt_type(target)
    match name:
        case "trunc":
            narrow = given if given.type == type else emitter.emit("narrow", given, type=type)
            # A flag must be 0 or 1 in its byte: narrowing alone would leave seven other bits.
            if target != I1:
                emitter.ops[-1] = _rename_result(emitter.ops[-1], to)
                return None
            emitter.emit("and", narrow, constant(B, 1), to=to)
        case "zext" if given.type == type:
            return given
        # 0 - x turns a flag into all ones, without a branch or a pick.
        case "sext" if source == I1:
            wide = given if given.type == type else emitter.emit("widenu", given, type=type)
            emitter.emit("sub", constant(type, 0), wide, to=to)
        case "zext":
            emitter.emit("widenu", given, type=type, to=to)
        case "sext":
            emitter.emit("widens", given, type=type, to=to)
        case "fpext":
            emitter.emit("widenf", given, type=type, to=to)
        case "fptrunc":
            emitter.emit("narrowf", given, type=type, to=to)
        case "fptosi" | "fptoui":
            emitter.emit("ftos" if name == "fptosi" else "ftou", given, type=type, to=to)
        case _:
            wide = emitter.emit("widenu", given, type=W) if source == I1 else given
            if source == I1 and name == "sitofp":
                wide = emitter.emit("sub", constant(W, 0), wide)
            emitter.emit("stof" if name == "sitofp" else "utof", wide, type=type, to=to)
    return None


def _rename_result(op: Op, name: str) -> Op:
    return Op(op.name, op.operands, (Value(name, op.results[0].type),), op.width, place=op.place)


def _lower_intrinsic(emitter: Emitter, i: Instruction, given: list[Operand], result: ssa.Value) -> Operand | None:
    """Call of an LLVM intrinsic."""
    name, to, type = i.callee, result.name, belt_type(result.type)
    if name in ssa.REDUCTIONS:
        return _lower_reduction(emitter, i, given[0], to)
    if name in ("fshl", "fshr"):
        _lower_funnel_shift(emitter, name, given, type, to)
    elif result.type.scalar == I1:
        return _bit_intrinsic(emitter, name, given)
    else:
        emitter.emit(_INTRINSICS[name], *given, to=to)
    return None


def _lower_reduction(emitter: Emitter, i: Instruction, vector: Operand, to: str) -> None:
    """Reduction over lanes by log2(lanes) steps of shuffle and operation (docs/targets/belt.md, Vectors)."""
    operation = ssa.REDUCTIONS[i.callee][0]
    name = _INTRINSICS.get(operation) or SAME[operation]
    lanes = vector.type.lanes
    # Each step combines the lower with the upper half; what the other lanes hold no longer matters.
    while lanes > 1:
        lanes //= 2
        vector = emitter.emit(name, vector, emitter.emit("shuffle", vector, constant(W, lanes)))
    emitter.emit("extract", vector, constant(W, 0), type=Type(vector.type.width), to=to)


def _bit_intrinsic(emitter: Emitter, name: str, given: list[Operand]) -> Operand:
    """Intrinsic of a flag (i1), whose 1 is -1 where it is signed, as an operation of logic."""
    match name:
        case "smin" | "umax" | "uadd.sat" | "sadd.sat":
            return emitter.emit("or", *given)
        case "smax" | "umin":
            return emitter.emit("and", *given)
        case "usub.sat" | "ssub.sat":
            return emitter.emit("and", given[0], emitter.emit("xor", given[1], constant(B, 1)))
        case "ctlz" | "cttz":
            return emitter.emit("xor", given[0], constant(B, 1))
        case _:
            return given[0]


def _lower_funnel_shift(emitter: Emitter, name: str, given: list[Operand], type: Type, to: str) -> None:
    """Funnel shift: (a:b) << c, upper half, or (a:b) >> c, lower half; c modulo the width, as shift amounts are here.

    Shifts by width - c would be by the width itself for c = 0, which is a shift by 0 on this machine; two shifts, one
    of them by 1, avoid that.
    """
    a, b, c = given
    width = bit_width(type)
    left = name == "fshl"
    if a == b and left:
        emitter.emit("rotl", a, c, to=to)
        return
    if isinstance(c, Constant):
        amount = c.bits % width
        amount = amount if left else (width - amount) % width
        if a == b:
            emitter.emit("rotl", a, constant(type, amount), to=to)
            return
        if amount == 0:
            emitter.emit("or", a if left else b, constant(type, 0), to=to)
            return
        high, low = constant(type, amount), constant(type, width - amount)
        emitter.emit("or", emitter.emit("shl", a, high), emitter.emit("shru", b, low), to=to)
        return
    other = emitter.emit("xor", c, constant(type, width - 1))  # width - 1 - c: the last step is a shift by 1
    if left:
        lower = emitter.emit("shru", emitter.emit("shru", b, constant(type, 1)), other)
        emitter.emit("or", emitter.emit("shl", a, c), lower, to=to)
    else:
        upper = emitter.emit("shl", emitter.emit("shl", a, constant(type, 1)), other)
        emitter.emit("or", upper, emitter.emit("shru", b, c), to=to)


def _lower_access(emitter: Emitter, i: Instruction, given: list[Operand]) -> None:
    """Lower a load or a store. Under a predicate a load has None as its address, a store None as its value: so its
    address keeps its form."""
    volatile = is_ordered_access(i)
    if i.operation == "load":
        address, scale, offset = _address_mode(emitter, i.operands[0])
        if len(given) > 1:
            address = (emitter.emit("pick", given[1], address[0], type=W), *address[1:])
        result, type, name = i.results[0], belt_type(i.results[0].type), "load"
        readers = emitter.readers.get(result.name, ())
        extension = readers[0] if len(readers) == 1 else None
        if extension is not None and extension.operation in ("zext", "sext") and _extending_load(emitter, extension):
            result, name = extension.results[0], "loads" if extension.operation == "sext" else "loadu"
        # The load gives the extension's result: the instruction that extends emits nothing.
        made = (Value(result.name, belt_type(result.type)),)
        op = Op(name, address, made, type.width, scale, offset, place=i.place, volatile=volatile, memory=i)
    else:
        address, scale, offset = _address_mode(emitter, i.operands[1])
        value, _, *guard = given
        # Of a wider value a store takes the low bytes.
        wide = _maker(emitter, i.operands[0], "trunc")
        if wide is not None and i.operands[0].type.scalar != I1 and wide.operands[0].type.bits <= 32:
            value = emitter.operand(wide.operands[0])
        if guard:
            value = emitter.emit("pick", *guard, value, type=value.type)
        width = belt_type(i.operands[0].type).width
        op = Op("store", (*address, value), (), width, scale, offset, place=i.place, volatile=volatile, memory=i)
    emitter.ops.append(op)


def _address_mode(emitter: Emitter, pointer: ssa.Operand) -> tuple[tuple[Operand, ...], int, int]:
    """Addressing mode base + index * scale + offset: what the block computes of an address that the access does itself;
    operands, scale and offset."""
    base, low = pointer, 0
    while (made := _maker(emitter, base, "offset")) is not None and isinstance(by := made.operands[1], ssa.Constant):
        # Offsets are collected from the access outwards, as far as their sum fits into the field.
        if not -(1 << OFFSET_BITS - 1) <= low + by.value < 1 << OFFSET_BITS - 1:
            break
        base, low = made.operands[0], low + by.value
    made = _maker(emitter, base, "offset")
    if made is None or isinstance(made.operands[1], ssa.Constant):
        return (emitter.operand(base),), 0, low
    base, index = made.operands
    if base.type.lanes and isinstance(base, ssa.Value):
        # A vector of one base is the splat of a pointer: the access takes the scalar and gathers by its index.
        base = emitter.around[base.name].operands[0]
    shift = _maker(emitter, index, "shl")
    if shift is not None and isinstance(by := shift.operands[1], ssa.Constant) and 1 << by.value in SCALES:
        return (emitter.operand(base), emitter.operand(shift.operands[0])), 1 << by.value, low
    return (emitter.operand(base), emitter.operand(index)), 1, low


def _maker(emitter: Emitter, operand: ssa.Operand, operation: str) -> Instruction | None:
    """Instruction of the block that makes the operand by this operation, else None."""
    found = emitter.makers.get(operand.name) if isinstance(operand, ssa.Value) else None
    return found if found is not None and found.operation == operation else None


def _lower_call(emitter: Emitter, i: Instruction, given: list[Operand]) -> None:
    """Call of a routine, with the predicate first if it has one."""
    results = tuple(Value(r.name, belt_type(r.type)) for r in i.results)
    # A guarded call has its predicate last in SSA form, first in words.
    is_guarded = ssa.GUARDED in i.flags
    operands = (given[-1], *given[:-1]) if is_guarded else tuple(given)
    name = "calltr" if is_guarded else "call"
    emitter.ops.append(Op(name, operands, results, callee=i.called, place=i.place, memory=i))
