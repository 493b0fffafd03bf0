# SPDX-License-Identifier: Apache-2.0
"""Vector values of 32 lanes in Python: `vfloat`, `vint`, `vuint`, conditions on them, rows of Dst, and registers.

Operators record operations of the table, as the C++ library does for the same expressions. Numbers become vectors with
the number in each lane, floats rounded to nearest in 32 bits; no type becomes another by itself (docs/sfpi.md).
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, NoReturn, TypeVar

import numpy as np

from polyloom.ir.ssa import Value
from polyloom.targets.tensix.source.build import Given
from polyloom.targets.tensix.source.language.trace import current_tracer, user_error
from polyloom.targets.tensix.source.operations import CONDITIONS

Number = int | float
V = TypeVar("V", bound="Vector")
_LT, _LE, _EQ, _NE, _GE, _GT = range(len(CONDITIONS))
LAYOUTS: Final = {
    "fsrcb": 0, "f16a": 1, "f16b": 2, "f32": 3, "i32": 4, "u32": 4, "i8": 5, "u16": 6, "hi16": 7, "sm16": 8, "lo16": 9,
    "sm32": 12,
}  # fmt: skip
"""Modes of loads and stores by the names of the library's data layouts."""


def float_bits(number: Number) -> int:
    """Bits of a number as FP32, rounded to nearest; what is too large is infinite."""
    with np.errstate(over="ignore"):
        return int(np.float32(number).view(np.uint32))


class Runtime:
    """A run-time parameter of the kernel: an integer, or the bits of a float."""

    def __init__(self, value: Value, is_float: bool) -> None:
        self.value, self.is_float = value, is_float

    def __bool__(self) -> NoReturn:
        raise user_error(
            "PL1250",
            "a parameter of run time decides a Python condition",
            "drop its annotation: then it is a constant of the kernel",
        )


class Condition:
    """A condition, a truth per lane: for `pl.v_if`, `pl.v_elseif` and `pl.v_and`, combined by `&`, `|` and `~`."""

    __hash__ = None  # pyright: ignore[reportAssignmentType]: as of whatever compares by lane

    def __init__(self, value: Value) -> None:
        self.value = value

    def __and__(self, other: object) -> Condition:
        return Condition(current_tracer().call("mask_and", self.value, to_condition(other).value))

    def __or__(self, other: object) -> Condition:
        return Condition(current_tracer().call("mask_or", self.value, to_condition(other).value))

    def __invert__(self) -> Condition:
        return Condition(current_tracer().call("mask_not", self.value))

    def __bool__(self) -> NoReturn:
        raise user_error(
            "PL1250",
            "a condition on vectors is no Python condition",
            "write `with pl.v_if(...):`; combine conditions by `&`, `|` and `~`, in parentheses",
        )


def to_condition(given: object) -> Condition:
    """Condition of a condition, or of where an integer is not 0."""
    if isinstance(given, Condition):
        return given
    if isinstance(given, Vector) and not isinstance(given, vfloat):
        return Condition(current_tracer().call("mask_of", given.value))
    raise user_error("PL1251", f"{describe_type(given)} is no condition", "compare it: `x != 0.0`")


class Vector:
    """Base of all vectors: a value, comparisons, assignment of other types refused."""

    kind: ClassVar[str]
    compare: ClassVar[str]
    __hash__ = None  # pyright: ignore[reportAssignmentType]: as of whatever compares by lane

    def __init__(self, given: object = None) -> None:
        # Read when it is made: a row of Dst may be overwritten later.
        self._value = _convert_value(type(self), given)

    @property
    def value(self) -> Value:
        return self._value

    @classmethod
    def of(cls: type[V], value: Value) -> V:
        made = cls.__new__(cls)
        made._value = value
        return made

    def _compare(self, condition: int, other: object) -> Condition:
        return Condition(current_tracer().call(self.compare, condition, self.value, to_operand(self, other)))

    def __lt__(self, other: object) -> Condition:
        return self._compare(_LT, other)

    def __le__(self, other: object) -> Condition:
        return self._compare(_LE, other)

    def __eq__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]: by lane
        return self._compare(_EQ, other)

    def __ne__(self, other: object) -> Condition:  # pyright: ignore[reportIncompatibleMethodOverride]: by lane
        return self._compare(_NE, other)

    def __ge__(self, other: object) -> Condition:
        return self._compare(_GE, other)

    def __gt__(self, other: object) -> Condition:
        return self._compare(_GT, other)

    def __bool__(self) -> NoReturn:
        raise user_error("PL1250", "a vector is no Python condition", "write `with pl.v_if(x != 0):`")


