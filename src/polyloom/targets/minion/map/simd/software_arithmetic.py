# SPDX-License-Identifier: Apache-2.0
"""Software division and square root for f32, which the machine leaves to software: correctly rounded, for eight lanes
at once.

Operands are in f24 and f25, the result in f24; t5 holds the return address. Results are those of IEEE 754 in the
machine's environment: rounded to nearest even, denormals and what is below 2^-126 before rounding are zeros of their
sign, every NaN is the canonical one. Quotients of fractions are those of short divisions (short_division.py). Roots of
24 bits and one more are computed bit by bit in integers (restoring root: Ercegovac, Lang, "Digital arithmetic", 2004),
and what is left over decides the rounding.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.map.simd.short_division import LONG, ONE, quotient_lines, wrapper_lines

_BITS: Final = 25
"""Of a fraction: 24, and the one that rounds."""


def _set(register: str, bits: int) -> tuple[str, ...]:
    return (f"li t0, {bits:#x}", f"fbcx.ps {register}, t0")


def _extract_exponent(into: str, of: str) -> tuple[str, ...]:
    return (f"fsrli.pi {into}, {of}, 23", f"fandi.pi {into}, {into}, 255")


def _clear_sign(into: str, of: str) -> tuple[str, ...]:
    return (f"fslli.pi {into}, {of}, 1", f"fsrli.pi {into}, {into}, 1")


def _extract_sign(into: str, of: str) -> tuple[str, ...]:
    return (f"fsrli.pi {into}, {of}, 31", f"fslli.pi {into}, {into}, 31")


_AGAIN: Final = "again"


def _digit_loop(*step: str) -> tuple[str, ...]:
    return (f"li t1, {_BITS}", f"{_AGAIN}:", *step, "addi t1, t1, -1", f"bnez t1, {_AGAIN}")


_FRACTION: Final = 0x7FFFFF
_ONE: Final = 0x800000
_INFINITY: Final = 0x7F800000
_NAN: Final = 0x7FC00000
_ROUNDED: Final = (
    # f27: 25 bits, f26: what is left over, f29: the exponent; f28 becomes 0.
    "fandi.pi f30, f27, 1",
    "fsrli.pi f27, f27, 1",
    "fbcx.ps f28, zero",
    "feq.pi f31, f26, f28",
    "fnot.pi f31, f31",
    "for.pi f31, f31, f27",
    "fand.pi f30, f30, f31",  # up: the bit is set, and something is left over or the fraction is odd
    "fadd.pi f27, f27, f30",
    *_set("f30", -_ONE),
    "fadd.pi f27, f27, f30",
    "fslli.pi f31, f29, 23",
    "fadd.pi f27, f27, f31",
)
# Of fractions in [1, 2), with the exponent's difference added behind. A quotient below 1 is never rounded to 1, so that
# rounding makes no result normal that was not.
DIVISION: Final[tuple[str, ...]] = (
    *_extract_exponent("f29", "f24"),
    *_extract_exponent("f30", "f25"),
    "fsub.pi f29, f29, f30",
    *_set("f31", _FRACTION),
    "fand.pi f26, f24, f31",
    "fand.pi f28, f25, f31",
    *_set("f31", ONE),
    "for.pi f26, f26, f31",
    "for.pi f28, f28, f31",
    "frcp.ps f30, f28",
    *quotient_lines("f27", ("f26", "f28"), ("f31", "f30"), "f31"),
    "fsrli.pi f30, f27, 23",
    "fslli.pi f31, f29, 23",
    "fadd.pi f29, f29, f30",
    "fadd.pi f27, f27, f31",
    "fbcx.ps f28, zero",
    # Too small, too large.
    "flt.pi f30, f28, f29",
    "fand.pi f27, f27, f30",
    *_set("f30", 254),
    "flt.pi f30, f30, f29",
    *_set("f31", _INFINITY),
    "fcmov.ps f27, f30, f31, f27",
    # x / 0 and inf / x; then 0 / x and x / inf.
    *_clear_sign("f26", "f24"),
    "feq.pi f30, f26, f31",
    *_extract_exponent("f29", "f25"),
    "feq.pi f29, f29, f28",
    "for.pi f30, f30, f29",
    "fcmov.ps f27, f30, f31, f27",
    *_extract_exponent("f29", "f24"),
    "feq.pi f29, f29, f28",
    *_clear_sign("f30", "f25"),
    "feq.pi f30, f30, f31",
    "for.pi f30, f30, f29",
    "fcmov.ps f27, f30, f28, f27",
    "fxor.pi f30, f24, f25",
    *_extract_sign("f30", "f30"),
    "for.pi f27, f27, f30",
    # NaNs: a NaN, inf / inf, 0 / 0.
    *_clear_sign("f29", "f25"),
    "fmax.pi f28, f26, f29",
    "fmin.pi f26, f26, f29",
    "flt.pi f30, f31, f28",
    "feq.pi f24, f26, f31",
    "for.pi f30, f30, f24",
    *_set("f24", _ONE),
    "flt.pi f24, f28, f24",
    "for.pi f30, f30, f24",
    *_set("f24", _NAN),
    "fcmov.ps f24, f30, f24, f27",
    "jr t5",
)
# Two bits of the radicand make one bit of the root: the radicand is shifted in from f25 by pairs.
ROOT: Final[tuple[str, ...]] = (
    *_extract_exponent("f29", "f24"),
    *_set("f31", _FRACTION),
    "fand.pi f25, f24, f31",
    *_set("f31", _ONE),
    "for.pi f25, f25, f31",
    "fslli.pi f25, f25, 7",
    # An odd exponent doubles the fraction.
    "faddi.pi f30, f29, 1",
    "fandi.pi f30, f30, 1",
    "fbcx.ps f26, zero",
    "fbcx.ps f27, zero",
    "fsub.pi f28, f26, f30",
    "fand.pi f31, f25, f28",
    "fadd.pi f25, f25, f31",
    "faddi.pi f29, f29, 127",
    "fsub.pi f29, f29, f30",
    "fsrai.pi f29, f29, 1",
    *_digit_loop(
        "fsrli.pi f28, f25, 30",
        "fslli.pi f25, f25, 2",
        "fslli.pi f26, f26, 2",
        "for.pi f26, f26, f28",
        "fslli.pi f28, f27, 2",
        "faddi.pi f28, f28, 1",
        "fle.pi f30, f28, f26",
        "fand.pi f28, f28, f30",
        "fsub.pi f26, f26, f28",
        "fslli.pi f27, f27, 1",
        "fsub.pi f27, f27, f30",
    ),
    *_ROUNDED,
    # Zeros keep their sign; what else is negative has no root.
    *_extract_exponent("f25", "f24"),
    "feq.pi f30, f25, f28",
    *_extract_sign("f31", "f24"),
    "fcmov.ps f27, f30, f31, f27",
    "flt.pi f31, f24, f28",
    "fnot.pi f30, f30",
    "fand.pi f31, f31, f30",
    *_set("f26", _INFINITY),
    "feq.pi f30, f24, f26",
    "fcmov.ps f27, f30, f26, f27",
    "flt.pi f30, f26, f24",
    "for.pi f31, f31, f30",
    *_set("f24", _NAN),
    "fcmov.ps f24, f31, f24, f27",
    "jr t5",
)
_ROUTINES: Final = {"div": DIVISION, "sqrt": ROOT}


def routine(operation: str, prefix: str) -> list[str]:
    """Lines of a routine, from a label that begins with `prefix`."""
    lines = [line.replace(_AGAIN, f"{prefix}.bit_{operation}") for line in _ROUTINES[operation]]
    if operation != "div":
        return [f"{prefix}.{operation}:", *lines]
    # Divisions are in line but for the few lanes that need this one, which finds registers of theirs.
    return [*wrapper_lines(prefix), f"{prefix}.{LONG}:", *lines]
