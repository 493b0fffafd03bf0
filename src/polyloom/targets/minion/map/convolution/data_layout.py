# SPDX-License-Identifier: Apache-2.0
"""Data layout of a convolution's image, weights and result at its sizes, and the moves that establish it.

The image's channels have to be neighbours in lines, the weights of 16 output channels a line. Where an array's last
dimension is another one, transposing loads bring it into that order; halves and bytes of weights are interleaved
(programmer's reference manual, chapter 9). A pixel's lines in packed images, and rows of packed weights, begin in all
four banks of a shire in turns: their number is odd.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from operator import mul
from typing import Final

from polyloom.analysis.convolution import Convolution
from polyloom.targets.minion.map.convolution.move import Digit, Move
from polyloom.targets.minion.map.convolution.shape import Axis, Shape, Tap
from polyloom.targets.minion.map.product.operand import Kind
from polyloom.targets.minion.map.product.quant import build_quant
from polyloom.targets.minion.memory_map import LINE
from polyloom.targets.minion.words.layout import Placed, align_page
from polyloom.targets.minion.words.tiles import ROWS, TILE, WORD

_TURN: Final = "transpose32"
_MOST: Final = 16
"""Lines of a move."""


@dataclass(slots=True)
class Room:
    """Memory behind `free`, and the moves so far: those of a group wait for those of the groups before."""

    free: int
    groups: list[list[Move]] = field(default_factory=list[list[Move]])
    last: list[Move] = field(default_factory=list[Move])

    def take(self, size: int) -> int:
        at = self.free
        self.free = align_page(at + size)
        return at

    def move(self, moves: Sequence[Move], group: int) -> None:
        while len(self.groups) <= group:
            self.groups.append([])
        self.groups[group] += moves


@dataclass(frozen=True, slots=True)
class Laid:
    """Layout of an array in lines: where it begins, and bytes from element to element of each dimension, in blocks of
    what fills a line along `lines`.
    """

    address: int
    steps: tuple[int, ...]
    shape: tuple[int, ...]


def build_shape(
    c: Convolution, kind: Kind, arrays: Mapping[str, Placed], values: Mapping[str, int], room: Room, *, outermost: bool
) -> Shape:
    """Convolution at its sizes, with tiles of 16 pixels along the result's last dimension, or the last but output
    channels.
    """
    image, weight, result = arrays[c.image], arrays[c.weight], arrays[c.result]
    depth = image.shape[c.channel]
    # Loads may read lines of channels that there are not; what lies there may not be written meanwhile.
    room.take(_overread_bytes(image.steps(), kind) + _overread_bytes(weight.steps(), kind))
    pixels = _image_layout(c, kind, image, room)
    address, steps, block, line, words = _weight_layout(c, kind, weight, room)
    turns = c.output != len(result.shape) - 1
    address_of_result, result_steps = result.address, result.steps()
    # With channels outermost, L1Scp has no lines left in which a tile could be turned over.
    if turns and outermost and c.output is not None:
        address_of_result, result_steps = _temporary_result(c.output, result, room)
        turns = False
    axes, taps = list[Axis](), dict[int, Tap]()
    order = [n for n in range(len(result.shape)) if n != c.output]
    for n in order:
        place, at = next((p, at) for at, p in enumerate(c.places) if p.result == n)
        offset = place.offset.evaluate(values)
        axes.append(Axis(result.shape[n], image.shape[at], place.stride, offset, pixels.steps[at], result_steps[n]))
        if place.weight is not None:
            made = Tap(len(axes) - 1, weight.shape[place.weight], place.dilation, steps[place.weight])
            taps[place.weight] = made
        # A dimension without a window may still leave the image; as a tap of extent 1 it gets the same checks.
        elif offset < 0 or place.stride * (result.shape[n] - 1) + offset >= image.shape[at]:
            taps[-n - 1] = Tap(len(axes) - 1, 1, 0, 0)
    # Taps follow the source's order of sums, as far as that is fixed.
    wanted = [*(c.order or ()), *sorted(taps)]
    ordered = [taps[n] for n in dict.fromkeys(wanted) if n in taps]
    channels = 1 if c.output is None else result.shape[c.output]
    axes = axes or [Axis(1, 1, 1, 0, LINE, LINE)]
    return Shape(
        kind,
        channels,
        -(-depth * kind.bytes // WORD),
        tuple(axes),
        tuple(ordered),
        len(axes) - 1,
        ROWS,
        pixels.address,
        address,
        block,
        words,
        line,
        address_of_result,
        LINE if c.output is None else result_steps[c.output],
        turns,
        (image.dtype.kind == "u", weight.dtype.kind == "u"),
        outermost,
        block * -(-channels // ROWS) if block > LINE else max(map(mul, steps, weight.shape)),
        build_quant(c.steps, kind, arrays),
    )


def _temporary_result(wide: int, result: Placed, room: Room) -> tuple[int, tuple[int, ...]]:
    """Result with output channels last, in memory of its own; when all minions are done, it is moved to where it
    belongs.
    """
    last, own = len(result.shape) - 1, result.steps()
    blocks, rest = divmod(result.shape[wide], ROWS)
    # An odd number of lines per pixel spreads pixels over all banks of the shire.
    steps, at = [0] * len(own), (-(-result.shape[wide] // ROWS) | 1) * LINE
    for n in (n for n in reversed(range(len(own))) if n != wide):
        steps[n], at = at, at * result.shape[n]
    steps[wide] = WORD
    to = room.take(at + ROWS * steps[last])
    digits = [Digit(result.shape[n], steps[n], own[n]) for n in range(last) if n != wide]
    digits.append(Digit(-(-result.shape[last] // ROWS), ROWS * steps[last], LINE))
    made = Move(
        to, result.address, (*digits, Digit(blocks, LINE, ROWS * own[wide])), ROWS, steps[last], own[wide], _TURN
    )
    done = replace(
        made,
        source=to + blocks * LINE,
        to=result.address + blocks * ROWS * own[wide],
        digits=tuple(digits),
        rows=rest or 1,
    )
    room.last += [move for move, some in ((made, blocks), (done, rest)) if some]
    return to, tuple(steps)


def _overread_bytes(steps: Sequence[int], kind: Kind) -> int:
    """Bytes behind an array that its moves may read, where nothing may be written meanwhile: lines of channels that
    there are not.
    """
    return LINE // kind.bytes * max(steps, default=0)


def _image_layout(c: Convolution, kind: Kind, image: Placed, room: Room) -> Laid:
    """Layout of the image with channels last, packed if necessary."""
    last, deep = len(image.shape) - 1, c.channel
    if deep == last:
        return Laid(image.address, image.steps(), image.shape)
    own = image.steps()
    # Two channels share a word; an odd last one must meet a zero, not what lies behind it: NaN or infinity times a zero
    # weight would be NaN.
    if kind.name == "fp16" and image.shape[deep] % 2:
        own, start = _zero_padded_copy(image, deep, kind, room)
    else:
        start = image.address
    group = len(room.groups) if start != image.address else 0
    filled = LINE // kind.bytes
    blocks = -(-image.shape[deep] // filled)
    pitch = (blocks | 1) * LINE
    # Transposing loads make 16 lines, one for each pixel of a line of the source.
    padded = -(-image.shape[last] // ROWS) * ROWS
    steps, at = [0] * len(image.shape), pitch
    for n in reversed(range(len(image.shape))):
        if n != deep:
            steps[n], at = at, at * (padded if n == last else image.shape[n])
    steps[deep] = kind.bytes
    to = room.take(at)
    digits = [Digit(image.shape[n], own[n], steps[n]) for n in range(last) if n != deep]
    digits += [Digit(padded // ROWS, ROWS * kind.bytes, ROWS * pitch), Digit(blocks, filled * own[deep], LINE)]
    transform = f"transpose{8 * kind.bytes}"
    room.move([Move(start, to, tuple(digits), ROWS, own[deep], pitch, transform)], group)
    return Laid(to, tuple(steps), image.shape)


def _zero_padded_copy(array: Placed, deep: int, kind: Kind, room: Room) -> tuple[tuple[int, ...], int]:
    """Copy in lines as they are, with zeros behind the last channel: its steps and its place."""
    shape, own, each = array.shape, array.steps(), WORD // kind.bytes
    last = len(shape) - 1
    full = [-(-n // each) * each if at == deep else n for at, n in enumerate(shape)]
    steps = [array.pitch * prod(full[n + 1 : last]) for n in range(last)]
    to = room.take(array.pitch * prod(full[:last]) + _overread_bytes(steps, kind))
    lines = array.pitch // LINE
    digits = [Digit(shape[n], own[n], steps[n]) for n in range(last)]
    moves = [Move(array.address, to, (*digits, Digit(lines // _MOST, TILE, TILE)), _MOST, LINE, LINE)]
    done = lines // _MOST * TILE
    moves.append(Move(array.address + done, to + done, tuple(digits), lines % _MOST or 1, LINE, LINE))
    room.move([m for m, some in zip(moves, (lines // _MOST, lines % _MOST), strict=True) if some], 0)
    return (*steps, own[last]), to


def _weight_layout(
    c: Convolution, kind: Kind, weight: Placed, room: Room
) -> tuple[int, tuple[int, ...], int, int, int]:
    """Layout of the weights: the address, the step of each dimension of a window, that of 16 output channels, of a word
    of depth and of 16 words.
    """
    last, wide = len(weight.shape) - 1, next((n for n, r in enumerate(c.weights) if r is not None), None)
    deep = next(p.weight for p in c.places if p.result is None)
    assert deep is not None, "it is a convolution"
    start, steps, shape = weight.address, weight.steps(), weight.shape
    group = 0
    if wide is None:
        return _packed_tiles(c, kind, (start, steps, shape), (deep, None, 0), room)
    if last not in (wide, deep):
        start, steps = _channels_last_weights(kind, weight, deep, wide, room)
        group = 1
    elif last == wide and kind.bytes < WORD and shape[deep] % (WORD // kind.bytes):
        steps, start = _zero_padded_copy(weight, deep, kind, room)
        group = 1
    if last != deep and kind.name == "fp32":
        return start, steps, LINE, steps[deep], ROWS * steps[deep]
    return _packed_tiles(c, kind, (start, steps, shape), (deep, wide, group), room)


def _channels_last_weights(kind: Kind, weight: Placed, deep: int, wide: int, room: Room) -> tuple[int, tuple[int, ...]]:
    """Layout with output channels last, where a dimension of a window was: loads transpose lines over output
    channels.
    """
    last, own, shape = len(weight.shape) - 1, weight.steps(), weight.shape
    filled, each = LINE // kind.bytes, WORD // kind.bytes
    blocks = -(-shape[wide] // filled)
    pitch = (blocks | 1) * LINE
    rows = min(shape[last], _MOST)
    full = list(shape)
    full[deep], full[last] = -(-shape[deep] // each) * each, -(-shape[last] // rows) * rows
    steps, at = [0] * len(shape), pitch
    for n in (deep, *(n for n in reversed(range(len(shape))) if n not in (deep, wide))):
        steps[n], at = at, at * full[n]
    steps[wide] = kind.bytes
    to = room.take(at + _overread_bytes(steps, kind))
    digits = [Digit(shape[n], own[n], steps[n]) for n in range(last) if n != wide]
    digits += [
        Digit(blocks, filled * own[wide], LINE),
        Digit(full[last] // rows, rows * kind.bytes, rows * steps[last]),
    ]
    room.move([Move(weight.address, to, tuple(digits), rows, own[wide], steps[last], f"transpose{8 * kind.bytes}")], 0)
    return to, tuple(steps)


def _packed_tiles(
    c: Convolution,
    kind: Kind,
    laid: tuple[int, tuple[int, ...], tuple[int, ...]],
    roles: tuple[int, int | None, int],
    room: Room,
) -> tuple[int, tuple[int, ...], int, int, int]:
    """Tiles of 16 words of depth by 16 output channels, one behind the other, as TenB takes them (manual, chapter
    9).
    """
    (start, own, shape), (deep, wide, group) = laid, roles
    depth = -(-shape[deep] * kind.bytes // LINE)
    # All taps of a block of output channels lie together, because a tile uses them one after another.
    windows = [n for n in range(len(shape)) if n not in (deep, wide)]
    steps, at = [0] * len(shape), depth * TILE
    for n in reversed(windows):
        steps[n], at = at, at * shape[n]
    # One channel is in all columns.
    blocks, across = (1, 0) if wide is None else (-(-shape[wide] // ROWS), own[wide])
    to = room.take(at * blocks)
    digits = [Digit(blocks, ROWS * across, at), *(Digit(shape[n], own[n], steps[n]) for n in windows)]
    is_last = own[deep] == kind.bytes
    along = LINE if is_last else LINE // kind.bytes * own[deep]
    digits.append(Digit(depth, along, TILE))
    stride, transform = (across, "transpose32") if is_last else (own[deep], kind.interleave)
    room.move([Move(start, to, tuple(digits), ROWS, stride, LINE, transform)], group)
    return to, tuple(steps), at, LINE, TILE
