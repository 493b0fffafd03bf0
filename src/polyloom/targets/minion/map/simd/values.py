# SPDX-License-Identifier: Apache-2.0
"""Instruction selection for expressions in vector registers: operations as packed instructions, on elements and
constants (manual, chapters 3 to 6). Results of operations on narrow types are brought back into range.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from polyloom.ir.nest import Apply, Expression, Index, Node, assignments, cell
from polyloom.ir.numbers import NUMPY, WIDTH, exact_reciprocal
from polyloom.ir.operations import BY_NAME, ElementType, may_divide_by_zero
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine
from polyloom.targets.minion.map.simd.elements import Around
from polyloom.targets.minion.map.simd.quotients import Quotients, constant_bits

_DIRECT: Final = {
    ("add", "f32"): "fadd.ps",
    ("sub", "f32"): "fsub.ps",
    ("mul", "f32"): "fmul.ps",
    ("min", "f32"): "fmin.ps",
    ("max", "f32"): "fmax.ps",
    ("add", "i32"): "fadd.pi",
    ("sub", "i32"): "fsub.pi",
    ("mul", "i32"): "fmul.pi",
    ("min", "i32"): "fmin.pi",
    ("max", "i32"): "fmax.pi",
    ("and", "i32"): "fand.pi",
    ("or", "i32"): "for.pi",
    ("xor", "i32"): "fxor.pi",
}
# The unit has eq, lt and le; the other two exchange operands.
_COMPARE: Final = {
    "eq": ("feq", False),
    "lt": ("flt", False),
    "le": ("fle", False),
    "gt": ("flt", True),
    "ge": ("fle", True),
}
_JOINS: Final = {"or": "for", "and": "fand"}
"""Of conditions, whose lanes are all ones or zero."""
_FEW: Final = 6
"""Free vector registers below which expressions are computed with as few as possible."""
_ROUTINES: Final = (("sqrt", "f32"),)
_IMMEDIATES: Final = range(-512, 512)
_SINGLE: Final = (("neg", "f32"), ("abs", "f32"), ("to_f32", "i32"), ("round_i32", "f32"))
"""Operations that are one instruction, beside those of `_DIRECT`."""
_NARROW: Final = ("i8", "i16", "u8", "u16")


@dataclass(slots=True)
class Values(Quotients):
    """Writer of expressions into `text`. `dying` counts the reads that are left of locals which are dead behind the
    statement, and `pending`, by registers, operands that have been read and not yet used; `saves`: registers are
    scarce, as several rounds of a loop are interleaved; `stored` is what the statement stores, of which no more bits
    count than the element has.
    """

    dying: Counter[str] = field(default_factory=Counter[str])
    pending: Counter[str] = field(default_factory=Counter[str])
    saves: bool = False
    stored: Expression | None = None

    def drop(self, value: tuple[str, bool]) -> None:
        """Gives a temporary back; of a local that is about to die, one reader less."""
        if value[1]:
            self.text.vectors.give(value[0])
        elif self.pending[value[0]]:
            self.pending[value[0]] -= 1

    def value(self, value: Expression, around: Around, into: str | None = None) -> tuple[str, bool]:
        """Value of an expression: a register, and whether it is a temporary of the caller's; `into` is where the result
        has to be.
        """
        match value:
            case Reference():
                return self._reference(value, around, into)
            case Constant():
                return self.move_value(self.constant("bits", constant_bits(value)), into)
            case Index():
                return self._index(value, around, into)
            case Apply():
                return self._apply(value, around, into)

    def _reference(self, reference: Reference, around: Around, into: str | None) -> tuple[str, bool]:
        """Element of an array: from a register that holds it, else loaded."""
        own = cell(reference)
        local = around.locals.get(reference.name)
        if local and self.dying[reference.name] == 1 and not self.pending[local]:
            # Its last use, and nobody else has still to read it: the register is the reader's now.
            del self.dying[reference.name]
            around.live[reference.name] = ""
            return self.move_value((local, True), into)
        if local and reference.name in self.dying:
            self.dying[reference.name] -= 1
            self.pending[local] += 1
            return self.move_value((local, False), into)
        found = local or around.held.get(own) or around.loaded.get(own)
        if found is not None:
            return self.move_value((found, False), into)
        made = into or self.text.vectors.take(reference.span)
        self.load(reference, around, made)
        return made, into is None

    def _index(self, value: Index, around: Around, into: str | None) -> tuple[str, bool]:
        """Value of an affine form of loops, as an operand."""
        made = into or self.text.vectors.take(value.span)
        self.affine_lanes(value.value, around, made)
        # A counter below 2^24 is exact as a float; larger ones round to nearest as the source's conversion does.
        if value.dtype == "f32":
            self.text.add(f"fcvt.ps.pw {made}, {made}")
        self._narrow(value.dtype, made)
        return made, into is None

    def affine_lanes(self, form: Affine, around: Around, into: str) -> None:
        """Value of an affine form in every lane, as integers."""
        self.integer(form, around, "t0", "t1")
        self.text.add(f"fbcx.ps {into}, t0")
        # The scalar part is broadcast once; only the vectorized loop's coefficient differs from lane to lane.
        step = 0 if around.lane is None else form.coefficient(around.lane)
        if step:
            lanes = self.constant("lanes", step)
            self.text.add(f"fadd.pi {into}, {into}, {lanes[0]}")
            self.drop(lanes)

    def _apply(self, value: Apply, around: Around, into: str | None) -> tuple[str, bool]:
        """Operation with its operands."""
        if (scaled := _multiplication(value)) is not None:
            return self._apply(scaled, around, into)
        # Registers have no types: other readings of the same bits are no instruction.
        if value.operation in ("bits_i32", "bits_f32"):
            return self.value(value.operands[0], around, into)
        value = invert_selection(value)
        by = self.known_divisor(value, around)
        if by is not None:
            return self.divide_by_known(value, self.value(value.operands[0], around), by, into)
        if value.operation == "madd" and value.dtype == "f32":
            return self._multiply_add(value, around, into)
        conditional = value.operation == "select"
        tests = frozenset((0,)) if conditional else frozenset[int]()
        # What an instruction itself holds needs no register.
        operands = self._operands(value.operands[: 1 if immediate(value) is not None else None], around, tests)
        return self._write_operation(value, operands, [register for register, _ in operands], into)

    def _operands(
        self, values: Sequence[Expression], around: Around, tests: frozenset[int] = frozenset()
    ) -> list[tuple[str, bool]]:
        """Operands in their order; where registers are scarce, those that need most are computed first (Sethi, Ullman
        1970). Elsewhere loads of the first operands go ahead of what waits for others. `tests` are conditions.
        """
        found: dict[int, tuple[str, bool]] = {}
        saves = self.saves or len(self.text.vectors.free) < _FEW
        for n in sorted(range(len(values)), key=lambda n: (-registers_needed(values[n]) * saves, n)):
            found[n] = self._test(values[n], around) if n in tests else self.value(values[n], around)
        return [found[n] for n in range(len(values))]

    def _write_operation(
        self, value: Apply, operands: list[tuple[str, bool]], registers: list[str], into: str | None
    ) -> tuple[str, bool]:
        """Operation into the register that was asked for, an operand's, or a new one."""
        # Only single instructions may overwrite an operand: longer sequences write before they have read all.
        own = next((register for register, temporary in operands if temporary), None)
        made = into or (own if own is not None and _is_single(value) else self.text.vectors.take(value.span))
        self._operation(value, made, registers)
        for operand in operands:
            if operand[0] != made:
                self.drop(operand)
        return made, into is None

    def _multiply_add(self, value: Apply, around: Around, into: str | None) -> tuple[str, bool]:
        """Fused multiply-add; negations of operands go into its sign variants."""
        a, b, c = value.operands
        # fmadd, fmsub, fnmsub and fnmadd differ in the signs of product and addend, so that no negation costs an
        # instruction (RISC-V unprivileged manual, chapter F).
        signs = [isinstance(o, Apply) and o.operation == "neg" for o in (a, b, c)]
        plain = [o.operands[0] if isinstance(o, Apply) and o.operation == "neg" else o for o in (a, b, c)]
        operands = self._operands(plain, around)
        name = {(False, False): "fmadd", (False, True): "fmsub", (True, False): "fnmsub", (True, True): "fnmadd"}[
            signs[0] != signs[1], signs[2]
        ]
        # A temporary operand is read before the result is written, so that it may hold the result.
        own = next((register for register, temporary in operands if temporary), None)
        made = into or own or self.text.vectors.take(value.span)
        self.text.add(f"{name}.ps {made}, {', '.join(register for register, _ in operands)}")
        for operand in operands:
            if operand[0] != made:
                self.drop(operand)
        return made, into is None

    def _test(self, value: Expression, around: Around) -> tuple[str, bool]:
        """Condition of a selection: lanes that are not 0 hold. A comparison is used as it is, without making 0 and 1 of
        it.
        """
        if isinstance(value, Apply) and _is_condition(value):
            joins = value.operation in _JOINS
            operands = self._operands(value.operands, around, frozenset((0, 1)) if joins else frozenset[int]())
            made = self.text.vectors.take(value.span)
            registers = [register for register, _ in operands]
            if joins:
                self.text.add(f"{_JOINS[value.operation]}.pi {made}, {', '.join(registers)}")
            else:
                self._compare(value, made, registers)
            for operand in operands:
                self.drop(operand)
            return made, True
        # Any other condition is a number, of which all values but 0 hold, as fcmov tests it.
        return self.value(value, around)

    def _compare(self, value: Apply, into: str, operands: list[str]) -> None:
        if value.operation == "ne":
            self.text.add(f"feq.{'ps' if value.dtype == 'f32' else 'pi'} {into}, {', '.join(operands)}")
            self.text.add(f"fnot.pi {into}, {into}")
            return
        name, swapped = _COMPARE[value.operation]
        a, b = reversed(operands) if swapped else operands
        self.text.add(f"{name}.{'ps' if value.dtype == 'f32' else 'pi'} {into}, {a}, {b}")

    def _operation(self, value: Apply, into: str, operands: list[str]) -> None:
        """Packed instructions of an operation, and the cut of its result to the width of its type."""
        operation, dtype = value.operation, value.dtype
        # Narrow integers are computed in 32 bits, in which the low bits that are kept afterwards are the same.
        kind = dtype if dtype == "f32" else "i32"
        add = self.text.add
        if may_divide_by_zero(operation, dtype):
            self.divide_lanes(value, into, operands)
        elif (operation, dtype) == ("div", "f32"):
            self.divide(value, into, operands)
        elif (operation, dtype) in _ROUTINES:
            self.call_routine(operation, into, operands)
        elif (number := immediate(value)) is not None:
            name = {"add": "faddi", "sub": "faddi", "and": "fandi", "shl": "fslli", "shr": "fsrai"}[operation]
            add(f"{name}.pi {into}, {operands[0]}, {number}")
        elif (direct := _DIRECT.get((operation, kind))) is not None:
            add(f"{direct} {into}, {', '.join(operands)}")
        elif operation in _COMPARE:
            self._compare(value, into, operands)
            # A comparison gives all ones, and the source's value of it is 1.
            add(f"fandi.pi {into}, {into}, 1")
        elif operation == "ne":
            add(
                f"feq.{'ps' if dtype == 'f32' else 'pi'} {into}, {operands[0]}, {operands[1]}",
                # feq gives -1 for equal: adding 1 turns -1 and 0 into 0 and 1, which is `ne`.
                f"faddi.pi {into}, {into}, 1",
            )
        else:
            self._sequence(value, into, operands)
        # Operations whose results are in range where their operands are need no cut.
        if operation not in ("min", "max", "and", "or", "xor", "select", "move") and not value.operation.startswith(
            "to_"
        ):
            self._narrow(
                dtype
                if operation not in (*_COMPARE, "ne", "sat8", "satu8", "round_i32", "bits_i32", "bits_f32")
                else "i32",
                into,
            )

    def _sequence(self, value: Apply, into: str, operands: list[str]) -> None:
        """Operations without an instruction of their own, or with one of another form."""
        add, dtype = self.text.add, value.dtype
        a, *rest = operands
        match value.operation:
            case "move":
                add(f"for.pi {into}, {a}, {a}")
            case "select":
                add(f"fcmov.ps {into}, {a}, {rest[0]}, {rest[1]}")
            case "neg" if dtype == "f32":
                add(f"fsgnjn.ps {into}, {a}, {a}")
            case "abs" if dtype == "f32":
                add(f"fsgnjx.ps {into}, {a}, {a}")
            case "neg" | "abs":
                zero = self.constant("bits", 0)
                # The result's register may be an operand's, which the last instruction still reads.
                spare = self.text.vectors.take(value.span)
                add(f"fsub.pi {spare}, {zero[0]}, {a}")
                add(f"fmax.pi {into}, {a}, {spare}" if value.operation == "abs" else f"for.pi {into}, {spare}, {spare}")
                self.text.vectors.give(spare)
                self.drop(zero)
            case "madd":
                spare = self.text.vectors.take(value.span)
                add(f"fmul.pi {spare}, {a}, {rest[0]}", f"fadd.pi {into}, {spare}, {rest[1]}")
                self.text.vectors.give(spare)
            case "shl" | "shr":
                self._shift(value, into, a, rest[0])
            case "to_f32":
                add(f"fcvt.ps.{'f16' if dtype == 'f16' else 'pw'} {into}, {a}")
            case "to_i8" | "to_i16" | "to_i32" | "to_u8" | "to_u16":
                narrow = BY_NAME[value.operation].result(dtype)
                if dtype == "f32":
                    self._truncate_float(value, into, a, narrow)
                else:
                    add(f"for.pi {into}, {a}, {a}")
                    self._narrow(narrow, into)
            case "round_i32":
                add(f"fcvt.pw.ps {into}, {a}")
            case "to_f16":
                add(f"fcvt.f16.ps {into}, {a}")
            case "sat8" | "satu8":
                add(f"f{value.operation}.pi {into}, {a}")
                if value.operation == "sat8" and value is not self.stored:
                    self._narrow("i8", into)
            case _:
                raise AssertionError(value.operation)

    def _shift(self, value: Apply, into: str, a: str, amount: str) -> None:
        """Shift by an amount modulo the width of the type, as the source languages define it here; the unit itself
        shifts out all bits from 32 on.
        """
        name, width = ("fsll", WIDTH[value.dtype]) if value.operation == "shl" else ("fsra", WIDTH[value.dtype])
        spare = self.text.vectors.take(value.span)
        self.text.add(f"fandi.pi {spare}, {amount}, {width - 1}", f"{name}.pi {into}, {a}, {spare}")
        self.text.vectors.give(spare)

    def _narrow(self, dtype: ElementType, register: str) -> None:
        """Result modulo the width of its type, kept extended to 32 bits."""
        if dtype == "u8":
            self.text.add(f"fandi.pi {register}, {register}, 255")
        elif dtype in _NARROW:
            by, back = 32 - WIDTH[dtype], "fsrli" if dtype == "u16" else "fsrai"
            self.text.add(f"fslli.pi {register}, {register}, {by}", f"{back}.pi {register}, {register}, {by}")

    def _truncate_float(self, value: Apply, into: str, a: str, dtype: ElementType) -> None:
        """Conversion of a float to an integer, saturated, a NaN as 0."""
        number = self.text.vectors.take(value.span)
        # feq of a number with itself is all ones unless it is a NaN, so that the conjunction makes a NaN 0.
        self.text.add(f"feq.ps {number}, {a}, {a}", f"fcvt.pw.ps {into}, {a}, rtz", f"fand.pi {into}, {into}, {number}")
        self.text.vectors.give(number)
        self._saturate(dtype, into, is_stored=value is self.stored)

    def _saturate(self, dtype: ElementType, register: str, *, is_stored: bool) -> None:
        """Saturation of a word to the nearest number of a narrow type, kept extended to 32 bits if it is not only
        stored.
        """
        if dtype in ("i8", "u8"):
            self.text.add(f"{'fsat8' if dtype == 'i8' else 'fsatu8'}.pi {register}, {register}")
            # FSAT8 leaves zeros above the byte (ET Programmer's Reference Manual, page of FSAT8.PI).
            if dtype == "i8" and not is_stored:
                self._narrow("i8", register)
        elif dtype in _NARROW:
            limits = np.iinfo(NUMPY[dtype])
            for operation, limit in (("fmin", limits.max), ("fmax", limits.min)):
                bound = self.constant("bits", int(limit))
                self.text.add(f"{operation}.pi {register}, {register}, {bound[0]}")
                self.drop(bound)


