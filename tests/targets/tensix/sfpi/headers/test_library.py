# SPDX-License-Identifier: Apache-2.0
"""Every name of the vector language: its example compiles, runs on the model as the interpreter has it, and is on the
page; what exact functions of Python say is what comes out."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from polyloom.targets.tensix.kernel import compile_kernel, read_note
from polyloom.targets.tensix.kernel_form import Kernel
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.run import kernel_run
from polyloom.targets.tensix.run.library import (
    FLOATS,
    OPERANDS,
    Entry,
    compile_examples,
    entries,
    interpret_example,
    result_address,
)
from polyloom.targets.tensix.run.library_page import BEGIN, library_tables
from polyloom.targets.tensix.source.cpp.source import HERE

pytest.importorskip("ziglang", reason="C needs the extra `c`")

PAGE = Path(__file__).parents[5] / "docs" / "sfpi.md"
EDGES: Final = (0, 0x80000000, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x3F800000, 0xBF800000, 0x00800000)
NOT_RUN: Final = ("approx_exp",)
"""Its rounding is not published."""
RANDOM: Final = ("rand",)
Words = NDArray[np.uint32]
NAMES = [entry.names for entry in entries()]


def entry_of(names: str) -> Entry:
    return next(entry for entry in entries() if entry.names == names)


def rows(seed: int) -> Words:
    """Dst with 32 lanes of edges and random bits for every operand."""
    random = np.random.default_rng(seed)
    made = np.zeros((64, 16), np.uint32)
    for name, (type, place) in OPERANDS.items():
        bits = random.integers(0, 1 << 32, 32, dtype=np.uint32)
        if type == "vFloat":
            bits = random.normal(0, 4, 32).astype(np.float32).view(np.uint32)
        if name in "ij":
            bits = random.integers(-40, 40, 32).astype(np.int32).view(np.uint32)
        bits[: len(EDGES)] = random.permutation(np.array(EDGES, np.uint32))
        made[2 * place : 2 * place + 4, ::2] = bits.reshape(4, 8)
    return made


def lanes(made: Words, place: int) -> Words:
    return made[2 * place : 2 * place + 4, ::2].reshape(-1)


def test_the_page_has_the_library(request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    begin = text.find(BEGIN)
    made = text[: begin if begin >= 0 else len(text)].rstrip("\n") + f"\n\n{library_tables()}\n"
    if request.config.getoption("--update-golden"):
        PAGE.write_text(made, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == made


def test_every_public_name_of_the_headers_is_on_the_page() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((HERE / "include").glob("sfpi_*.h")))
    public = re.sub(r"namespace impl_ \{.*?\}  // namespace impl_", "", text, flags=re.DOTALL)
    functions = set(re.findall(r"^(?:__SFPI_BLACKHOLE\(.*?\) )?sfpi_inline [\w:<>, ]+ (\w+)\(", public, re.MULTILINE))
    constants = set(re.findall(r"^inline constexpr .* (\w+)[;(]", public, re.MULTILINE))
    macros = set(re.findall(r"^#define (v_\w+)", text, re.MULTILINE))
    listed = set(re.findall(r"\w+", " ".join(NAMES)))
    assert len(functions) > 40
    assert (functions | constants | macros) - listed - {"operator"} <= {"DPRINT"}


@pytest.mark.parametrize("names", [n for n in NAMES if n not in NOT_RUN])
def test_an_example_runs_as_the_interpreter_has_it(names: str) -> None:
    entry = entry_of(names)
    form = compile_examples(entry.member)[entry]
    data = compile_kernel(Kernel(form), names, entry.member, Options(dest=32, per="tile"))
    given = rows(1)
    ran = kernel_run.run(data, read_note(data), {"dst:fp32": given}, hazards="error")
    place = result_address(form)
    found = kernel_run.read_outputs(ran, {"dst:fp32": given}, ("dst:fp32",), 32)["dst:fp32"].view(np.uint32)
    expected = interpret_example(form, given, entry.member)
    if names not in RANDOM:
        assert lanes(found, place).tolist() == lanes(expected, place).tolist()
    for _, operand in OPERANDS.values():
        assert np.array_equal(found[2 * operand : 2 * operand + 4], given[2 * operand : 2 * operand + 4])


def signed(bits: int) -> int:
    return bits - (1 << 32) if bits >> 31 else bits


def exponent(bits: int) -> int:
    return bits >> 23 & 255


def mantissa(bits: int) -> int:
    return bits & 0x7FFFFF


def ordered(bits: int) -> tuple[int, int]:
    """SFPSWAP's order: by sign and magnitude, −0 below +0."""
    return (-1, -(bits & 0x7FFFFFFF)) if bits >> 31 else (1, bits)


