# SPDX-License-Identifier: Apache-2.0
"""Scalar floating point: lane 0, its environment (subnormals are zeros, one NaN), flags and rounding. The arithmetic
itself is that of riscv/float.hpp, whose tests prove it; a twin here computes in fractions. Source: facts §2."""

import random
import struct
from fractions import Fraction

import pytest
from tests.targets.minion.core.machine import FREE, run

MODES = pytest.mark.parametrize("functional", [False, True], ids=["timed", "functional"])
NX, UF, OF, DZ, NV, DENORMAL = 1, 2, 4, 8, 16, 1 << 31
NAN, INF, ONE, LEAST, TINY, SIGN = 0x7FC00000, 0x7F800000, 0x3F800000, 0x00800000, 0x00000001, 0x80000000
ROUNDING = {"rne": 0, "rtz": 1, "rdn": 2, "rup": 3, "rmm": 4}


def binary(operation: str, a: int, b: int, functional: bool = False) -> tuple[int, int]:
    source = f"""
        csrw fcsr, zero
        li a0, {a}
        li a1, {b}
        fmv.w.x f1, a0
        fmv.w.x f2, a1
        {operation} f3, f1, f2
        fmv.x.w a2, f3
        slli a2, a2, 32
        srli a2, a2, 32
        csrr a3, fcsr
        keep a2
        keep a3
    """
    value, flags = run(source, functional).kept
    return value, flags


@MODES
@pytest.mark.parametrize(
    ("operation", "a", "b", "value", "flags"),
    [
        ("fadd.s", ONE, ONE, 0x40000000, 0),
        ("fadd.s", TINY, ONE, ONE, DENORMAL),
        ("fadd.s", TINY, TINY, 0, DENORMAL),
        ("fadd.s", SIGN | TINY, SIGN | TINY, SIGN, DENORMAL),
        ("fsub.s", LEAST + 1, LEAST, 0, UF | NX),
        ("fsub.s", LEAST, LEAST + 1, SIGN, UF | NX),
        ("fmul.s", LEAST, 0x3F7FFFFF, 0, UF | NX),  # rounds up to the least normal number, and is flushed before
        ("fmul.s", LEAST, SIGN | 0x3F000000, SIGN, UF | NX),
        ("fmul.s", 0x7F000000, 0x7F000000, INF, OF | NX),
        ("fmul.s", INF, TINY, NAN, NV | DENORMAL),
        ("fadd.s", INF, SIGN | INF, NAN, NV),
        ("fadd.s", 0x7F800001, ONE, NAN, NV),
        ("fadd.s", 0xFFFFFFFF, ONE, NAN, 0),
        ("fmin.s", 0xFFC00000, ONE, ONE, 0),
        ("fmin.s", NAN, NAN | 5, NAN, 0),
        ("fmax.s", TINY, SIGN, 0, DENORMAL),
        ("fmin.s", TINY, SIGN | TINY, SIGN, DENORMAL),
        ("fsgnj.s", TINY, SIGN, SIGN | TINY, 0),
        ("fsgnjn.s", TINY, SIGN, TINY, 0),
        ("fsgnjx.s", SIGN | NAN | 5, SIGN, NAN | 5, 0),
    ],
)
def test_special_values(operation: str, a: int, b: int, value: int, flags: int, functional: bool) -> None:
    assert binary(operation, a, b, functional) == (value, flags)


@MODES
def test_a_result_clears_the_other_lanes(functional: bool) -> None:
    """Registers of 256 bits: what only loads, moves and results in lane 0 leave of eight lanes that were full."""
    writers = ["fadd.s f1, f2, f2", "fmv.w.x f1, a1", "flw f1, 0(a0)", "fcvt.s.w f1, a1", "fsgnj.s f1, f2, f2"]
    values = [0, 7, 0x11111111, 0x40E00000, 7]
    source = f"li a0, {FREE}\nli a1, 7\nfmv.w.x f2, a1\n"
    for n, writer in enumerate(writers):
        source += f"flq2 f1, 0(a0)\n{writer}\nfsq2 f1, {64 * n + 64}(a0)\n"
    made = run(source, functional, data={FREE: b"\x11" * 32}, look=(FREE + 64, 64 * len(writers)))
    for n in range(len(writers)):
        assert struct.unpack_from("<8I", made.memory, 64 * n) == (values[n], 0, 0, 0, 0, 0, 0, 0)


def rounded(value: Fraction, mode: str) -> int:
    """The nearest single-precision number, as the machine rounds; neither zero nor beyond the range."""
    sign, size = value < 0, abs(value)
    exponent = 0
    while size >= 2:
        size, exponent = size / 2, exponent + 1
    while size < 1:
        size, exponent = size * 2, exponent - 1
    if exponent < -126:
        return SIGN if sign else 0
    scaled = size * (1 << 23)
    whole, rest = scaled.numerator // scaled.denominator, scaled % 1
    up = {
        "rne": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1),
        "rtz": False,
        "rdn": rest > 0 and sign,
        "rup": rest > 0 and not sign,
        "rmm": rest >= Fraction(1, 2),
    }[mode]
    return (SIGN if sign else 0) + (exponent + 126 << 23) + whole + up


