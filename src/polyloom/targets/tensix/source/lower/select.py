# SPDX-License-Identifier: Apache-2.0
"""Instruction selection: each operation of a vector kernel becomes machine instructions of `shapes`, `assign` excepted.

Immediates that an instruction cannot hold become literals in registers. What is known only at run time is computed by
scalar code beside; fields of words take its low bits. Values that turn out to be others (copies, exchanges, constant
registers) are replaced. Encodings and modes: ISA documentation, one page per instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.ir.ssa import (
    NOWHERE,
    Block,
    Constant,
    Function,
    Instruction,
    Operand,
    Place,
    Undef,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_types import I1, I32
from polyloom.targets.tensix.source.lower.literals import HIGH_HALF, UNSIGNED, literal_loads
from polyloom.targets.tensix.source.lower.shapes import CONSTANTS, PINNED, REGISTER, make_instruction, vector_constant
from polyloom.targets.tensix.source.operations import VECTOR, called_operation
from polyloom.targets.tensix.words.isa import Member
from polyloom.transform.ssa.function_editing import names, with_operands
from polyloom.twos_complement import sign_extend

ZERO, ONE, MINUS_ONE = vector_constant(0), vector_constant(0x3F800000), vector_constant(0xBF800000)
_SIGN: Final = 1 << 31
_SMALLER, _LARGER = 1, 9
"""Modes of SFPSWAP: what its first result is."""
_SIMPLE: Final[Mapping[str, str]] = {
    "sfpmad": "SFPMAD",
    "sfparecip": "SFPARECIP",
    "sfpabs": "SFPABS",
    "sfpnot": "SFPNOT",
    "sfplz": "SFPLZ",
    "sfpexexp": "SFPEXEXP",
    "sfpexman": "SFPEXMAN",
    "sfpcast": "SFPCAST",
    "sfplut": "SFPLUT",
    "sfplutfp32_6r": "SFPLUTFP32.6",
    "sfptransp": "SFPTRANSP",
    "sfpand": "SFPAND",
    "sfpor": "SFPOR",
    "sfpxor": "SFPXOR",
    "sfpshft2_subvec_shfl1": "SFPSHFT2",
    "load": "SFPLOAD",
}
"""Operations whose operands, immediates and results are those of one shape, in its order."""


def select_instructions(function: Function, member: Member) -> Function:
    """Instruction selection of a function."""
    selection = _Selection(function, member)
    blocks = tuple([selection.block(block) for block in function.blocks])
    changed = tuple(with_operands(block, selection.operand) for block in blocks)
    return replace(function, blocks=changed)


@dataclass(slots=True)
class _Selection:
    """Selection in work. Mutable: the instructions of the block in work, what values turned out to be, and which are
    constant registers of the program.
    """

    function: Function
    member: Member
    fresh: Callable[[str], str] = field(init=False)
    known: dict[str, Operand] = field(default_factory=dict[str, Operand])
    literals: dict[str, int] = field(default_factory=dict[str, int])
    made: list[Instruction] = field(default_factory=list[Instruction])
    registers: set[str] = field(default_factory=set[str])
    used: frozenset[str] = frozenset()
    place: Place = NOWHERE

    def __post_init__(self) -> None:
        self.fresh = names(self.function)
        used = (o for b in self.function.blocks for i in b.instructions for o in i.operands)
        self.used = frozenset(o.name for o in used if isinstance(o, Value))

    def operand(self, operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand.name in self.known:
            operand = self.known[operand.name]
        return operand

    def block(self, block: Block) -> Block:
        self.made = []
        for instruction in block.instructions:
            self.place = instruction.place
            self._select_instruction(instruction)
        return replace(block, instructions=tuple(self.made))

    def _select_instruction(self, instruction: Instruction) -> None:
        row = called_operation(instruction)
        # Assignments wait for placement; words and prints are in their final form already.
        if row is None or row.name in ("assign", "word") or row.group == "printing":
            self.made.append(instruction)
            return
        operands, results = instruction.operands, instruction.results
        count = sum(operand.type == VECTOR for operand in operands)
        if row.name in _SIMPLE:
            vectors = tuple(o for o in operands if o.type == VECTOR)
            scalars = tuple(o for o in operands if o.type != VECTOR)
            self._emit(_SIMPLE[row.name], vectors, scalars, *results)
        elif row.name == "sfpswap" and (bound := self._bound_register(operands, results)) is not None:
            self._emit("SFPSWAP.c", *bound)
        elif row.name == "sfpswap" and _constant_value(operands[2]):
            self._emit("SFPSWAP", operands[:2], (operands[2],), *results)
        elif row.name in ("store", "sfpstochrnd_v"):
            self._emit_store_or_rounding(row.name, operands, results)
        elif not results:
            self._select_effect(row.name, operands)
        # A plain exchange needs no instruction: the two names change places.
        elif row.name == "sfpswap":
            self.known[results[0].name], self.known[results[1].name] = operands[1], operands[0]
        elif count == 0:
            self._select_source(row.name, operands, results[0])
        else:
            self._select_value(row.name, operands, results[0])

    def _bound_register(
        self, operands: tuple[Operand, ...], results: tuple[Value, ...]
    ) -> tuple[tuple[Operand, ...], tuple[int, ...], Value] | None:
        """Minimum or maximum with a constant register, which SFPSWAP does not write, of which only one is used (ISA
        documentation, page of `SFPSWAP`): its operands, mode and result.
        """
        a, b, mode = *operands[:2], _constant_value(operands[2])
        used = [n for n, result in enumerate(results) if result.name in self.used]
        kept = [each for each in (a, b) if isinstance(each, Value) and each.name in self.registers]
        if mode not in (_SMALLER, _LARGER) or len(used) != 1 or len(kept) != 1:
            return None
        (number,), (bound,) = used, kept
        takes_smaller = (mode == _SMALLER) == (number == 0)
        return (b if bound == a else a, bound), (_SMALLER if takes_smaller else _LARGER,), results[number]

    def _emit_store_or_rounding(self, name: str, operands: tuple[Operand, ...], results: tuple[Value, ...]) -> None:
        if name == "store":
            self._emit("SFPSTORE", operands[:1], operands[1:])
        else:
            self._emit("SFP_STOCH_RND.v", operands[:2], operands[2:], *results)

    def _select_effect(self, name: str, operands: tuple[Operand, ...]) -> None:
        register = _constant_value(operands[0])
        match name:
            case "config_write":
                self._emit("SFPCONFIG", (operands[1],), (register, 0))
            case "lreg_write":
                self.made.append(Instruction("call", (operands[1], operands[0]), callee=f"@{PINNED}", place=self.place))
            case _:
                raise AssertionError(f"`{name}` has no machine instruction")

    def _alias(self, result: Value, found: Operand) -> None:
        if found != result:
            self.known[result.name] = found

    def _select_source(self, name: str, operands: tuple[Operand, ...], result: Value) -> None:
        """Selection of an operation without vector operands."""
        match name:
            case "splat" if isinstance(operands[0], Constant):
                self._alias(result, self._load_literal(operands[0].value & 0xFFFFFFFF, result))
            case "splat":
                self._broadcast_scalar(operands[0], result)
            case "sfploadi":
                self._emit("SFPLOADI", (), (operands[1], operands[0]), result)
            case "undefined":
                # Lanes without a value may hold anything, so that no instruction is needed to make one.
                self.known[result.name] = Undef(VECTOR)
            case "rand":
                self._emit("SFPMOV.random", (), (9, 8), result)
            case "config_read" if (bits := _FIXED.get(_constant_value(operands[0]))) is not None:
                self.known[result.name] = vector_constant(bits)
            case _:
                if name == "config_read":
                    self.registers.add(result.name)
                self.made.append(replace(_register(operands[0]), results=(result,), place=self.place))

    def _select_value(self, name: str, operands: tuple[Operand, ...], result: Value) -> None:
        a, *rest = operands
        match name:
            case "sfpmul24":
                self._emit("SFPMUL24", (a, rest[0], ZERO), (rest[1],), result)
            case "sfpmul":
                self._emit("SFPMUL", (a, rest[0], ZERO), (rest[1],), result)
            case "sfpadd":
                self._emit("SFPADD", (ONE, a, rest[0]), (rest[1],), result)
            case "sfpsub":
                self._select_subtract(a, rest[0], result)
            case "sfpmov" if _constant_value(rest[0]) and (bits := self._known_bits(a)) is not None:
                self._alias(result, self._load_literal(bits ^ _SIGN, result))
            case "sfpmov" if _constant_value(rest[0]):
                self._emit("SFPMOV", (a,), (1,), result)
            case "sfpmov":
                self.known[result.name] = a
            case "sfpiadd_v" if _constant_value(rest[1]) == 6:
                self._select_difference(rest[0], a, result)
            case "sfpiadd_v":
                self._select_sum(a, rest[0], result)
            case "sfpiadd_i":
                self._select_add_number(a, rest[0], result)
            case "sfplutfp32_3r":
                index = self._load_literal(3, self._new())  # L7 names the register that is written
                self._emit("SFPLUTFP32.3", (a, *rest[:3], index), (rest[3],), result)
            case _:
                self._select_field_operation(name, a, rest, result)

    def _select_field_operation(self, name: str, a: Operand, rest: list[Operand], result: Value) -> None:
        given = rest[0]
        match name:
            case "sfpsetexp_v" | "sfpsetman_v" | "sfpsetsgn_v":
                mode = _constant_value(rest[1])
                self._emit(name.removesuffix("_v").upper(), (given, a), (mode,), result)
            case "sfpsetexp_i":
                self._emit("SFPSETEXP.i", (a,), (self._low_bits(given, 255), 1), result)
            case "sfpsetsgn_i":
                self._emit("SFPSETSGN.i", (a,), (self._low_bits(given, 1), 1), result)
            case "sfpdivp2":
                self._emit("SFPDIVP2", (a,), (self._low_bits(given, 255), rest[1]), result)
            case "sfpsetman_i" if isinstance(given, Constant) and not given.value & 0x7FF:
                self._emit("SFPSETMAN.i", (a,), (given.value >> 11 & 0xFFF, 1), result)
            case "sfpsetman_i":
                self._emit("SFPSETMAN", (self._broadcast(given), a), (0,), result)
            case "sfpshft_v":
                mode = _constant_value(rest[1])
                self._emit("SFPSHFT2.v", (a, given), (5,), result) if not mode else self._emit(
                    "SFPSHFT", (a, given), (mode,), result
                )
            case "sfpshft_i":
                self._select_shift(a, given, _constant_value(rest[1]), result)
            case "sfpstochrnd_i":
                mode = (
                    _constant_value(rest[1]) | 8
                )  # the immediate, and not a register, says how far integers are descaled
                self._emit("SFP_STOCH_RND", (a,), (self._low_bits(given, 31), mode, rest[2]), result)
            case _:
                raise AssertionError(f"`{name}` has no machine instruction")

    def _select_shift(self, a: Operand, by: Operand, mode: int, result: Value) -> None:
        amount = self._shift_amount(by)
        if self.member == "blackhole":
            self._emit("SFPSHFT.c", (a,), (amount, mode | 5), result)
        else:
            self._emit("SFPSHFT.i", (a,), (amount, mode | 1), result)

    def _shift_amount(self, by: Operand) -> Operand:
        """Shift amount: the low five bits of a magnitude, with its sign (ISA documentation, page of `SFPSHFT`)."""
        if isinstance(by, Constant):
            return integer_constant(I32, by.value & 31 if by.value >= 0 else -(-by.value & 31))
        zero, most = Constant(I32, 0), Constant(I32, 31)
        right = self._emit_scalar("and", self._emit_scalar("sub", zero, by), most)
        is_right = Value(self.fresh("right"), I1)
        self.made.append(Instruction("slt", (by, zero), (is_right,), place=self.place))
        return self._emit_scalar(
            "select", is_right, self._emit_scalar("sub", zero, right), self._emit_scalar("and", by, most)
        )

    def _select_subtract(self, a: Operand, b: Operand, result: Value) -> None:
        bits = self._known_bits(b)
        if bits is None:
            self._emit("SFPMAD", (b, MINUS_ONE, a), (0,), result)
        else:
            # A literal is negated at compile time; the sum then needs no constant register for −1.
            self._emit("SFPADD", (ONE, a, self._load_literal(bits ^ _SIGN, self._new())), (0,), result)

    def _select_difference(self, a: Operand, b: Operand, result: Value) -> None:
        """Integer difference a - b."""
        bits = self._known_bits(b)
        if bits is not None and _fits_12_bits(-sign_extend(bits, 32)):
            self._emit("SFPIADD.i", (a,), (-sign_extend(bits, 32), 5), result)
        else:
            self._emit("SFPIADD", (a, b), (6,), result)

    def _select_sum(self, a: Operand, b: Operand, result: Value) -> None:
        # SFPIADD with a 12-bit immediate saves the load of a literal and a register.
        for one, other in (a, b), (b, a):
            bits = self._known_bits(other)
            if bits is not None and _fits_12_bits(sign_extend(bits, 32)):
                return self._emit("SFPIADD.i", (one,), (sign_extend(bits, 32), 5), result)
        return self._emit("SFPIADD", (a, b), (4,), result)

    def _select_add_number(self, a: Operand, number: Operand, result: Value) -> None:
        if isinstance(number, Constant) and _fits_12_bits(number.value):
            self._emit("SFPIADD.i", (a,), (number.value, 5), result)
        else:
            self._emit("SFPIADD", (a, self._broadcast(number)), (4,), result)

    def _known_bits(self, operand: Operand) -> int | None:
        found = self.operand(operand)
        if isinstance(found, Constant):
            return found.value & 0xFFFFFFFF
        return self.literals.get(found.name) if isinstance(found, Value) else None

    def _broadcast(self, scalar: Operand) -> Operand:
        if isinstance(scalar, Constant):
            return self._load_literal(scalar.value & 0xFFFFFFFF, self._new())
        value = self._new()
        self._broadcast_scalar(scalar, value)
        return value

    def _load_literal(self, bits: int, result: Value) -> Operand:
        # Constant registers cost neither a word nor a register.
        if bits in CONSTANTS:
            return vector_constant(bits)
        self.literals[result.name] = bits
        (mode, number), *more = literal_loads(bits)
        if not more:
            self._emit("SFPLOADI", (), (mode, number), result)
            return result
        low = self._new("low")
        self._emit("SFPLOADI", (), (mode, number), low)
        self._emit("SFPLOADI.half", (low,), more[0], result)
        return result

    def _broadcast_scalar(self, scalar: Operand, result: Value) -> None:
        low = self._new("low")
        high = self._emit_scalar("lshr", scalar, Constant(I32, 16))
        self._emit("SFPLOADI", (), (UNSIGNED, self._low_bits(scalar, 0xFFFF)), low)
        self._emit("SFPLOADI.half", (low,), (HIGH_HALF, high), result)

    def _low_bits(self, number: Operand, mask: int) -> Operand:
        if isinstance(number, Constant):
            return Constant(I32, number.value & mask)
        return self._emit_scalar("and", number, Constant(I32, mask))

    def _emit_scalar(self, operation: str, *operands: Operand) -> Value:
        value = Value(self.fresh("scalar"), I32)
        self.made.append(Instruction(operation, operands, (value,), place=self.place))
        return value

    def _new(self, name: str = "literal") -> Value:
        return Value(self.fresh(name), VECTOR)

    def _emit(
        self, name: str, operands: tuple[Operand, ...], immediates: tuple[int | Operand, ...], *results: Value
    ) -> None:
        self.made.append(make_instruction(name, operands, immediates, results, place=self.place))


_FIXED: Final = {register: bits for bits, register in CONSTANTS.items()}


def _register(number: Operand) -> Instruction:
    return Instruction("call", (number,), callee=f"@{REGISTER}")


def _constant_value(operand: Operand) -> int:
    assert isinstance(operand, Constant), "an immediate, as the verifier says"
    return operand.value


def _fits_12_bits(number: int) -> bool:
    return -2048 <= number < 2048
