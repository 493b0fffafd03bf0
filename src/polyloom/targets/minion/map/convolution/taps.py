# SPDX-License-Identifier: Apache-2.0
"""Loops over the taps of a convolution's windows, as assembly. Taps outside of the image are left out for the whole
tile, but for those along its pixels, where the mask of the pixels inside is written instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from polyloom.targets.minion.map.convolution.shape import Shape, Tap
from polyloom.targets.minion.map.product.tensor_assembly import li

PAIRS: Final = (("s3", "s4"), ("s5", "a5"), ("a6", "a7"), ("gp", "sp"), ("tp", "ra"))
"""For each tap: the register that tells where it is in the image, and that of how many are left."""
TAPS: Final = len(PAIRS)
Steps = Callable[[Shape, Tap], list[tuple[str, int]]]
"""What a tap adds to registers."""


def tap_loops(s: Shape, taps: tuple[Tap, ...], prefix: str, body: list[str], steps: Steps) -> list[str]:
    """Loop nest with `body` for each of the taps, the last one innermost; registers are afterwards what they were."""
    if not taps:
        return body
    tap = taps[0]
    number = s.taps.index(tap)
    where, left = PAIRS[number]
    again, skip = f"{prefix}{number}", f"{prefix}{number}.past"
    leaves, several = s.needs_check(tap), tap.extent > 1
    lines = [li(left, tap.extent), f"{again}:"] if several else []
    if leaves and tap.axis != s.pixel:
        # One unsigned comparison finds both sides: a negative place is a large number.
        lines += [li("t0", s.axes[tap.axis].limit), f"bgeu {where}, t0, {skip}"]
    elif leaves:
        lines += write_mask(where, 0)
    lines += [*tap_loops(s, taps[1:], prefix, body, steps), f"{skip}:"]
    if not several:
        return lines
    each = [*steps(s, tap), *([(where, tap.dilation)] if leaves else [])]
    lines += [line for register, step in each for line in add_constant(register, step)]
    lines += [f"addi {left}, {left}, -1", f"bnez {left}, {again}"]
    return [*lines, *(line for register, step in each for line in add_constant(register, -tap.extent * step))]


def write_mask(where: str, further: int) -> list[str]:
    """Mask of the pixels that are inside of the image, the first of them `further` than the register says (manual,
    chapter 9, tensor_conv_ctrl).
    """
    # COLSTART is a signed field of 16 bits; bits above it are the row's and have to be 0.
    lines = [f"addi t0, {where}, {further}", "slli t0, t0, 48"] if further else [f"slli t0, {where}, 48"]
    return [*lines, "srli t0, t0, 48", "csrw tensor_conv_ctrl, t0"]


def add_constant(register: str, value: int) -> list[str]:
    """A constant."""
    if -2048 <= value < 2048:
        return [f"addi {register}, {register}, {value}"] if value else []
    return [f"li t0, {value}", f"add {register}, {register}, t0"]