EXACT: dict[str, Callable[[dict[str, int]], int]] = {
    "- (of one)": lambda v: v["x"] ^ 0x80000000,
    "+, - (integers)": lambda v: v["i"] - v["j"],
    "&, |, ^, ~": lambda v: v["i"] & ~v["j"],
    "&=, |=, ^=, <<=, >>=": lambda v: v["u"] >> 3,
    "<<, >>": lambda v: v["u"] >> 4,
    "exexp, ExponentMode": lambda v: exponent(v["x"]) - 127,
    "exexp_nodebias": lambda v: exponent(v["x"]),
    "exman, MantissaMode": lambda v: mantissa(v["x"]),
    "exman8": lambda v: mantissa(v["x"]) | 0x800000,
    "exman9": lambda v: mantissa(v["x"]),
    "exsgn": lambda v: v["x"] >> 31,
    "setexp": lambda v: v["x"] & 0x807FFFFF | 127 << 23,
    "copyexp": lambda v: v["x"] & 0x807FFFFF | v["y"] & 0x7F800000,
    "addexp": lambda v: v["x"] if exponent(v["x"]) == 255 else v["x"] & 0x807FFFFF | (exponent(v["x"]) + 2 & 255) << 23,
    "setman": lambda v: v["x"] & 0xFF800000,
    "copyman": lambda v: v["x"] & 0xFF800000 | mantissa(v["y"]),
    "setsgn": lambda v: v["x"] | 0x80000000,
    "copysgn": lambda v: v["x"] & 0x7FFFFFFF | ~v["y"] & 0x80000000,
    "setsgn2": lambda v: v["x"] & 0x7FFFFFFF | (v["i"] & 1) << 31,
    "lz, LZMode": lambda v: 32 - v["u"].bit_length(),
    "lz_nosgn": lambda v: 32 - (v["u"] & 0x7FFFFFFF).bit_length(),
    "is_nan": lambda v: int(exponent(v["x"]) == 255 and mantissa(v["x"]) != 0),
    "is_inf": lambda v: int(v["x"] & 0x7FFFFFFF == 0x7F800000),
    "is_finite": lambda v: int(exponent(v["x"]) != 255),
    "is_normal": lambda v: int(0 < exponent(v["x"]) < 255),
    "is_subnormal": lambda v: int(exponent(v["x"]) == 0 and mantissa(v["x"]) != 0),
    "is_zero": lambda v: int(v["x"] & 0x7FFFFFFF == 0),
    "is_pos": lambda v: int(v["x"] >> 31 == 0),
    "is_neg": lambda v: v["x"] >> 31,
    "min": lambda v: min(v["x"], 0x3F800000, key=ordered),
    "max": lambda v: max(v["x"], v["y"], key=ordered),
    "clamp": lambda v: min(max(v["x"], 0xBF800000, key=ordered), 0x3F800000, key=ordered),
    "vec_min_max": lambda v: max(v["x"], v["y"], key=ordered),
    "swap, vec_swap": lambda v: v["x"] if v["x"] >> 31 else v["y"],
    "as, reinterpret": lambda v: v["x"],
    ">> (of vInt)": lambda v: signed(v["i"]) >> 2,
}


@pytest.mark.parametrize("names", EXACT)
@pytest.mark.parametrize("seed", [2, 3])
def test_exact_functions_say_what_comes_out(names: str, seed: int) -> None:
    entry = entry_of(names)
    form, given = compile_examples(entry.member)[entry], rows(seed)
    found = lanes(interpret_example(form, given, entry.member), result_address(form))
    operands = {name: lanes(given, place).tolist() for name, (_, place) in OPERANDS.items()}
    values: list[dict[str, Any]] = [{name: bits[lane] for name, bits in operands.items()} for lane in range(32)]
    assert found.tolist() == [EXACT[names](value) & 0xFFFFFFFF for value in values]


def test_sums_and_products_are_those_of_the_machine() -> None:
    """Of numbers whose exact results have 24 bits: other roundings are the vector unit's own."""
    random = np.random.default_rng(4)
    numbers = [random.integers(-1000, 1000, 32).astype(np.float32) for _ in range(2)]
    given = np.zeros((64, 16), np.uint32)
    for values, name in zip(numbers, ("x", "y"), strict=True):
        place = OPERANDS[name][1]
        given[2 * place : 2 * place + 4, ::2] = (values + np.float32(0.5)).view(np.uint32).reshape(4, 8)
    x, y = (values + np.float32(0.5) for values in numbers)
    for names, expected in (("+, - (floats)", x - y), ("*", x * y)):
        entry = entry_of(names)
        form = compile_examples("wormhole")[entry]
        found = lanes(interpret_example(form, given, "wormhole"), result_address(form)).view(np.float32)
        assert result_address(form) == FLOATS
        assert np.array_equal(found, expected)
