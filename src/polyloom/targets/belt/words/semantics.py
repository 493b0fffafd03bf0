# SPDX-License-Identifier: Apache-2.0
"""Operation semantics of `isa`, lane by lane, on Python's numbers: the meaning that the specializer keeps.

A lane is its bits as an unsigned integer, `None`, or a `NaR` with its cause. In strict operations a None among the
lanes makes the result None, else a NaR makes it NaR (docs/targets/belt.md, Values and faults). Floats are IEEE 754,
rounded to nearest even, with one NaN. Memory, calls and control are in `interpret`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.ir.ssa import Constant, float_value
from polyloom.ir.ssa_intrinsics import apply_intrinsic
from polyloom.ir.ssa_semantics import float_arithmetic
from polyloom.ir.ssa_types import F32, F64
from polyloom.targets.belt.isa import OPS
from polyloom.twos_complement import sign_extend


@dataclass(frozen=True, slots=True)
class NaR:
    """Not a Result: an operand that says why there is none, as on the Mill (docs/targets/belt.md, Values and
    faults)."""

    cause: str


Lane = int | NaR | None
Lanes = tuple[Lane, ...]
_FLOATS: Final = {32: F32, 64: F64}
# The canonical quiet NaN: IEEE 754 leaves payloads open, and a program's bits must not depend on who computed them.
_NAN: Final = {32: 0x7FC00000, 64: 0x7FF8000000000000}


def compute(name: str, width: int, result: int, operands: Sequence[Lanes], lanes: int) -> tuple[Lanes, ...]:
    """Results of an operation that only computes, for operands of `width` bits and results of `result` bits and `lanes`
    lanes. A scalar among vectors stands for as many lanes of it."""
    # Operations between lanes see all of them; the others go lane by lane.
    if name in _WHOLE:
        return _WHOLE[name](operands, width, result, lanes)
    count = max(map(len, operands))
    spread = [operand * count if len(operand) == 1 else operand for operand in operands]
    return (tuple(_compute_lane(name, width, result, given) for given in zip(*spread, strict=True)),)


def _compute_lane(name: str, width: int, result: int, given: tuple[Lane, ...]) -> Lane:
    """Lane of a result; None wins over NaR, NaR over data, except in pick and orm (docs/targets/belt.md, Values and
    faults)."""
    if name == "pick":
        return _pick(given)
    if name == "orm":
        return _disjunction(given)
    if any(lane is None for lane in given):
        return None
    if (nar := next((lane for lane in given if isinstance(lane, NaR)), None)) is not None:
        return nar
    numbers = [lane for lane in given if isinstance(lane, int)]
    found = _compute_scalar(name, width, result, numbers)
    return found if isinstance(found, NaR) else found % (1 << result)


def _pick(given: tuple[Lane, ...]) -> Lane:
    """Select: the low bit of the condition chooses; without a second arm, what is not chosen is None."""
    condition = given[0]
    # Only the chosen arm counts: a NaR in the other one is what if-conversion leaves there.
    if not isinstance(condition, int):
        return condition
    if condition & 1:
        return given[1]
    return given[2] if len(given) > 2 else None


def _disjunction(given: tuple[Lane, ...]) -> Lane:
    """Or in which true beats NaR, NaR beats None: an exit that was taken is one, whatever another lane's condition
    is."""
    if any(isinstance(lane, int) and lane & 1 for lane in given):
        return 1
    return next((lane for lane in given if isinstance(lane, NaR)), None if None in given else 0)


def _compute_scalar(name: str, width: int, result: int, given: Sequence[int]) -> int | NaR:
    """Result of a strict operation on numbers, not yet cut to the width."""
    if name in _BINARY:
        return _BINARY[name](width, given[0], given[1])
    if name in _SIGNED:
        return int(_SIGNED[name](sign_extend(given[0], width), sign_extend(given[1], width)))
    if name in _UNARY:
        return _UNARY[name](width, given[0])
    if name in _TERNARY:
        return _TERNARY[name](width, given[0], given[1], given[2])
    stem, mode = (name[:-2], name[-2:]) if name not in _FAMILY else (name, "")
    if stem in _FAMILY:
        return _overflow_family(stem, mode, width, given)
    if name in _CONVERSIONS:
        return _CONVERSIONS[name](width, result, given[0])
    found = _float_operation(name, width, given)
    assert found is not None, name
    return found


def _overflow_family(stem: str, mode: str, width: int, given: Sequence[int]) -> int | NaR:
    """Add, sub or mul in a mode of overflow: exact first, then clamped (ss, us), refused (sx, ux) or left to wrap or
    widen."""
    is_signed = mode[:1] == "s"
    a, b = (sign_extend(lane, width) if is_signed else lane for lane in given)
    exact = _FAMILY[stem](a, b)
    least, most = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)
    if mode in ("ss", "us"):
        return max(least, min(most, exact))
    if mode in ("sx", "ux") and not least <= exact <= most:
        return NaR("overflow")
    # Modulo and widening modes: the caller cuts to the width of the result.
    return exact


_FAMILY: Final[dict[str, Callable[[int, int], int]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}


def _divide(width: int, a: int, b: int, is_signed: bool, remainder: bool) -> int | NaR:
    """Quotient or remainder toward zero, as C11 6.5.5 has it; NaR for a divisor of 0."""
    if b == 0:
        return NaR("division by zero")
    if is_signed:
        a, b = sign_extend(a, width), sign_extend(b, width)
    # Python's `//` rounds down. The least number by -1 leaves the width and wraps in `_compute_lane`.
    quotient = abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)
    return a - quotient * b if remainder else quotient


def _rotate_left(width: int, a: int, b: int) -> int:
    # Amounts are taken modulo the width, of shifts too; in C11 larger ones are undefined.
    amount = b % width
    return a << amount | a >> (width - amount)


_UNARY: Final[dict[str, Callable[[int, int], int]]] = {
    "not": lambda _, a: ~a,
    "abs": lambda width, a: abs(sign_extend(a, width)),
    "clz": lambda width, a: width - a.bit_length(),
    "ctz": lambda width, a: (a & -a).bit_length() - 1 if a else width,
    "pop": lambda _, a: a.bit_count(),
    "bswap": lambda width, a: int.from_bytes(a.to_bytes(width // 8, "little"), "big"),
    "negf": lambda width, a: a ^ 1 << (width - 1),
    "absf": lambda width, a: a & ~(1 << (width - 1)),
}
_BINARY: Final[dict[str, Callable[[int, int, int], int | NaR]]] = {
    "and": lambda _, a, b: a & b,
    "or": lambda _, a, b: a | b,
    "xor": lambda _, a, b: a ^ b,
    "andn": lambda _, a, b: a & ~b,
    "eql": lambda _, a, b: int(a == b),
    "neq": lambda _, a, b: int(a != b),
    "lssu": lambda _, a, b: int(a < b),
    "lequ": lambda _, a, b: int(a <= b),
    "gtru": lambda _, a, b: int(a > b),
    "gequ": lambda _, a, b: int(a >= b),
    "minu": lambda _, a, b: min(a, b),
    "maxu": lambda _, a, b: max(a, b),
    "shl": lambda width, a, b: a << b % width,
    "shru": lambda width, a, b: a >> b % width,
    "shrs": lambda width, a, b: sign_extend(a, width) >> b % width,
    "rotl": _rotate_left,
    "divs": lambda width, a, b: _divide(width, a, b, True, False),
    "divu": lambda width, a, b: _divide(width, a, b, False, False),
    "rems": lambda width, a, b: _divide(width, a, b, True, True),
    "remu": lambda width, a, b: _divide(width, a, b, False, True),
    "copysignf": lambda width, a, b: a & ~(1 << (width - 1)) | b & 1 << (width - 1),
}
_TERNARY: Final[dict[str, Callable[[int, int, int, int], int]]] = {
    "muladd": lambda _, a, b, c: a * b + c,
    "shladd": lambda width, a, b, c: (a << c % width) + b,
    "shrsadd": lambda width, a, b, c: (sign_extend(a, width) >> c % width) + b,
}
_SIGNED: Final[dict[str, Callable[[int, int], int]]] = {
    "lsss": lambda a, b: a < b,
    "leqs": lambda a, b: a <= b,
    "gtrs": lambda a, b: a > b,
    "geqs": lambda a, b: a >= b,
    "mins": lambda a, b: min(a, b),
    "maxs": lambda a, b: max(a, b),
}


def as_float(bits: int, width: int) -> float:
    return float(float_value(Constant(_FLOATS[width], bits)))


def float_bits(number: float, width: int) -> int:
    if math.isnan(number):
        return _NAN[width]
    return int.from_bytes(struct.pack("<f" if width == 32 else "<d", number), "little")


_FLOAT_OPERATIONS: Final = {"addf": "fadd", "subf": "fsub", "mulf": "fmul", "divf": "fdiv"}
_FLOAT_INTRINSICS: Final = {"sqrtf": "sqrt", "fmaf": "fma"}
_FLOAT_RELATIONS: Final[dict[str, Callable[[float, float], bool]]] = {
    "eqlf": lambda a, b: a == b,
    "neqf": lambda a, b: a != b,
    "lssf": lambda a, b: a < b,
    "leqf": lambda a, b: a <= b,
    "gtrf": lambda a, b: a > b,
    "geqf": lambda a, b: a >= b,
    "unof": lambda a, b: math.isnan(a) or math.isnan(b),
}


def _extreme(name: str, numbers: tuple[float, ...]) -> float:
    """Minimum or maximum as IEEE 754-2019 minimumNumber and maximumNumber: a number where one is, and -0 is less than
    +0."""
    known = [n for n in numbers if not math.isnan(n)] or numbers
    return (min if name == "minf" else max)(known, key=lambda n: (n, math.copysign(1.0, n)))


def _float_operation(name: str, width: int, given: Sequence[int]) -> int | None:
    """Result of an operation on floats as numbers; None for other operations."""
    numbers = tuple(as_float(lane, width) for lane in given)
    if name in _FLOAT_OPERATIONS:
        return float_bits(float_arithmetic(_FLOAT_OPERATIONS[name], _FLOATS[width], numbers[0], numbers[1]), width)
    if name in ("minf", "maxf"):
        return float_bits(_extreme(name, numbers), width)
    if name in _FLOAT_INTRINSICS:
        return float_bits(float(apply_intrinsic(_FLOAT_INTRINSICS[name], _FLOATS[width], numbers)), width)
    return int(_FLOAT_RELATIONS[name](numbers[0], numbers[1])) if name in _FLOAT_RELATIONS else None


def _integer_to_float(number: int, width: int) -> int:
    """Integer as a float, rounded once to nearest even.

    To f32 by way of f64 rounded to odd (Boldo and Melquiond 2008): the second rounding then sees that bits were lost.
    """
    if width == 64:
        return float_bits(float(number), 64)
    near = float(number)
    if int(near) != number and float_bits(near, 64) % 2 == 0:  # to odd, so that the second rounding is the only one
        near = math.nextafter(near, math.inf if number > int(near) else -math.inf)
    return float_bits(_to_f32(near), 32)


def _to_f32(number: float) -> float:
    # Adding 0.0 would turn -0.0 into 0.0: zeros stay as they are.
    return float_arithmetic("fadd", F32, number, 0.0) if number else number


def _truncate_float(number: float, result: int, is_signed: bool) -> int | NaR:
    """Integer part of a float; NaR outside of the range of the width, where C11 6.3.1.4 leaves the result undefined."""
    # Half-open: the upper limit is a power of two, which every format of floats holds exactly.
    least, most = (-(1 << (result - 1)), 1 << (result - 1)) if is_signed else (0, 1 << result)
    if math.isnan(number) or not least <= math.trunc(number if math.isfinite(number) else most) < most:
        return NaR("a float that no integer of the width is near")
    return math.trunc(number)


def _clamp(number: int, least: int, most: int) -> int:
    return max(least, min(most, number))


_CONVERSIONS: Final[dict[str, Callable[[int, int, int], int | NaR]]] = {
    "widens": lambda width, _, a: sign_extend(a, width),
    "widenu": lambda _width, _, a: a,
    "narrow": lambda _width, _, a: a,
    "narrowss": lambda width, result, a: _clamp(sign_extend(a, width), -(1 << (result - 1)), (1 << (result - 1)) - 1),
    "narrowus": lambda _width, result, a: _clamp(a, 0, (1 << result) - 1),
    "stof": lambda width, result, a: _integer_to_float(sign_extend(a, width), result),
    "utof": lambda _, result, a: _integer_to_float(a, result),
    "ftos": lambda width, result, a: _truncate_float(as_float(a, width), result, True),
    "ftou": lambda width, result, a: _truncate_float(as_float(a, width), result, False),
    "widenf": lambda width, result, a: float_bits(as_float(a, width), result),
    "narrowf": lambda width, result, a: float_bits(
        float_arithmetic("fadd", F32, as_float(a, width), 0.0) if a << 1 & (1 << width) - 1 else as_float(a, width),
        result,
    ),
}


def smear(lanes: Lanes, inclusive: bool) -> tuple[Lanes, Lanes]:
    """Smear: true from the first true lane on (`inclusive`) or behind it; and whether any lane is true.

    The lanes of iterations that a while loop does not reach become true (I. Godard, "Pipelining"; docs/targets/belt.md,
    Vectors). The first lane that is None or NaR decides for all behind it.
    """
    found: list[Lane] = []
    # False until a lane decides; then every lane behind it is what that one is.
    state: Lane = 0
    for lane in lanes:
        before = state
        if state == 0:
            state = lane & 1 if isinstance(lane, int) else lane
        found.append(state if inclusive or not isinstance(state, int) else before)
    return tuple(found), (state,)


def _disjoin_lanes(lanes: Lanes) -> Lane:
    """Whether a lane is true; a true lane decides whatever the others are (docs/targets/belt.md, In detail)."""
    if any(isinstance(lane, int) and lane & 1 for lane in lanes):
        return 1
    return next((lane for lane in lanes if not isinstance(lane, int)), 0)


def _conjoin_lanes(lanes: Lanes) -> Lane:
    """Whether every lane is true; a false lane decides whatever the others are (docs/targets/belt.md, In detail)."""
    if any(isinstance(lane, int) and not lane & 1 for lane in lanes):
        return 0
    return next((lane for lane in lanes if not isinstance(lane, int)), 1)


def _rotate_lanes(lanes: Lanes, by: Lane) -> Lanes:
    if not isinstance(by, int):
        return (by,) * len(lanes)
    return tuple(lanes[(j + by) % len(lanes)] for j in range(len(lanes)))


def _inject_lane(lanes: Lanes, x: Lane, at: Lane) -> Lanes:
    if not isinstance(at, int):
        return (at,) * len(lanes)
    return tuple(x if j == at % len(lanes) else lane for j, lane in enumerate(lanes))


def _remaining_mask(n: Lane, width: int, lanes: int) -> tuple[Lanes, ...]:
    """Lane mask of the last vector of a counted loop: lane k is true where k >= n, so that it does nothing; and whether
    any is."""
    if not isinstance(n, int):
        return (n,) * lanes, (n,)
    count = sign_extend(n, width)
    return tuple(int(k >= count) for k in range(lanes)), (int(count < lanes),)


def _widen_vector(lanes: Lanes, width: int, is_signed: bool) -> tuple[Lanes, ...]:
    """Vector of twice the width in two halves, low lanes first: the result has the bytes of two vectors."""
    wide = tuple(sign_extend(x, width) % (1 << 2 * width) if is_signed and isinstance(x, int) else x for x in lanes)
    return wide[: len(wide) // 2], wide[len(wide) // 2 :]


def _narrow_lanes(lanes: Lanes, result: int) -> Lanes:
    return tuple(x % (1 << result) if isinstance(x, int) else x for x in lanes)


_WHOLE: Final[dict[str, Callable[[Sequence[Lanes], int, int, int], tuple[Lanes, ...]]]] = {
    "splat": lambda o, w, r, n: (o[0] * n,),
    "iota": lambda o, w, r, n: (
        tuple((x + k) % (1 << w) if isinstance(x, int) else x for k, x in enumerate(o[0] * n)),
    ),
    "shuffle": lambda o, w, r, n: (_rotate_lanes(o[0], o[1][0]),),
    "extract": lambda o, w, r, n: ((_rotate_lanes(o[0], o[1][0])[0],),),
    "inject": lambda o, w, r, n: (_inject_lane(o[0], o[1][0], o[2][0]),),
    "any": lambda o, w, r, n: ((_disjoin_lanes(o[0]),),),
    "all": lambda o, w, r, n: ((_conjoin_lanes(o[0]),),),
    "smearx": lambda o, w, r, n: smear(o[0], inclusive=False),
    "smeari": lambda o, w, r, n: smear(o[0], inclusive=True),
    "remaining": lambda o, w, r, n: _remaining_mask(o[0][0], w, n),
    "widensv": lambda o, w, r, n: _widen_vector(o[0], w, True),
    "widenuv": lambda o, w, r, n: _widen_vector(o[0], w, False),
    "narrowv": lambda o, w, r, n: (_narrow_lanes(o[0] + o[1], r),),
}
"""Operations that look at all lanes: operands, the bits of theirs and of the result's lanes, the result's lanes."""


def is_computation(name: str) -> bool:
    """Whether `compute` knows the operation."""
    return (OPS[name].phase == "C" and OPS[name].unit != "ls") or name == "pick"
