# SPDX-License-Identifier: Apache-2.0
"""Cost model of a convolution in cycles, before it runs: it decides along which dimension pixels of a tile lie, and how
many they are.

A step takes as long as its FMA, or as its lines take to come from the shire, one every 10 cycles. Figures:
docs/targets/minion.md, "Time".
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Final

from polyloom.targets.minion.map.convolution.shape import Shape
from polyloom.targets.minion.words.tensor_words import SCP_LINES
from polyloom.targets.minion.words.tiles import ROWS

_MORE: Final = {"fp32": 17, "fp16": 17, "int8": 24}
"""Cycles of an FMA beside its micro-operations."""
# The pipeline of the FMA has seven stages: a word with fewer micro-operations waits for itself.
_LEAST: Final = 7
"""Micro-operations of a word of depth."""
_LINE: Final = 10
_LOAD: Final = 45
"""Of a line, and at least of a load."""
_START: Final = 500
_TILE: Final = 250
_TURN: Final = 400
"""Of a tile, and of turning it over."""


def cycles(s: Shape, minions: int) -> int:
    """Predicted cycles of the busiest minion."""
    if s.outermost:
        return _START + -(-s.tiles // minions) * (_TILE + _outermost_cycles(s))
    taps, rest = prod(tap.extent for tap in s.taps), (s.words - 1) % ROWS + 1
    tile = _TILE + taps * ((s.steps - 1) * _step_cycles(s, ROWS) + _step_cycles(s, rest)) + (_TURN if s.turns else 0)
    return _START + -(-s.tiles // minions) * tile


def _outermost_cycles(s: Shape) -> int:
    """Predicted cycles of a tile with input channels outermost."""
    columns = -(-min(s.channels, ROWS) // 8)
    # Each word of depth is a load to TenB and a multiplication of their own.
    step = max(max(s.tile * columns, _LEAST) + _MORE[s.kind.name], _LOAD)
    return s.words * prod(tap.extent for tap in s.taps) * step + s.steps * (_LINE * s.lines + _TURN)


def _step_cycles(s: Shape, words: int) -> int:
    """Predicted cycles of a step of so many words: the slowest of multiplication, both loads, and the least time of a
    load.
    """
    columns = -(-min(s.channels, ROWS) // 8) if s.kind.name != "int8" else 1
    fma = words * max(s.tile * columns, _LEAST) + _MORE[s.kind.name]
    return max(fma, _LINE * s.tile, _LINE * words, _LOAD)


def _fits_mask(s: Shape) -> bool:
    """Whether the fields of the convolution CSRs hold what masks the pixels: a row within 15 bits, a step within 7
    (manual, chapter 9).
    """
    return not s.is_masked or (s.pixel_axis.limit < 1 << 15 and s.pixel_axis.stride < 1 << 7)


def choose_tile(s: Shape, minions: int) -> Shape | None:
    """Shape with the axis and the number of pixels that are fastest, the most pixels of those; None where windows are
    larger than L1Scp, or rows than a mask. Where tiles are turned over, they lie along the result's last dimension, and
    lines of pixels are whole.
    """
    if s.turns:
        return s if _fits_mask(s) else None
    options = [
        replace(s, pixel=n, tile=tile) for n, axis in enumerate(s.axes) for tile in range(1, min(axis.extent, ROWS) + 1)
    ]
    if s.outermost:
        options = [o for o in options if any(tap.axis == o.pixel for tap in o.taps) and o.lines <= SCP_LINES]
    options = [o for o in options if _fits_mask(o)]
    return min(options, key=lambda o: (cycles(o, minions), -o.tile, -o.pixel), default=None)
