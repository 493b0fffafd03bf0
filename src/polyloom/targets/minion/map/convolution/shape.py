# SPDX-License-Identifier: Apache-2.0
"""Iteration space of a convolution at its sizes, as one matrix product per tap of its windows: a tile of the result is
up to 16 pixels that are neighbours along one dimension, by 16 output channels; the depth is input channels.

Lines of the image hold the channels of a pixel, 16 words each, those of the weights a word of depth for 16 output
channels. All steps are bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from polyloom.targets.minion.map.product.operand import Kind
from polyloom.targets.minion.map.product.quant import Quant
from polyloom.targets.minion.words.tiles import ROWS


@dataclass(frozen=True, slots=True)
class Axis:
    """Dimension of the result other than output channels, and that of the image beside it, which has `limit` elements:
    pixel `i` begins at stride · i + offset there.
    """

    extent: int
    limit: int
    stride: int
    offset: int
    image_step: int
    result_step: int


@dataclass(frozen=True, slots=True)
class Tap:
    """Dimension of a window: `extent` steps along an axis, each `dilation` further in the image; `weight_step` is the
    weights'.
    """

    axis: int
    extent: int
    dilation: int
    weight_step: int


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes, addresses and steps of a convolution. `image`, `weights`, `result`: where element 0 of each is; `tile`
    pixels lie along `axes[pixel]`.

    `block_step`, `depth_step` and `line_step` lead to the weights of the next 16 output channels, of the next 16 words
    of depth and of the next word. `turns`: the result's lines hold pixels, `channel_step` apart for each channel.
    `outermost`: sums run over input channels first (channels_outermost.py). `weight_bytes` are all from `weights` on;
    `quant`:
    what becomes of sums. Of a vector, the address of the one with which sums may begin, and whether its lines may not
    stay in caches.
    """

    kind: Kind
    channels: int
    words: int
    axes: tuple[Axis, ...]
    taps: tuple[Tap, ...]
    # The number of the axis, not the axis: alternatives are tried by replacing these two fields only.
    pixel: int
    tile: int
    image: int
    weights: int
    block_step: int
    depth_step: int
    line_step: int
    result: int
    channel_step: int
    turns: bool
    unsigned: tuple[bool, bool] = (False, False)
    outermost: bool = False
    weight_bytes: int = 0
    quant: Quant | None = None
    begins: int | None = None
    evicts: bool = False

    @property
    def blocks(self) -> int:
        """Blocks of 16 output channels."""
        return -(-self.channels // ROWS)

    @property
    def steps(self) -> int:
        """Steps of 16 words of depth."""
        return -(-self.words // ROWS)

    @property
    def pixel_axis(self) -> Axis:
        """The axis of a tile's pixels."""
        return self.axes[self.pixel]

    @property
    def digits(self) -> tuple[int, ...]:
        """Number of tiles along each axis, the mixed radix in which tiles are numbered."""
        return tuple(-(-a.extent // self.tile) if n == self.pixel else a.extent for n, a in enumerate(self.axes))

    @property
    def tiles(self) -> int:
        return self.blocks * prod(self.digits)

    def needs_check(self, tap: Tap) -> bool:
        """Whether some taps are outside of the image, or the mask of pixels is needed anyway."""
        # With channels outermost the same line serves several taps, so that pixels are masked line by line.
        if self.outermost and tap.axis == self.pixel:
            return True
        axis = self.axes[tap.axis]
        # The farthest place in the image that a tap of the last pixel has.
        last = axis.stride * (axis.extent - 1) + tap.dilation * (tap.extent - 1) + axis.offset
        return axis.offset < 0 or last >= axis.limit

    @property
    def is_masked(self) -> bool:
        """Whether some pixels of a tile may be outside of the image at some taps, and others not."""
        return any(self.needs_check(tap) for tap in self.taps if tap.axis == self.pixel)

    @property
    def loaded(self) -> tuple[Tap, ...]:
        """Taps that have lines of their own, with channels outermost."""
        own = self.pixel_axis.stride > 1
        return tuple(tap for tap in self.taps if own or tap.axis != self.pixel)

    @property
    def span(self) -> int:
        """Lines of a load, with channels outermost."""
        # Taps along the pixels share the load's lines, one line further per element of dilation.
        inside = [tap for tap in self.taps if tap.axis == self.pixel and tap not in self.loaded]
        return self.tile + sum(tap.dilation * (tap.extent - 1) for tap in inside)

    def line_offset(self, tap: Tap) -> int:
        """Distance in lines of a tap from the one before, with channels outermost."""
        if tap not in self.loaded:
            return tap.dilation
        # Lines of loaded taps lie in L1Scp like an array with the taps as dimensions, the last one innermost.
        inner = self.loaded[self.loaded.index(tap) + 1 :]
        return self.span * prod(other.extent for other in inner)

    @property
    def lines(self) -> int:
        """Lines of L1Scp for 16 words of depth, with channels outermost."""
        return self.span * prod(tap.extent for tap in self.loaded)

    @property
    def has_load_per_tile(self) -> bool:
        """Whether every tile has a tap that is inside of the image."""
        return all(self._reaches_image(n) for n in range(len(self.axes)))

    def _reaches_image(self, number: int) -> bool:
        """Whether each position along an axis has a tap inside of the image."""
        axis = self.axes[number]
        taps = [tap for tap in self.taps if tap.axis == number and self.needs_check(tap)]
        return all(
            any(0 <= axis.stride * i + tap.dilation * q + axis.offset < axis.limit for q in range(tap.extent))
            for tap in taps
            # Along the pixels the mask decides, and the load is done in any case.
            if number != self.pixel
            for i in range(axis.extent)
        )

    @property
    def useful_pairs(self) -> int:
        """Number of pairs of pixels and taps that are inside of the image."""
        return prod(self._image_pairs(n) for n in range(len(self.axes)))

    def _image_pairs(self, number: int) -> int:
        """Pairs of positions along an axis and taps that are inside of the image."""
        axis = self.axes[number]
        own = [tap for tap in self.taps if tap.axis == number]
        if not own:
            return axis.extent
        places = (
            axis.stride * i + tap.dilation * q + axis.offset
            for tap in own
            for i in range(axis.extent)
            for q in range(tap.extent)
        )
        return sum(0 <= place < axis.limit for place in places)
