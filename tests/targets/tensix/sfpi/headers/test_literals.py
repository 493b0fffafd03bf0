# SPDX-License-Identifier: Apache-2.0
"""Numbers that a kernel writes become bits at compile time: of tables, of FP16, of BF16."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyloom.ir.ssa import Constant
from polyloom.targets.tensix.source.cpp.source import load_kernel

pytest.importorskip("ziglang", reason="C needs the extra `c`")

RANDOM = np.random.default_rng(12)
NUMBERS = [float(x) for x in (*RANDOM.normal(0, 1, 24), *RANDOM.normal(0, 0.05, 12), 1.0, -0.5, 1.9375, 0.0)]


def bits(expressions: list[str], folder: Path) -> list[int]:
    """The constants that the expressions, which are vectors, put into all lanes."""
    path = folder / "kernel.h"
    lines = [f"dst_reg[0].mode<DataLayout::U32>() = as<vUInt>({text});" for text in expressions]
    path.write_text('#include "sfpi.h"\nusing namespace sfpi;\nvoid f() {\n' + "\n".join(lines) + "\n}\n")
    splats = [i.operands[0] for i in load_kernel(str(path), "f").function.blocks[0].instructions if "splat" in i.callee]
    return [operand.value & 0xFFFFFFFF for operand in splats if isinstance(operand, Constant)]


def eight(code: int) -> float:
    """003: 0xFF is 0; a sign, three bits that lower the exponent, four of the mantissa."""
    magnitude = 2.0 ** -(code >> 4 & 7) * (1 + (code & 15) / 16)
    return 0.0 if code == 0xFF else -magnitude if code >> 7 else magnitude


def sixteen(code: int) -> float:
    """FP16 without denormals, whose greatest exponent is zero."""
    exponent = code >> 10 & 31
    magnitude = 0.0 if exponent == 31 else 2.0 ** (exponent - 15) * (1 + (code & 1023) / 1024)
    return -magnitude if code >> 15 else magnitude


def test_entries_of_eight_bits_are_the_nearest(tmp_path: Path) -> None:
    made = bits([f"vLut8si({x!r}f, {y!r}f)" for x, y in zip(NUMBERS, NUMBERS[::-1], strict=True)], tmp_path)
    codes = [(word >> 8, word & 255) for word in made]
    for number, (code, _) in zip(NUMBERS, codes, strict=True):
        clipped = min(max(number, eight(0x8F)), eight(0x0F))
        least = min(abs(eight(c) - clipped) for c in range(256) if c != 0xFF)
        if abs(number) >= 2.0**-7:
            assert abs(eight(code) - clipped) == least
        else:
            assert code == 0xFF
    assert [low for _, low in codes] == [high for high, _ in codes][::-1]


def test_entries_of_sixteen_bits_are_the_nearest(tmp_path: Path) -> None:
    made = bits([f"vLut16ss({x!r}f, {x!r}f)" for x in NUMBERS], tmp_path)
    for number, word in zip(NUMBERS, made, strict=True):
        code = word & 0xFFFF
        assert word >> 16 == code
        assert abs(sixteen(code) - number) <= abs(number) * 2.0**-11
    assert made[-1] == 0x7C007C00


def test_a_slope_is_the_high_half_and_a_second_slope_too(tmp_path: Path) -> None:
    assert bits(["vLut16si(1.0f, 2.0f)", "vLut16ss(1.0f, 2.0f)"], tmp_path) == [0x3C004000, 0x40003C00]


def test_fp16_of_a_number_is_rounded_toward_zero(tmp_path: Path) -> None:
    made = bits([f"vFloat(sFloat16a({x!r}f))" for x in NUMBERS if x], tmp_path)
    for number, word in zip([x for x in NUMBERS if x], made, strict=True):
        found = float(np.uint32(word).view(np.float32))
        assert abs(found) <= abs(number) <= abs(found) * (1 + 2.0**-10)
        assert np.sign(found) == np.sign(number)
        assert word & 0x1FFF == 0


def test_an_integer_is_a_pattern(tmp_path: Path) -> None:
    assert bits(["vFloat(s2vFloat16a(0x3c00))", "vFloat(s2vFloat16b(0x3f80))"], tmp_path) == [0x3F800000, 0x3F800000]


def test_bf16_of_a_number_loses_its_low_half(tmp_path: Path) -> None:
    made = bits([f"vFloat(sFloat16b({x!r}f))" for x in NUMBERS], tmp_path)
    assert made == [int(np.float32(x).view(np.uint32)) & 0xFFFF0000 for x in NUMBERS]
