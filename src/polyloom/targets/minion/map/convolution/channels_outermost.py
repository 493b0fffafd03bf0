# SPDX-License-Identifier: Apache-2.0
"""Sums of a tile whose input channels are the outermost loop: floats keep the order of their sums.

  for each 16 words of depth:
    for the taps along which no pixels lie: load the line of each pixel that any tap needs
    for each word, for all taps: load the line of weights to TenB, multiply one word

Along the pixels, neighbouring taps share lines: a tap is a line further. With strides, each tap has lines of its own.

Registers: as in loop.py; s8 has the line and the word of depth, a0 counts words, a2 those of the 16.
"""

from __future__ import annotations

from typing import Final

from polyloom.targets.minion.map.convolution.shape import Shape, Tap
from polyloom.targets.minion.map.convolution.taps import PAIRS, add_constant, tap_loops, write_mask
from polyloom.targets.minion.map.product.tensor_assembly import LOADED, MULTIPLIED, li, wait
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.tensor_words import encode
from polyloom.targets.minion.words.tiles import ROWS

_START: Final = encode("tensor_load", start=1).value
_A: Final = encode("tensor_fma", a=1).value
_WORD: Final = encode("tensor_fma", offset=1).value


def channel_loop(s: Shape, prefix: str) -> list[str]:
    """Loop over blocks of 16 words of depth. It waits for the multiplications before, whose lines are loaded anew
    (manual, "TensorWait").
    """
    loads = tap_loops(s, s.loaded, f"{prefix}.load", _load_lines(s), _load_steps)
    multiply = ["mv t6, s10", "csrw tensor_load, s7", "csrw tensor_fma, s8"]
    lines = [li("a0", s.words), f"{prefix}.block:", wait(MULTIPLIED), *loads, wait(LOADED)]
    lines += [li("a2", ROWS), f"bgeu a0, a2, {prefix}.full", "mv a2, a0", f"{prefix}.full:", "sub a0, a0, a2"]
    lines += [f"{prefix}.word:", *tap_loops(s, s.taps, f"{prefix}.tap", multiply, _product_steps)]
    lines += [
        *add_constant("s7", s.line_step),
        *add_constant("s8", _WORD),
        "addi a2, a2, -1",
        f"bnez a2, {prefix}.word",
    ]
    return [*lines, *add_constant("s8", -ROWS * _WORD), f"addi s6, s6, {LINE}", f"bnez a0, {prefix}.block"]


def _load_steps(s: Shape, tap: Tap) -> list[tuple[str, int]]:
    return [("s6", tap.dilation * s.axes[tap.axis].image_step + s.line_offset(tap) * _START)]


def _product_steps(s: Shape, tap: Tap) -> list[tuple[str, int]]:
    return [("s8", s.line_offset(tap) * _A), ("s7", tap.weight_step)]


def _load_lines(s: Shape) -> list[str]:
    """Loads of the lines of all pixels, 16 at most each; those outside of the image are left out."""
    lines, where = ["mv t6, s9"], _pixel_register(s)
    # A load makes at most 16 lines: the field for rows has four bits.
    for first in range(0, s.span, ROWS):
        count = min(ROWS, s.span - first)
        more = count - 1 + first * (s.pixel_axis.stride * s.pixel_axis.image_step + _START)
        lines += [*write_mask(where, first * s.pixel_axis.stride), *([f"li t1, {more}", "add t1, t1, s6"])]
        lines.append("csrw tensor_load, t1")
    return lines


def _pixel_register(s: Shape) -> str:
    return next(PAIRS[n][0] for n, tap in enumerate(s.taps) if tap.axis == s.pixel)