class vfloat(Vector):
    """32 floats: `pl.vfloat(1.5)`, `pl.vfloat(dst[0])`, `pl.vfloat()` without a value."""

    kind, compare = "float", "cmp_f"

    def __add__(self, other: object) -> vfloat:
        if isinstance(other, int | float):
            return other + self  # first, as in C++ and SFPADDI
        return vfloat.of(current_tracer().call("sfpadd", self.value, to_operand(vfloat, other), 0))

    def __radd__(self, other: object) -> vfloat:
        return vfloat.of(current_tracer().call("sfpadd", to_operand(vfloat, other), self.value, 0))

    def __sub__(self, other: object) -> vfloat:
        # A literal is negated here: the sum of its negation is one SFPADDI.
        if isinstance(other, int | float):
            return vfloat.of(current_tracer().call("sfpadd", _splat(float_bits(other) ^ 0x80000000), self.value, 0))
        return vfloat.of(current_tracer().call("sfpsub", self.value, to_operand(vfloat, other)))

    def __rsub__(self, other: object) -> vfloat:
        return vfloat.of(current_tracer().call("sfpsub", to_operand(vfloat, other), self.value))

    def __mul__(self, other: object) -> vfloat:
        return vfloat.of(current_tracer().call("sfpmul", self.value, to_operand(vfloat, other), 0))

    def __rmul__(self, other: object) -> vfloat:
        return vfloat.of(current_tracer().call("sfpmul", to_operand(vfloat, other), self.value, 0))

    def __neg__(self) -> vfloat:
        return vfloat.of(current_tracer().call("sfpmov", self.value, 1))

    def __abs__(self) -> vfloat:
        return vfloat.of(current_tracer().call("sfpabs", self.value, 1))

    def __truediv__(self, other: object) -> NoReturn:
        del other
        raise user_error("PL1251", "there is no division of vectors", "multiply by the reciprocal")


class _Integer(Vector):
    """Base of signed and unsigned integers."""

    def _record(self, name: str, *operands: Given) -> Any:
        return type(self).of(current_tracer().call(name, *operands))

    def __add__(self, other: object) -> Any:
        if isinstance(other, int):
            return self._record("sfpiadd_i", self.value, other, 4)
        return self._record("sfpiadd_v", self.value, to_operand(self, other), 4)

    def __radd__(self, other: object) -> Any:
        return self + other

    def __sub__(self, other: object) -> Any:
        if isinstance(other, int):
            return self._record("sfpiadd_i", self.value, -other, 4)
        return self._record("sfpiadd_v", to_operand(self, other), self.value, 6)

    def __rsub__(self, other: object) -> Any:
        return self._record("sfpiadd_v", self.value, to_operand(self, other), 6)

    def __and__(self, other: object) -> Any:
        return self._record("sfpand", self.value, to_operand(self, other))

    def __or__(self, other: object) -> Any:
        return self._record("sfpor", self.value, to_operand(self, other))

    def __xor__(self, other: object) -> Any:
        return self._record("sfpxor", self.value, to_operand(self, other))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Any:
        return self._record("sfpnot", self.value)

    def __lshift__(self, other: object) -> Any:
        return self._shifted(other, 1)

    def _shifted(self, amount: object, sign: int) -> Any:
        if isinstance(amount, int):
            return self._record("sfpshft_i", self.value, sign * amount, self._shift_mode())
        if sign < 0:
            raise user_error("PL1251", "a shift to the right by a vector", "write `pl.tensix.shft(x, -n)`")
        return self._record("sfpshft_v", self.value, to_operand(vint, amount), self._shift_mode())

    def _shift_mode(self) -> int:
        """Shift mode: Blackhole shifts signed integers with their sign (ISA documentation of Blackhole, page of
        `SFPSHFT`).
        """
        return 2 if isinstance(self, vint) and current_tracer().member == "blackhole" else 0


