# SPDX-License-Identifier: Apache-2.0
"""Every floating-point instruction on the interpreter gives the bits and the flags of floats.py, in every rounding
mode, with the flag NX clear (all in integers) and set (the host's arithmetic where it is safe); and NumPy's bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from operator import eq, le, lt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.riscv import floats
from tests.riscv.floats import DOUBLE, MODES, NX, SINGLE, Answer, Format
from tests.riscv.harts import SCRATCH, WIDE, Bench, bench

from polyloom.diagnostics import PolyloomError
from polyloom.riscv.isa import base_mnemonics

FORMATS = pytest.mark.parametrize("form", [SINGLE, DOUBLE], ids=lambda form: form.letter)
BOX = 0xFFFFFFFF << 32
Rounded = Callable[..., Answer]
Meaning = Callable[[Format, int, int], Answer]

ROUNDED: dict[str, tuple[int, Rounded]] = {
    "fadd": (2, floats.add),
    "fsub": (2, floats.subtract),
    "fmul": (2, floats.multiply),
    "fdiv": (2, floats.divide),
    "fsqrt": (1, floats.square_root),
    "fmadd": (3, floats.fused),
    "fmsub": (3, partial(floats.fused_with, product=False, addend=True)),
    "fnmsub": (3, partial(floats.fused_with, product=True, addend=False)),
    "fnmadd": (3, partial(floats.fused_with, product=True, addend=True)),
}
"""By mnemonic: the number of operands and the meaning, from the format, the mode and the operands."""
TESTS: dict[str, Meaning] = {
    "feq": lambda f, a, b: floats.compare(f, eq, True, a, b),
    "flt": lambda f, a, b: floats.compare(f, lt, False, a, b),
    "fle": lambda f, a, b: floats.compare(f, le, False, a, b),
    "fclass": lambda f, a, b: (floats.classify(f, a), 0),
}
BITWISE: dict[str, Meaning] = {
    "fmin": lambda f, a, b: floats.extreme(f, False, a, b),
    "fmax": lambda f, a, b: floats.extreme(f, True, a, b),
    "fsgnj": lambda f, a, b: (a & ~f.sign(True) | b & f.sign(True), 0),
    "fsgnjn": lambda f, a, b: (a & ~f.sign(True) | ~b & f.sign(True), 0),
    "fsgnjx": lambda f, a, b: (a ^ b & f.sign(True), 0),
}
INTEGERS = {"w": (32, True), "wu": (32, False), "l": (64, True), "lu": (64, False)}


def edges(form: Format) -> list[int]:
    """Zeros, the least and greatest subnormals and normals, one, one and a half, infinities and NaNs, of both signs."""
    one, hidden = form.greatest << form.precision - 1, 1 << form.precision - 1
    positive = [
        0,
        1,
        2,
        hidden - 1,
        hidden,
        hidden + 1,
        one - 1,
        one,
        one + 1,
        one | hidden >> 1,
        form.infinity - 1,
        form.infinity,
        form.infinity + 1,
        form.nan,
    ]
    return positive + [bits | form.sign(True) for bits in positive]


def bits_of(form: Format) -> st.SearchStrategy[int]:
    """Edges, anything, numbers near one, and numbers near the least normal one."""
    near = _with_exponent(form, form.greatest - 3, form.greatest + 3)
    return (
        st.sampled_from(edges(form))
        | st.integers(0, (1 << form.bits) - 1)
        | _of_both_signs(form, near | st.integers(0, 4 << form.precision - 1))
    )


def _with_exponent(form: Format, least: int, greatest: int) -> st.SearchStrategy[int]:
    """Positive numbers whose biased exponent is in a range."""
    return st.integers(least << form.precision - 1, (greatest + 1 << form.precision - 1) - 1)


def _of_both_signs(form: Format, positive: st.SearchStrategy[int]) -> st.SearchStrategy[int]:
    return st.sampled_from([0, form.sign(True)]).flatmap(lambda sign: positive.map(lambda bits: bits | sign))


TRIPLES = {form: st.tuples(bits_of(form), bits_of(form), bits_of(form)) for form in (SINGLE, DOUBLE)}


@cache
def rounding_bench(form: Format) -> Bench:
    sources = {1: "fa0", 2: "fa0, fa1", 3: "fa0, fa1, fa2"}
    return bench(
        [
            f"{name}.{form.letter} fa3, {sources[count]}, {mode}"
            for name, (count, _) in ROUNDED.items()
            for mode in MODES
        ],
        WIDE,
    )


def load(on: Bench, form: Format, *values: int) -> None:
    for number, bits in enumerate(values):
        on.machine.set_f(10 + number, bits | BOX if form is SINGLE else bits)


def result(on: Bench, line: str, form: Format, before: int = 0) -> Answer:
    """The bits of fa3, checked to be boxed, and the flags."""
    on.machine.set_fcsr(before)
    on.step(line)
    bits = on.machine.f[13]
    assert form is DOUBLE or bits >> 32 == BOX >> 32
    return bits % (1 << form.bits), on.machine.fcsr


@FORMATS
@given(data=st.data())
def test_rounded(form: Format, data: st.DataObject) -> None:
    values = data.draw(TRIPLES[form])
    on = rounding_bench(form)
    load(on, form, *values)
    for line in on.places:
        name, mode = line.split(".")[0], line.split()[-1]
        count, meaning = ROUNDED[name]
        bits, flags = meaning(form, mode, *values[:count])
        assert (line, result(on, line, form)) == (line, (bits, flags))
        assert (line, result(on, line, form, NX)) == (line, (bits, flags | NX))


@FORMATS
@given(data=st.data())
def test_unrounded(form: Format, data: st.DataObject) -> None:
    a, b, _ = data.draw(TRIPLES[form])
    tests = {
        f"{name}.{form.letter} a3, fa0" + ("" if name == "fclass" else ", fa1"): meaning
        for name, meaning in TESTS.items()
    }
    bitwise = {f"{name}.{form.letter} fa3, fa0, fa1": meaning for name, meaning in BITWISE.items()}
    on = unrounded_bench(form, *tests, *bitwise)
    load(on, form, a, b)
    for line, meaning in bitwise.items():
        assert (line, result(on, line, form)) == (line, meaning(form, a, b))
    for line, meaning in tests.items():
        on.machine.set_fcsr(0)
        on.step(line)
        assert (line, (on.machine.x[13], on.machine.fcsr)) == (line, meaning(form, a, b))


@cache
def unrounded_bench(form: Format, *lines: str) -> Bench:
    del form
    return bench(list(lines), WIDE)


@cache
def conversion_bench(form: Format, mode: str) -> Bench:
    to = [f"fcvt.{kind}.{form.letter} a3, fa0, {mode}" for kind in INTEGERS]
    back = [f"fcvt.{form.letter}.{kind} fa3, a0, {mode}" for kind in INTEGERS]
    other = "fcvt.d.s fa3, fa0, " if form is SINGLE else "fcvt.s.d fa3, fa0, "
    return bench([*to, *back, other + mode], WIDE)


@FORMATS
@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=25)
@given(
    data=st.data(),
    integer=st.sampled_from([0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, 2**24 + 1, 2**53 + 1])
    | st.integers(0, 2**64 - 1),
)
def test_conversions(form: Format, mode: str, data: st.DataObject, integer: int) -> None:
    a = data.draw(bits_of(form) | _of_both_signs(form, _with_exponent(form, form.greatest - 2, form.greatest + 66)))
    on = conversion_bench(form, mode)
    load(on, form, a)
    on.machine.set_x(10, integer)
    for line in on.places:
        to, source = line.split()[0].split(".")[1:]
        if to in INTEGERS:
            on.machine.set_fcsr(0)
            on.step(line)
            width, signed = INTEGERS[to]
            value, flags = floats.to_integer(form, mode, a, width, signed)
            extended = value - (1 << width) if value >> width - 1 else value
            assert (line, on.machine.x[13], on.machine.fcsr) == (line, extended % 2**64, flags)
        elif source in INTEGERS:
            width, signed = INTEGERS[source]
            value = integer % (1 << width)
            value -= 1 << width if signed and value >> width - 1 else 0
            assert (line, result(on, line, form)) == (line, form.round(floats.Fraction(value), mode))
        else:
            target = DOUBLE if form is SINGLE else SINGLE
            assert (line, result(on, line, target)) == (line, floats.convert(form, target, mode, a))


@FORMATS
@given(data=st.data())
def test_numpy_agrees(form: Format, data: st.DataObject) -> None:
    """A second oracle, for the mode that the host has."""
    a, b, _ = data.draw(TRIPLES[form])
    integer, real = (np.uint32, np.float32) if form is SINGLE else (np.uint64, np.float64)
    p, q = (np.array(bits, integer).view(real) for bits in (a, b))
    on = rounding_bench(form)
    load(on, form, a, b)
    with np.errstate(all="ignore"):
        expected = {"fadd": p + q, "fsub": p - q, "fmul": p * q, "fdiv": p / q, "fsqrt": np.sqrt(p)}
    for name, value in expected.items():
        line = next(line for line in on.places if line.startswith(f"{name}.") and line.endswith("rne"))
        bits = form.nan if np.isnan(value) else int(value.view(integer))
        assert (name, result(on, line, form)[0]) == (name, bits)


def test_moves_loads_and_stores() -> None:
    lines = [
        "flw fa0, (a0)",
        "fsw fa0, 16(a0)",
        "fld fa1, (a0)",
        "fsd fa1, 24(a0)",
        "fmv.x.w a1, fa1",
        "fmv.x.d a2, fa1",
        "fmv.w.x fa2, a2",
        "fmv.d.x fa3, a2",
    ]
    on = bench(lines, WIDE)
    on.machine.write(SCRATCH, bytes.fromhex("000000c000000840"))
    on.machine.set_x(10, SCRATCH)
    for line in lines:
        on.step(line)
    pattern = 0x40080000C0000000
    assert on.machine.f[10:14] == [BOX | 0xC0000000, pattern, BOX | 0xC0000000, pattern]
    assert on.machine.x[11:13] == [0xFFFFFFFFC0000000, pattern]
    assert on.machine.read(SCRATCH + 16, 16) == bytes.fromhex("000000c000000000000000c000000840")


def test_unboxed_single_is_nan() -> None:
    on = bench(["fadd.s fa3, fa0, fa0", "fsgnj.s fa3, fa0, fa0", "fclass.s a3, fa0"], WIDE)
    on.machine.set_f(10, 0x3F800000)
    assert result(on, "fadd.s fa3, fa0, fa0", SINGLE) == (SINGLE.nan, 0)
    assert result(on, "fsgnj.s fa3, fa0, fa0", SINGLE) == (SINGLE.nan, 0)
    on.step("fclass.s a3, fa0")
    assert on.machine.x[13] == 1 << 9


def test_control_register() -> None:
    lines = [
        "csrrw a1, frm, a0",
        "csrrs a7, frm, zero",
        "fcvt.w.s a2, fa0, dyn",
        "csrrsi a3, fflags, 8",
        "csrrci a4, fcsr, 1",
        "csrrw a5, fcsr, a0",
        "csrrs a6, fcsr, zero",
    ]
    on = bench(lines, WIDE)
    load(on, SINGLE, 0x40200000)  # 2.5
    on.machine.set_x(10, 3)
    for line in lines:
        on.step(line)
    assert on.machine.x[11] == 0
    assert on.machine.x[17] == 3
    assert on.machine.x[12] == 3, "2.5 upwards"
    assert on.machine.x[13] == NX
    assert on.machine.x[14] == 3 << 5 | 9
    assert on.machine.x[15] == 3 << 5 | 8
    assert on.machine.x[16] == 3


def test_reserved_rounding_mode_is_illegal() -> None:
    on = bench(["fadd.s fa3, fa0, fa1"], WIDE)
    on.machine.set_fcsr(5 << 5)
    with pytest.raises(PolyloomError, match="PL0911"):
        on.step("fadd.s fa3, fa0, fa1")


def test_every_float_instruction_is_tested() -> None:
    stated = {f"{name}.{letter}" for name in (*ROUNDED, *TESTS, *BITWISE) for letter in "sd"}
    stated |= {f"fcvt.{kind}.{letter}" for kind in INTEGERS for letter in "sd"} | {
        f"fcvt.{letter}.{kind}" for kind in INTEGERS for letter in "sd"
    }
    stated |= {"fcvt.s.d", "fcvt.d.s", "flw", "fsw", "fld", "fsd", "fmv.x.w", "fmv.x.d", "fmv.w.x", "fmv.d.x"}
    assert {name for name in base_mnemonics() if name[0] == "f" and not name.startswith("fence")} == stated