def exact(bits: int) -> Fraction:
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    return Fraction(value)


@MODES
@pytest.mark.parametrize("mode", ROUNDING)
def test_arithmetic_in_every_rounding_mode(mode: str, functional: bool) -> None:
    """Random normal numbers, some so small that results are flushed, against exact fractions."""
    random.seed(mode)
    triples = [
        [random.getrandbits(1) << 31 | random.randint(40, 150) << 23 | random.getrandbits(23) for _ in "abc"]
        for _ in range(40)
    ]
    named = {"dyn": ""}.get(mode, f", {mode}")
    body = f"li a0, {FREE}\nli a1, {FREE + 0x1000}\nli a2, {len(triples)}\ncsrw frm, zero\n1:\n"
    body += "flw f1, 0(a0)\nflw f2, 4(a0)\nflw f3, 8(a0)\n"
    operations = [
        "fadd.s f4, f1, f2",
        "fsub.s f4, f1, f2",
        "fmul.s f4, f1, f2",
        "fmadd.s f4, f1, f2, f3",
        "fmsub.s f4, f1, f2, f3",
        "fnmsub.s f4, f1, f2, f3",
        "fnmadd.s f4, f1, f2, f3",
    ]
    for n, operation in enumerate(operations):
        body += f"{operation}{named}\nfsw f4, {4 * n}(a1)\n"
    body += "addi a0, a0, 12\naddi a1, a1, 28\naddi a2, a2, -1\nbnez a2, 1b"
    data = b"".join(struct.pack("<3I", *triple) for triple in triples)
    made = run(body, functional, data={FREE: data}, look=(FREE + 0x1000, 28 * len(triples)))
    assert not made.traps
    for n, triple in enumerate(triples):
        a, b, c = (exact(bits) for bits in triple)
        wanted = [a + b, a - b, a * b, a * b + c, a * b - c, c - a * b, -a * b - c]
        assert list(struct.unpack_from("<7I", made.memory, 28 * n)) == [rounded(each, mode) for each in wanted]


@MODES
@pytest.mark.parametrize(("mode", "value"), [("rne", 2), ("rtz", 2), ("rdn", 2), ("rup", 3), ("rmm", 3)])
def test_conversions_round_as_they_say(mode: str, value: int, functional: bool) -> None:
    source = f"li a0, 0x40200000\nfmv.w.x f1, a0\nfcvt.w.s a1, f1, {mode}\nkeep a1"
    source += f"\ncsrwi frm, {ROUNDING[mode]}\nfcvt.w.s a1, f1, dyn\nkeep a1\nli a0, 16777217\nfcvt.s.w f2, a0, rne\n"
    source += "fmv.x.w a1, f2\nkeep a1\nli a0, -1\nfcvt.s.wu f2, a0, rtz\nfmv.x.w a1, f2\nkeep a1"
    assert run(source, functional).kept == (value, value, 0x4B800000, 0x4F7FFFFF)


@pytest.mark.parametrize(
    ("bits", "signed", "unsigned", "flags"),
    [
        (0x4F800000, 0x7FFFFFFF, (1 << 64) - 1, NV),
        (0xBF800000, (1 << 64) - 1, 0, NV),
        (NAN, 0x7FFFFFFF, (1 << 64) - 1, NV),
        (SIGN | TINY, 0, 0, DENORMAL),
    ],
)
def test_conversions_of_what_does_not_fit(bits: int, signed: int, unsigned: int, flags: int) -> None:
    source = f"csrw fcsr, zero\nli a0, {bits}\nfmv.w.x f1, a0\nfcvt.w.s a1, f1, rtz\nfcvt.wu.s a2, f1, rtz\n"
    assert run(source + "csrr a3, fcsr\nkeep a1\nkeep a2\nkeep a3").kept == (signed, unsigned, flags)


def test_comparisons_and_classes() -> None:
    source = f"""
        csrw fcsr, zero
        li a0, {TINY}
        fmv.w.x f1, a0
        fmv.w.x f2, zero
        feq.s a1, f1, f2
        flt.s a2, f2, f1
        fle.s a3, f1, f2
        fclass.s a4, f1
        csrr a5, fcsr
        keep a1
        keep a2
        keep a3
        keep a4
        keep a5
    """
    assert run(source).kept == (1, 0, 1, 1 << 5, DENORMAL)


@pytest.mark.parametrize("mode", [5, 6, 7])
def test_invalid_rounding_modes_of_the_register_are_illegal(mode: int) -> None:
    assert run(f"csrwi frm, {mode}\nfadd.s f1, f2, f3, dyn\nfsgnj.s f1, f2, f3").causes == [2]


def test_moves_take_the_low_word_as_it_is() -> None:
    source = "li a0, 0x180000001\nfmv.w.x f1, a0\nfmv.x.w a1, f1\nkeep a1\ncsrr a2, fcsr\nkeep a2"
    assert run(source).kept == (0xFFFFFFFF80000001, 0)
