# SPDX-License-Identifier: Apache-2.0
"""Library of functions on vectors in Python, with the names and the compositions of the C++ library (the public SFPI
headers): `pl.tensix.exexp(x)`.

Where C++ has a mode as an enumeration, Python has a keyword. Roundings are "nearest" (ties away from zero, of casts to
even), "stochastic", and on Blackhole "zero" (docs/sfpi.md).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, TypeVar

from polyloom.ir.ssa import Value
from polyloom.targets.tensix.source import formats
from polyloom.targets.tensix.source.build import Given
from polyloom.targets.tensix.source.formats import Form
from polyloom.targets.tensix.source.language.trace import current_tracer, user_error
from polyloom.targets.tensix.source.language.values import (
    Condition,
    Register,
    Row,
    Runtime,
    Vector,
    cast_bits,
    describe_type,
    to_operand,
    vfloat,
    vint,
    vuint,
)
from polyloom.targets.tensix.source.operations import operations

V = TypeVar("V", bound=Vector)
_ROUNDINGS: Final = {"nearest": 0, "stochastic": 1, "zero": 2}
# Modes of SFP_STOCH_RND (ISA documentation, page of `SFPSTOCHRND`).
_NARROW: Final = {"fp16a": 0, "fp16b": 1, "uint8": 2, "int8": 3, "uint16": 6, "int16": 7}


def as_(kind: type[V], x: Vector) -> V:
    """Bit cast: the same bits as another type."""
    return cast_bits(kind, _require_vector(x))


def _require_vector(x: object) -> Vector:
    if isinstance(x, Vector):
        return x
    raise user_error("PL1251", f"{describe_type(x)} where a vector is expected", "make it one: `pl.vfloat(1.0)`")


def _float_value(x: object) -> Value:
    return to_operand(vfloat, x)


def _vector_value(x: object) -> Value:
    return _require_vector(x).value


def _number_operand(x: int | Runtime) -> Given:
    return x.value if isinstance(x, Runtime) else x


def _vector_type(x: Vector) -> type[Any]:
    return vfloat if isinstance(x, Row | Register) else type(x)


def _call(kind: type[V], name: str, *operands: Given) -> V:
    return kind.of(current_tracer().call(name, *operands))


def exexp(x: vfloat, biased: bool = False) -> vint:
    return _call(vint, "sfpexexp", _float_value(x), int(biased))


def exman(x: vfloat, hidden: bool = False) -> vint:
    """Mantissa, with the hidden bit where asked."""
    return _call(vint, "sfpexman", _float_value(x), int(not hidden))


def exsgn(x: Vector) -> vuint:
    return as_(vuint, x) >> 31


def setexp(x: vfloat, exponent: vint | int | Runtime) -> vfloat:
    if isinstance(exponent, int | Runtime):
        return _call(vfloat, "sfpsetexp_i", _float_value(x), _number_operand(exponent), 0)
    return _call(vfloat, "sfpsetexp_v", _float_value(x), to_operand(vint, exponent), 0)


def copyexp(x: vfloat, exponent: vfloat) -> vfloat:
    return _call(vfloat, "sfpsetexp_v", _float_value(x), _float_value(exponent), 2)


def addexp(x: vfloat, exponent: int | Runtime) -> vfloat:
    return _call(vfloat, "sfpdivp2", _float_value(x), _number_operand(exponent), 1)


def setman(x: vfloat, mantissa: Vector | int | Runtime) -> vfloat:
    if isinstance(mantissa, int | Runtime):
        return _call(vfloat, "sfpsetman_i", _float_value(x), _number_operand(mantissa), 0)
    return _call(vfloat, "sfpsetman_v", _float_value(x), _vector_value(mantissa), 0)


copyman = setman


def setsgn(x: V, sign: int | Runtime) -> V:
    return _call(_vector_type(x), "sfpsetsgn_i", _vector_value(x), _number_operand(sign), 0)


def copysgn(x: V, sign: Vector) -> V:
    return _call(_vector_type(x), "sfpsetsgn_v", _vector_value(x), _vector_value(sign), 0)


def lz(x: Vector, ignore_sign: bool = False) -> vint:
    return _call(vint, "sfplz", _vector_value(x), 4 if ignore_sign else 0)


def shft(x: V, amount: vint | int | Runtime, arithmetic: bool = False) -> V:
    """Shift to the left by a positive amount, to the right by a negative one."""
    if isinstance(amount, int | Runtime):
        return _call(_vector_type(x), "sfpshft_i", _vector_value(x), _number_operand(amount), 2 * int(arithmetic))
    return _call(_vector_type(x), "sfpshft_v", _vector_value(x), to_operand(vint, amount), 2 * int(arithmetic))


def is_nan(x: vfloat) -> Condition:
    return (exexp(x, biased=True) >= 255) & (exman(x) != 0)


def is_inf(x: vfloat) -> Condition:
    return (exexp(x, biased=True) >= 255) & (exman(x) == 0)


def is_finite(x: vfloat) -> Condition:
    return exexp(x, biased=True) < 255


def is_zero(x: vfloat) -> Condition:
    return (as_(vuint, x) << 1) == 0


def min_max(a: V, b: V | float) -> tuple[V, V]:
    """Smaller and larger in each lane, in the total order -NaN < -Inf < ... < -0 < +0 < ... < +NaN (ISA documentation,
    page of `SFPSWAP`).
    """
    return _swap_lanes(a, b, 1)


def min(a: V, b: V | float) -> V:
    return min_max(a, b)[0]


def max(a: V, b: V | float) -> V:
    return min_max(a, b)[1]


def clamp(x: V, low: V | float, high: V | float) -> V:
    return min(max(x, low), high)


def symmetric_clamp(x: vfloat, bound: vfloat | float) -> vfloat:
    return copysgn(min(abs(x), bound), x)


def swap(a: V, b: V) -> tuple[V, V]:
    """Exchange: `a, b = pl.tensix.swap(a, b)`"""
    return _swap_lanes(a, b, 0)


def _swap_lanes(a: V, b: V | float, mode: int) -> tuple[V, V]:
    kind: type[V] = _vector_type(a)
    if mode and _vector_type(a) is not vfloat:
        help = "compare and assign under `v_if`, or take floats"
        raise user_error("PL1251", f"the order of {describe_type(a)} is not that of SFPSWAP, which orders floats", help)
    first, second = current_tracer().several("sfpswap", _vector_value(a), to_operand(kind, b), mode)
    return kind.of(first), kind.of(second)


def round(x: vfloat) -> tuple[vfloat, vint]:
    """Rounding to the nearest integer, of magnitudes below 2^22: as a float and as an integer."""
    # At 1.5 * 2^23 a float has no fraction: the addition rounds, and its low bits are the integer.
    magic = vfloat(1.5 * 2**23)
    shifted = x + magic
    return shifted - magic, as_(vint, shifted) - as_(vint, magic)


def polynomial(x: vfloat, *coefficients: vfloat | float) -> vfloat:
    """Polynomial c0 + c1·x + c2·x² + ..., by Horner's rule (Knuth, The Art of Computer Programming, volume 2, section
    4.6.4).
    """
    *others, last = coefficients
    found = vfloat(last)
    for coefficient in reversed(others):
        found = x * found + coefficient
    return found


def lut(x: vfloat, l0: vuint, l1: vuint, l2: vuint, update_sign: bool = False) -> vfloat:
    """Lookup table slope·|x| + offset, of 8 bits each, in three intervals of |x|; with x's sign unless told otherwise
    (ISA documentation, page of `SFPLUT`).
    """
    return _call(
        vfloat,
        "sfplut",
        _vector_value(l0),
        _vector_value(l1),
        _vector_value(l2),
        _float_value(x),
        0 if update_sign else 4,
    )


def lut2(x: vfloat, *entries: Vector, update_sign: bool = False, last_at_four: bool = False) -> vfloat:
    """Lookup table of three registers with halves of FP16; of six with floats; or, as `vuint`, six intervals of FP16
    (ISA documentation, page of `SFPLUTFP32`).
    """
    given = [_vector_value(entry) for entry in entries]
    sign = 0 if update_sign else 4
    if len(given) == 3:
        return _call(vfloat, "sfplutfp32_3r", *given, _float_value(x), 10 + sign)
    if len(given) != 6:
        raise user_error("PL1251", f"lut2 of {len(given)} registers", "give three or six")
    mode = 0 if isinstance(entries[0], vfloat) else 3 if last_at_four else 2
    return _call(vfloat, "sfplutfp32_6r", *given, _float_value(x), mode + sign)


def lut8(slope: float, offset: float) -> vuint:
    """Entry of `lut`; PL1251 where eight bits do not hold one of the numbers."""
    return _table_entry(slope, offset, "lut8")


def lut16(slope: float, offset: float) -> vuint:
    """Entry of `lut2` of three registers."""
    return _table_entry(slope, offset, "fp16a")


def _table_entry(slope: float, offset: float, form: Form) -> vuint:
    numbers = [formats.Number(number < 0, abs(Fraction(number))) for number in (slope, offset)]
    coded = [formats.encode_number(number, form) for number in numbers]
    bits = formats.table_register(numbers[0], numbers[1], form)
    if bits is None or not all(
        code is None or code.is_exact or number.value == 0 for code, number in zip(coded, numbers, strict=True)
    ):
        raise user_error(
            "PL1251", f"{slope} and {offset} are no entry of a table", "`polyloom float` tells the nearest numbers"
        )
    return vuint(bits)


def subvec_transp(a: V, b: V, c: V, d: V) -> tuple[V, V, V, V]:
    """Transposition: row j of the i-th vector becomes row i of the j-th (ISA documentation, page of `SFPTRANSP`)."""
    made = current_tracer().several("sfptransp", _vector_value(a), _vector_value(b), _vector_value(c), _vector_value(d))
    w, x, y, z = (_vector_type(a).of(value) for value in made)
    return w, x, y, z


def subvec_shflror1(x: V) -> V:
    """Rotation: each row of eight lanes moved right by one, around (ISA documentation, page of `SFPSHFT2`, mode 3)."""
    return _call(_vector_type(x), "sfpshft2_subvec_shfl1", _vector_value(x), 3)


def subvec_shflshr1(x: V) -> V:
    return _call(_vector_type(x), "sfpshft2_subvec_shfl1", _vector_value(x), 4)


def _rounding_mode(name: str) -> int:
    if name not in _ROUNDINGS:
        raise user_error("PL1251", f"there is no rounding {name!r}", f"roundings are {', '.join(_ROUNDINGS)}")
    return _ROUNDINGS[name]


def int_to_float(x: Vector, rounding: str = "nearest") -> vfloat:
    """Conversion of sign and magnitude to float (ISA documentation, page of `SFPCAST`)."""
    return _call(vfloat, "sfpcast", _vector_value(x), _rounding_mode(rounding))


def convert(x: vfloat, to: str, rounding: str = "nearest") -> Any:
    """Conversion of a float to `fp16a`, `fp16b` (still a float), or to `uint8`, `int8`, `uint16`, `int16` (sign and
    magnitude).
    """
    if to not in _NARROW:
        raise user_error("PL1251", f"there is no conversion to {to!r}", f"conversions are {', '.join(_NARROW)}")
    kind = vfloat if to.startswith("fp") else vuint if to.startswith("u") else vint
    return _call(kind, "sfpstochrnd_i", _float_value(x), 0, _NARROW[to], _rounding_mode(rounding))


def int32_to_uint8(x: Vector, descale: Vector | int, rounding: str = "stochastic") -> vuint:
    return _descale(vuint, x, descale, 4, rounding)


def int32_to_int8(x: Vector, descale: Vector | int, rounding: str = "stochastic") -> vint:
    return _descale(vint, x, descale, 5, rounding)


def _descale(kind: type[V], x: Vector, descale: Vector | int, mode: int, rounding: str) -> V:
    if isinstance(descale, int):
        return _call(kind, "sfpstochrnd_i", _vector_value(x), descale, mode, _rounding_mode(rounding))
    return _call(kind, "sfpstochrnd_v", _vector_value(x), _vector_value(descale), mode, _rounding_mode(rounding))


def rand() -> vint:
    """Next random number of each lane (Blackhole)."""
    return _call(vint, "rand")


def approx_recip(x: vfloat) -> vfloat:
    return _call(vfloat, "sfparecip", _float_value(x), 0)


def approx_exp(x: vfloat) -> vfloat:
    return _call(vfloat, "sfparecip", _float_value(x), 2)


def fractional_mul(a: Vector, b: Vector, high: bool = False) -> vuint:
    """Product of 23 bits each: its low or its high 23 bits (Blackhole)."""
    return _call(vuint, "sfpmul24", _vector_value(a), _vector_value(b), int(high))


def builtin(name: str) -> Callable[..., Any]:
    """Operation of the table by its name: `pl.tensix.builtin("sfpmad")(a, b, c, 0)`; results are `vfloat` where the
    table says floats, else `vuint`.
    """
    if name not in operations():
        raise user_error("PL1251", f"there is no operation {name!r}", "docs/sfpi.md lists them")
    row = operations()[name]

    def call(*operands: Any) -> Any:
        if len(operands) != len(row.operands):
            raise user_error("PL1251", f"{name} of {len(operands)} operands", f"it has {len(row.operands)}")
        given = [operand_of(o) for o in operands]
        made = current_tracer().several(name, *given)
        results = [_wrap_result(kind, value) for kind, value in zip(row.results, made, strict=True)]
        return results[0] if len(results) == 1 else tuple(results) or None

    return call


def _wrap_result(kind: str, value: Value) -> Vector | Condition:
    if kind == "mask":
        return Condition(value)
    return vfloat.of(value) if kind == "float" else vuint.of(value)


def operand_of(given: Any) -> Given:
    return given if isinstance(given, int) else given.value


NAMES: Final = frozenset(
    name for name, value in list(vars().items()) if callable(value) and getattr(value, "__module__", "") == __name__
) - {"operand_of"}
"""What `pl.tensix` offers of this module."""