class vint(_Integer):
    """32 signed integers; of a condition 0 and 1."""

    kind, compare = "integer", "cmp_i"

    def __neg__(self) -> vint:
        return 0 - self

    def __abs__(self) -> vint:
        return vint.of(current_tracer().call("sfpabs", self.value, 0))

    def __rshift__(self, other: object) -> vint:
        if current_tracer().member == "wormhole" or not isinstance(other, int):
            raise user_error("PL1251", "signed integers are not shifted to the right", "shift a `pl.vuint`")
        return vint.of(current_tracer().call("sfpshft_i", self.value, -other, 2))


class vuint(_Integer):
    """32 unsigned integers."""

    kind, compare = "unsigned", "cmp_u"

    def __rshift__(self, other: object) -> vuint:
        return self._shifted(other, -1)


class Row(vfloat):
    """A row of Dst, `dst[i]`: read as floats where it is used, each time anew; `pl.vint(dst[i])` reads integers."""

    def __init__(self, address: Given, mode: int | None) -> None:
        self.address, self.mode = address, mode

    @property
    def value(self) -> Value:
        return self.read(vfloat)

    def read(self, kind: type[Vector]) -> Value:
        # Each use is a load of its own, as `dst_reg[i]` in C++ is; the compiler keeps what it can in registers.
        return current_tracer().call(
            "load", _layout_mode(kind, self.mode), _ADDRMOD[current_tracer().member], self.address
        )


_ADDRMOD: Final = {"wormhole": 3, "blackhole": 7}


def _layout_mode(kind: type[Vector], given: int | None) -> int:
    """Mode of loads and stores by type: Wormhole has integers in Dst as sign and magnitude (ISA documentation, page of
    `SFPLOAD`, mode 12).
    """
    if given is not None:
        return given
    if issubclass(kind, vfloat):
        return 0
    return 12 if kind is vint and current_tracer().member == "wormhole" else 4


class Dst:
    """Dst of a kernel: `dst[i]` are 32 datums, 16 a row of a face and its neighbour; `dst.mode("f16b")[i]` reads and
    stores another layout.
    """

    def __init__(self, layout: int | None = None) -> None:
        self._layout = layout

    def mode(self, layout: str) -> Dst:
        if layout.lower() not in LAYOUTS:
            raise user_error("PL1253", f"there is no layout {layout!r}", f"layouts are {', '.join(LAYOUTS)}")
        return Dst(LAYOUTS[layout.lower()])

    def advance(self, rows: int = 1) -> None:
        """Advance of the counter of Dst, as `dst_reg++`: later indices count from here."""
        if not 0 < rows < 8:
            raise user_error("PL1253", f"dst advances by {rows}", "advance by 1 to 7")
        # INCRWC, whose field for Dst has four bits; an index is two addresses.
        current_tracer().effect("word", 0x38000000 | 2 * rows << 14)

    def __getitem__(self, index: int | Runtime) -> Row:
        return Row(self._address(index), self._layout)

    def __setitem__(self, index: int | Runtime, given: object) -> None:
        address = self._address(index)
        stored = read_value(given)
        vector = stored if isinstance(stored, Vector) else vfloat(stored)
        mode = _layout_mode(type(vector), self._layout)
        current_tracer().effect("store", vector.value, mode, _ADDRMOD[current_tracer().member], address)

    def _address(self, index: int | Runtime) -> Given:
        if isinstance(index, Runtime):
            return current_tracer().builder.scalar("shl", index.value, 1)
        if isinstance(index, int) and 0 <= index < 512:  # pyright: ignore[reportUnnecessaryIsInstance]: of a user
            # Bit 0 of an address selects nothing and bit 1 the odd columns, so that an index is two addresses.
            return 2 * index
        raise user_error("PL1253", f"dst has no row {index!r}", "rows are 0 to 511")


class Register(vfloat):
    """A register by number, read as floats where it is used; `pl.vint(...)` reads integers."""

    def __init__(self, name: str, number: int) -> None:
        self.name, self.number = name, number

    @property
    def value(self) -> Value:
        return current_tracer().call(self.name, self.number)