def _is_condition(value: Expression) -> bool:
    """Whether an expression compares, or joins comparisons."""
    if not isinstance(value, Apply):
        return False
    if value.operation in _JOINS:
        return value.dtype == "i32" and all(map(_is_condition, value.operands))
    return value.operation in _COMPARE or value.operation == "ne"


def immediate(value: Apply) -> int | None:
    """Second operand of an operation on integers that its instruction holds (manual, FADDI.PI, FANDI.PI, FSLLI.PI,
    FSRAI.PI): 10 bits with a sign, or a shift modulo the width of the type.
    """
    if value.dtype == "f32" or len(value.operands) != 2 or not isinstance(by := value.operands[1], Constant):
        return None
    number = int(by.value)
    match value.operation:
        case "shl" | "shr":
            return number & (WIDTH[value.dtype] - 1)
        case "add" | "sub":
            signed = number if value.operation == "add" else -number
            return signed if signed in _IMMEDIATES else None
        case "and":
            return number if number in _IMMEDIATES else None
        case _:
            return None


def _is_single(value: Apply) -> bool:
    """Whether an operation is one instruction, which reads all of its operands before it writes."""
    if immediate(value) is not None or (value.operation, value.dtype) in _DIRECT:
        return value.dtype in ("f32", "i32")
    return value.operation == "select" or (value.operation, value.dtype) in _SINGLE


