# SPDX-License-Identifier: Apache-2.0
"""Axes with ticks at round numbers: 1, 2 or 5 times a power of ten (Heckbert, "Nice numbers for graph labels", 1990),
or on a logarithmic scale powers of the base.

A `Scale` maps values to places of a picture; `draw_horizontal` and `draw_vertical` draw its axis below or to the left
of what it measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log, log10

from polyloom.report.page.svg import decimal, text


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `first` to `last` at places from `start` to `end`, in pixels; y grows downwards, so that an axis
    that goes up has `start` > `end`. With a `base` it is logarithmic, and values are positive."""

    first: float
    last: float
    start: float
    end: float
    base: float | None = None

    def at(self, value: float) -> float:
        """The place of a value."""
        low, high, here = (self._transform(v) for v in (self.first, self.last, value))
        return self.start if low == high else self.start + (self.end - self.start) * (here - low) / (high - low)

    def _transform(self, value: float) -> float:
        return value if self.base is None else log(value, self.base)

    def ticks(self, most: int = 8) -> tuple[float, ...]:
        """At most about `most` round values, in ascending order."""
        if self.base is None:
            return ticks(self.first, self.last, most)
        low, high = ceil(log(self.first, self.base) - 1e-9), floor(log(self.last, self.base) + 1e-9)
        step = max(1, ceil((high - low + 1) / most))
        return tuple(self.base**n for n in range(low, high + 1, step))


def ticks(first: float, last: float, most: int = 8) -> tuple[float, ...]:
    """Tick marks: multiples of 1, 2 or 5 times a power of ten between two values, both included; at most `most` and one
    (Heckbert 1990).
    """
    if last <= first:
        return (first,)
    least = (last - first) / most
    power = 10.0 ** floor(log10(least))
    # The tolerance keeps a step that rounding has made a little too small.
    step = next(f * power for f in (1, 2, 5, 10, 20) if f * power >= least * (1 - 1e-9))
    low, high = ceil(first / step - 1e-9), floor(last / step + 1e-9)
    return tuple(n * step for n in range(low, high + 1))


def format_tick(value: float) -> str:
    """A tick's label: thousands apart, no more digits than it has."""
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:.3g}"


def draw_horizontal(scale: Scale, y: float, label: str = "", most: int = 8) -> str:
    """A horizontal axis at the height `y`, with its label at its end."""
    marks = "".join(f"M{decimal(scale.at(v))} {decimal(y)}v4" for v in scale.ticks(most))
    names = "".join(text(scale.at(v), y + 16, format_tick(v), "middle") for v in scale.ticks(most))
    line = f'<path class="axis" d="M{decimal(scale.start)} {decimal(y)}H{decimal(scale.end)}{marks}"/>'
    return line + names + (text(scale.end, y + 31, label, "end") if label else "")


def draw_vertical(scale: Scale, x: float, label: str = "", most: int = 6) -> str:
    """A vertical axis at `x`, with its label above it."""
    marks = "".join(f"M{decimal(x)} {decimal(scale.at(v))}h-4" for v in scale.ticks(most))
    names = "".join(text(x - 7, scale.at(v) + 4, format_tick(v), "end") for v in scale.ticks(most))
    line = f'<path class="axis" d="M{decimal(x)} {decimal(scale.start)}V{decimal(scale.end)}{marks}"/>'
    return line + names + (text(x - 7, min(scale.start, scale.end) - 10, label) if label else "")
