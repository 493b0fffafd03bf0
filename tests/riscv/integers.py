# SPDX-License-Identifier: Apache-2.0
"""What integer instructions mean, said once more: on unsigned Python integers below 2**XLEN, by the manual's
sentences."""

from __future__ import annotations

from collections.abc import Callable

Meaning = Callable[[int, int, int], int]
"""(a, b, XLEN) to the result, taken modulo 2**XLEN; b is rs2 or the immediate."""


def signed(value: int, bits: int) -> int:
    value %= 1 << bits
    return value - (1 << bits) if value >> bits - 1 else value


def _divide(a: int, b: int) -> int:
    """Truncated towards zero; by zero -1."""
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int:
    return a if b == 0 else a - b * _divide(a, b)


def _word(meaning: Meaning) -> Meaning:
    """The instruction of RV64 that works on the low 32 bits and sign-extends its result."""
    return lambda a, b, x: signed(meaning(a % 2**32, b % 2**32, 32), 32)


def _rotate_right(a: int, b: int, x: int) -> int:
    digits = f"{a:0{x}b}"
    return int(digits[x - b % x :] + digits[: x - b % x], 2)


def _leading(a: int, x: int) -> int:
    digits = f"{a:0{x}b}"
    return len(digits) - len(digits.lstrip("0"))


def _bytes(a: int, x: int) -> bytes:
    return a.to_bytes(x // 8, "little")


_BOTH: dict[str, Meaning] = {
    "add": lambda a, b, x: a + b,
    "slt": lambda a, b, x: signed(a, x) < signed(b, x),
    "sltu": lambda a, b, x: a < b % (1 << x),
    "xor": lambda a, b, x: a ^ b,
    "or": lambda a, b, x: a | b,
    "and": lambda a, b, x: a & b,
    "sll": lambda a, b, x: a * 2 ** (b % x),
    "srl": lambda a, b, x: a // 2 ** (b % x),
    "sra": lambda a, b, x: signed(a, x) // 2 ** (b % x),
    "ror": _rotate_right,
}
"""Those that have a form with an immediate, `sltiu` and `addi` for instance."""

_FULL: dict[str, Meaning] = {
    **_BOTH,
    "sub": lambda a, b, x: a - b,
    "mul": lambda a, b, x: a * b,
    "mulh": lambda a, b, x: signed(a, x) * signed(b, x) >> x,
    "mulhsu": lambda a, b, x: signed(a, x) * b >> x,
    "mulhu": lambda a, b, x: a * b >> x,
    "div": lambda a, b, x: _divide(signed(a, x), signed(b, x)),
    "divu": lambda a, b, x: _divide(a, b),
    "rem": lambda a, b, x: _remainder(signed(a, x), signed(b, x)),
    "remu": lambda a, b, x: _remainder(a, b),
    "andn": lambda a, b, x: a & ~b,
    "orn": lambda a, b, x: a | ~b,
    "xnor": lambda a, b, x: ~(a ^ b),
    "min": lambda a, b, x: min(signed(a, x), signed(b, x)),
    "max": lambda a, b, x: max(signed(a, x), signed(b, x)),
    "minu": lambda a, b, x: min(a, b),
    "maxu": lambda a, b, x: max(a, b),
    "rol": lambda a, b, x: _rotate_right(a, -b, x),
    "czero.eqz": lambda a, b, x: a if b else 0,
    "czero.nez": lambda a, b, x: 0 if b else a,
}
_WORDS = ("add", "sub", "sll", "srl", "sra", "mul", "div", "divu", "rem", "remu", "rol", "ror")
REGISTERS: dict[str, Meaning] = {**_FULL, **{f"{name}w": _word(_FULL[name]) for name in _WORDS}}

IMMEDIATES: dict[str, Meaning] = {
    **{"sltiu" if name == "sltu" else f"{name}i": meaning for name, meaning in _BOTH.items()},
    **{f"{name}iw": _word(_BOTH[name]) for name in ("add", "sll", "srl", "sra", "ror")},
}

UNARY: dict[str, Meaning] = {
    "clz": lambda a, b, x: _leading(a, x),
    "ctz": lambda a, b, x: x if a == 0 else (a & -a).bit_length() - 1,
    "cpop": lambda a, b, x: f"{a:b}".count("1"),
    "clzw": lambda a, b, x: _leading(a % 2**32, 32),
    "ctzw": lambda a, b, x: 32 if a % 2**32 == 0 else (a & -a).bit_length() - 1,
    "cpopw": lambda a, b, x: f"{a % 2**32:b}".count("1"),
    "sext.b": lambda a, b, x: signed(a, 8),
    "sext.h": lambda a, b, x: signed(a, 16),
    "zext.h": lambda a, b, x: a % 2**16,
    "rev8": lambda a, b, x: int.from_bytes(_bytes(a, x), "big"),
    "orc.b": lambda a, b, x: int.from_bytes(bytes(255 * (byte > 0) for byte in _bytes(a, x)), "little"),
}

BRANCHES: dict[str, Callable[[int, int, int], bool]] = {
    "beq": lambda a, b, x: a == b,
    "bne": lambda a, b, x: a != b,
    "blt": lambda a, b, x: signed(a, x) < signed(b, x),
    "bge": lambda a, b, x: signed(a, x) >= signed(b, x),
    "bltu": lambda a, b, x: a < b,
    "bgeu": lambda a, b, x: a >= b,
}

ATOMICS: dict[str, Meaning] = {
    "amoswap": lambda a, b, x: b,
    "amoadd": lambda a, b, x: a + b,
    "amoxor": lambda a, b, x: a ^ b,
    "amoand": lambda a, b, x: a & b,
    "amoor": lambda a, b, x: a | b,
    "amomin": REGISTERS["min"],
    "amomax": REGISTERS["max"],
    "amominu": lambda a, b, x: min(a, b),
    "amomaxu": lambda a, b, x: max(a, b),
}