def invert_selection(value: Apply) -> Apply:
    """Selection by `ne` as the opposite one by `eq`, which is an instruction; also of NaNs, which are not equal."""
    condition = value.operands[0]
    if value.operation != "select" or not isinstance(condition, Apply) or condition.operation != "ne":
        return value
    return replace(value, operands=(replace(condition, operation="eq"), value.operands[2], value.operands[1]))


def _multiplication(value: Apply) -> Apply | None:
    """Strength reduction: a division by a power of two as the multiplication by its reciprocal; None for others."""
    if (value.operation, value.dtype) != ("div", "f32") or not isinstance(divisor := value.operands[1], Constant):
        return None
    factor = exact_reciprocal(divisor.value, "f32")
    if factor is None:
        return None
    return replace(value, operation="mul", operands=(value.operands[0], replace(divisor, value=factor)))


def registers_needed(value: Expression) -> int:
    """Ershov number of an expression: registers that it takes without spills (Sethi, Ullman 1970)."""
    if not isinstance(value, Apply):
        return 1
    needs = sorted((registers_needed(operand) for operand in value.operands), reverse=True)
    return max(need + n for n, need in enumerate(needs))


def calls_routines(nodes: Sequence[Node]) -> bool:
    """Whether nodes call a software routine, which has registers of its own."""

    def calls(value: Expression) -> bool:
        if not isinstance(value, Apply):
            return False
        return (value.operation, value.dtype) in _ROUTINES or any(map(calls, value.operands))

    return any(calls(each.value) for each in assignments(nodes))