class Registers:
    """Registers that a kernel reads and writes: `pl.tensix.l_reg[k]` and `pl.tensix.prgm[k]`."""

    def __init__(self, name: str, count: int, first: int = 0) -> None:
        self._name, self._count, self._first = name, count, first

    def _number(self, k: int) -> int:
        if not 0 <= k < self._count:
            raise user_error("PL1253", f"there is no register {k}", f"registers are 0 to {self._count - 1}")
        return self._first + k

    def __getitem__(self, k: int) -> Register:
        return Register(f"{self._name}_read", self._number(k))

    def __setitem__(self, k: int, given: object) -> None:
        number, stored = self._number(k), read_value(given)
        vector = stored if isinstance(stored, Vector) else vfloat(stored)
        current_tracer().effect(f"{self._name}_write", number, vector.value)


def read_value(given: object) -> object:
    """Value of a row or a register as the floats that it has now; anything else as it is."""
    return vfloat.of(given.value) if isinstance(given, Row | Register) else given


def to_operand(kind: Vector | type[Vector], given: object) -> Value:
    """Value of an operand where a vector of a type is expected."""
    return _convert_value(kind if isinstance(kind, type) else _operand_type(kind), given, required=True)


def _operand_type(vector: Vector) -> type[Vector]:
    return vfloat if isinstance(vector, vfloat) else type(vector)


def _splat(bits: Given) -> Value:
    return current_tracer().call("splat", bits)


def _convert_value(kind: type[Vector], given: object, required: bool = False) -> Value:
    """Value of a vector of the type, made of what was given; PL1251 where that is of another type."""
    match given:
        case None if not required:
            return current_tracer().call("undefined")
        case Row():
            return given.read(kind)
        case Register():
            return given.value
        case Vector() if issubclass(type(given), kind):
            return given.value
        case Runtime() if given.is_float == issubclass(kind, vfloat):
            return _splat(given.value)
        case Condition() if kind is vint and not required:
            return current_tracer().call("int_of", given.value)
        # A Python truth is an int, but a vector of it is more likely a mistake.
        case bool():
            pass
        case int() | float() if issubclass(kind, vfloat):
            return _splat(float_bits(given))
        case int() if -(1 << 31) <= given < 1 << 32:
            return _splat(given)
        case _:
            pass
    raise user_error(
        "PL1251", f"{describe_type(given)} where {_ARTICLE[_name(kind)]} is expected", _conversion_help(kind, given)
    )


def _name(kind: type[Vector]) -> str:
    return "vfloat" if issubclass(kind, vfloat) else kind.__name__


_ARTICLE: Final = {"vfloat": "a vfloat", "vint": "a vint", "vuint": "a vuint"}


def describe_type(given: object) -> str:
    """Words for a value's type in messages."""
    if isinstance(given, Vector):
        return _ARTICLE[_name(type(given))]
    names: dict[type, str] = {Condition: "a condition", Runtime: "a parameter of another type", type(None): "no value"}
    if type(given) in names:
        return names[type(given)]
    return f"{given!r}" if isinstance(given, int | float | str) else f"a {type(given).__name__}"


def _conversion_help(kind: type[Vector], given: object) -> str:
    name = _name(kind)
    if isinstance(given, Vector):
        values = "int_to_float(x)" if name == "vfloat" else "convert(x, ...)" if isinstance(given, vfloat) else ""
        rest = f", `pl.tensix.{values}` its values" if values else ""
        return f"`pl.tensix.as_(pl.{name}, x)` takes its bits{rest}"
    if isinstance(given, Condition):
        return "write `pl.vint(condition)`, which has 1 where it holds and 0 elsewhere"
    return "give a number, or a vector" if name == "vfloat" else "give an integer, or a vector of this type"


def cast_bits(kind: type[V], given: Vector) -> V:
    """Bit cast: the same bits as another type."""
    return kind.of(given.read(kind) if isinstance(given, Row) else given.value)


CONST_0P8373, CONST_0, CONST_1, CONST_NEG1 = (Register("config_read", k) for k in (8, 9, 10, 11))
TILE_ID = Register("config_read", 15)
PRGM = Registers("config", 3, 12)
L_REG = Registers("lreg", 8)
