# SPDX-License-Identifier: Apache-2.0
"""Division of f32 in line, for lanes whose numbers are neither tiny nor huge, and the calls of the routine that divides
all others (software_arithmetic.py).

A reciprocal that is refined once, and a quotient that is corrected twice by its remainder, which a fused multiply-add
gives exactly (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990). The first
correction leaves an error below one unit in the last place, the second rounds correctly (Muller et al., "Handbook of
Floating-Point Arithmetic", 2018, section 4.7). A dividend of 0 needs its sign only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from polyloom.targets.minion.map.simd.text import EMULATION

_LEAST: Final = 65
_EXPONENTS: Final = 126
"""Biased exponents from which on, and how many, no step overflows or is flushed: those of quotients are within 125 of
the bias, and remainders, 47 bits below their dividends, are normal."""
ONE: Final = 0x3F800000
CONSTANTS: Final = (0, _LEAST << 24, (_EXPONENTS << 24) - 1, ONE)
"""Bits of vector constants: zero, the least of these numbers and how far others are above it, both without signs and
doubled, and one."""
LONG: Final = "long_div"
"""Label of the routine itself."""
SCRATCH: Final = 448
"""Bytes of scratch of each hart: numbers of lanes, operands of divisions, registers of routines. An odd number of
lines, so that harts that read theirs at the same time go to different banks of L2."""
_OPERANDS, _SAVED = 128, 192
"""Where in the scratch operands are handed to the routine, and where registers are kept meanwhile."""


@dataclass(frozen=True, slots=True)
class Call:
    """Call of the routine out of line, for a division whose operands it needs: its label and the one behind the branch,
    and registers of result and operands.
    """

    label: str
    back: str
    into: str
    left: str
    right: str


def division_lines(
    into: str, operands: tuple[str, str], spare: tuple[str, str], flag: str, constants: tuple[str, ...],
    labels: tuple[str, str],
) -> list[str]:  # fmt: skip
    """Code of a division into a register that is none of the operands'; `flag` counts lanes that the routine has to
    divide. Operands keep their values until it has: the branch stands at the end, so that several divisions may be
    interleaved.
    """
    (a, b), (y, r), (zero, least, range_, one) = operands, spare, constants
    return [
        f"frcp.ps {r}, {b}",
        f"fslli.pi {into}, {a}, 1",
        f"fltu.pi {y}, {zero}, {into}",
        f"fsub.pi {into}, {into}, {least}",
        f"fltu.pi {into}, {range_}, {into}",
        f"fand.pi {into}, {into}, {y}",
        f"fslli.pi {y}, {b}, 1",
        f"fsub.pi {y}, {y}, {least}",
        f"fltu.pi {y}, {range_}, {y}",
        f"for.pi {into}, {into}, {y}",
        f"fsetm.pi m1, {into}",
        f"maskpopc {flag}, m1",
        *quotient_lines(into, (a, b), (y, r), one),
        f"fxor.pi {y}, {a}, {b}",
        f"fsgnj.ps {into}, {into}, {y}",
        f"bnez {flag}, {labels[0]}",
        f"{labels[1]}:",
    ]


@dataclass(frozen=True, slots=True)
class Divisor:
    """Divisor whose reciprocal is known: registers of both, and of lanes that the routine has to divide; None where it
    is a positive constant that no lane has to."""

    number: str
    reciprocal: str
    bad: str | None = None


def exact_divisor(value: float) -> int | None:
    """Bits of the reciprocal, rounded to nearest, of a positive constant that is neither tiny nor huge; None of
    others."""
    number = np.float32(value)
    if number > 0 and _LEAST <= int(number.view(np.int32)) >> 23 < _LEAST + _EXPONENTS:
        return int((np.float32(1) / number).view(np.int32))
    return None


def divisor_lines(divisor: Divisor, spare: str, constants: tuple[str, ...]) -> list[str]:
    """Code in front of a loop for a divisor that is the same in all iterations (loop-invariant code motion)."""
    b, r, bad, (_, least, range_, one) = divisor.number, divisor.reciprocal, divisor.bad, constants
    lines = [f"frcp.ps {r}, {b}", f"fslli.pi {bad}, {b}, 1", f"fsub.pi {bad}, {bad}, {least}"]
    lines += [f"fltu.pi {bad}, {range_}, {bad}", f"fnmsub.ps {spare}, {b}, {r}, {one}"]
    return [*lines, f"fmadd.ps {r}, {r}, {spare}, {r}"]


def known_division_lines(
    into: str, a: str, divisor: Divisor, spare: str, flag: str, constants: tuple[str, ...], labels: tuple[str, str]
) -> list[str]:
    """Code of a division by such a divisor, as `division_lines`."""
    b, y, (zero, least, range_, *_) = divisor.number, spare, constants
    test = [f"fslli.pi {into}, {a}, 1", f"fltu.pi {y}, {zero}, {into}", f"fsub.pi {into}, {into}, {least}"]
    test += [f"fltu.pi {into}, {range_}, {into}", f"fand.pi {into}, {into}, {y}"]
    test += [] if divisor.bad is None else [f"for.pi {into}, {into}, {divisor.bad}"]
    # The sign of a positive divisor's quotient is the dividend's.
    sign, by = ([], a) if divisor.bad is None else ([f"fxor.pi {y}, {a}, {b}"], y)
    return [
        *test,
        f"fsetm.pi m1, {into}",
        f"maskpopc {flag}, m1",
        *corrected_lines(into, (a, b), y, divisor.reciprocal),
        *sign,
        f"fsgnj.ps {into}, {into}, {by}",
        f"bnez {flag}, {labels[0]}",
        f"{labels[1]}:",
    ]


def corrected_lines(into: str, operands: tuple[str, str], y: str, r: str) -> list[str]:
    """Quotient by a reciprocal within an ulp, corrected twice."""
    a, b = operands
    correction = [f"fnmsub.ps {y}, {b}, {into}, {a}", f"fmadd.ps {into}, {y}, {r}, {into}"]
    return [f"fmul.ps {into}, {a}, {r}", *correction, *correction]


def quotient_lines(into: str, operands: tuple[str, str], spare: tuple[str, str], one: str) -> list[str]:
    """Quotient of normal numbers whose steps are all normal; the second spare register has the reciprocal of the
    divisor, within an ulp. The first one may be that of 1.
    """
    (_, b), (y, r) = operands, spare
    refined = [f"fnmsub.ps {y}, {b}, {r}, {one}", f"fmadd.ps {r}, {r}, {y}, {r}"]
    return [*refined, *corrected_lines(into, operands, y, r)]


def call_lines(call: Call, prefix: str, scratch: int | None) -> list[str]:
    """Code of a call. Operands go through the scratch of the hart, and all registers but the result's are kept; without
    scratch, those of the routine are nobody else's.
    """
    if scratch is None:
        first, second = EMULATION[:2]
        lines = [f"{call.label}:", f"for.pi {first}, {call.left}, {call.left}"]
        lines += [f"for.pi {second}, {call.right}, {call.right}", f"jal t5, {prefix}.{LONG}"]
        return [*lines, f"for.pi {call.into}, {first}, {first}", f"j {call.back}"]
    lines = [f"{call.label}:", *scratch_address("t0", "t1", scratch)]
    lines += [f"fsq2 {call.left}, {_OPERANDS}(t0)", f"fsq2 {call.right}, {_OPERANDS + 32}(t0)", f"jal t5, {prefix}.div"]
    # The mask stays: lanes that take no part keep what they have.
    return [*lines, f"flw.ps {call.into}, {_OPERANDS}(t3)", f"j {call.back}"]


def scratch_address(register: str, other: str, base: int) -> list[str]:
    """Instructions for the address of the hart's own scratch, of which all begin at `base`; `other` is overwritten."""
    # s1 · 448 is s1 · 512 - s1 · 64.
    product = [f"slli {register}, s1, 9", f"slli {other}, s1, 6", f"sub {register}, {register}, {other}"]
    return [*product, f"li {other}, {base}", f"add {register}, {register}, {other}"]


def wrapper_lines(prefix: str) -> list[str]:
    """Routine that keeps the registers of another one, whose operands and result are in the scratch at t0, then t3."""
    places = [(register, f"{_SAVED + 32 * n}(t3)") for n, register in enumerate(EMULATION)]
    first, second = EMULATION[:2]
    lines = [f"{prefix}.div:", "mv t3, t0", "mv t6, t5", *(f"fsq2 {register}, {place}" for register, place in places)]
    lines += [f"flq2 {first}, {_OPERANDS}(t3)", f"flq2 {second}, {_OPERANDS + 32}(t3)", f"jal t5, {prefix}.{LONG}"]
    lines += [f"fsq2 {first}, {_OPERANDS}(t3)", *(f"flq2 {register}, {place}" for register, place in places)]
    return [*lines, "jr t6"]
