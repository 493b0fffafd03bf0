# SPDX-License-Identifier: Apache-2.0
"""Convolutions as Python functions: of any type, with dimensions of the arrays in any order, strides and padding."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TYPES = {"f32": ("f32", ""), "f16": ("f32", "pl.to_f32"), "i8": ("i32", "pl.to_i32"), "u8": ("i32", "pl.to_i32")}


@dataclass(frozen=True)
class Kernel:
    """`image`, `weight`, `result`: the order of dimensions, by letters: n batch, c and m channels, h and w pixels, r
    and s windows. `order` is that of the sum; `stride` and `padding` along h and w."""

    element: str = "f32"
    image: str = "hwc"
    weight: str = "rscm"
    result: str = "hwm"
    order: str = "rsc"
    window: tuple[int, int] = (3, 3)
    stride: tuple[int, int] = (1, 1)
    padding: tuple[int, int] = (1, 1)
    clamps: bool = False

    def text(self) -> str:
        """A module with the function `conv`."""
        at = {
            "h": _affine(("h", self.stride[0]), ("r", 1), -self.padding[0]),
            "w": _affine(("w", self.stride[1]), ("s", 1), -self.padding[1]),
        }
        extents = {
            "h": f"{self.stride[0]} * H + {self.window[0] - 1 - 2 * self.padding[0]}",
            "w": f"{self.stride[1]} * W + {self.window[1] - 1 - 2 * self.padding[1]}",
            "r": str(self.window[0]),
            "s": str(self.window[1]),
        }
        x = ", ".join(at.get(d, d) for d in self.image)
        shapes = [", ".join(extents.get(d, d.upper()) for d in self.image)]
        shapes += [", ".join({"r": extents["r"], "s": extents["s"]}.get(d, d.upper()) for d in self.weight)]
        shapes += [", ".join(d.upper() for d in self.result)]
        sums, convert = TYPES[self.element]
        convert = convert or ""
        term = f"{convert}(x[{x}]) * {convert}(k[{', '.join(self.weight)}])"
        element = f"y[{', '.join(self.result)}]"
        lines = ["import polyloom as pl", "", 'N, C, H, W, M = pl.sizes("N C H W M")', "", "", "@pl.kernel"]
        lines.append(
            f"def conv(x: pl.{self.element}[{shapes[0]}], k: pl.{self.element}[{shapes[1]}], "
            f"y: pl.{sums}[{shapes[2]}]) -> None:"
        )
        level = 1
        for d in self.result:
            lines.append(f"{'    ' * level}for {d} in range({d.upper()}):")
            level += 1
        lines.append(f"{'    ' * level}{element} = {'0' if sums == 'i32' else '0.0'}")
        bounds = {d: f"range({extents[d]})" for d in "rs"}
        bounds["c"] = "range(C)"
        test = [f"{at[d]} >= 0 and {at[d]} < {extents[d]}" for d in "hw"]
        for d in self.order:
            lines.append(f"{'    ' * level}for {d} in {bounds[d]}:")
            level += 1
        lines += [f"{'    ' * level}if {' and '.join(test)}:", f"{'    ' * (level + 1)}{element} += {term}"]
        return "\n".join(lines) + "\n"

    def path(self, folder: Path) -> str:
        path = folder / "conv.py"
        path.write_text(self.text())
        return f"{path}:conv"


def _affine(*parts: Any) -> str:
    *terms, offset = parts
    text = " + ".join(name if factor == 1 else f"{factor} * {name}" for name, factor in terms)
    return text + (f" - {-offset}" if offset < 0 else f" + {offset}" if offset else "")


def some(rng: random.Random) -> Kernel:
    """Any of them that the tensor coprocessor computes."""
    element = rng.choice(list(TYPES))
    batch = rng.random() < 0.3
    image = _shuffled(rng, "chw" + "n" * batch)
    orders = {"f32": ["rsc", "src", "crs", "csr"], "f16": ["rsc", "src"]}
    order = rng.choice(orders[element]) if element in orders else _shuffled(rng, "rsc")
    window = rng.randint(1, 4), rng.randint(1, 4)
    stride = rng.choice([(1, 1), (1, 1), (2, 2), (1, 3)])
    padding = rng.randint(0, window[0] - 1), rng.randint(0, window[1] - 1)
    result = _shuffled(rng, "mhw" + "n" * batch)
    return Kernel(element, image, _shuffled(rng, "rscm"), result, order, window, stride, padding)


def _shuffled(rng: random.Random, letters: str) -> str:
    return "".join(rng.sample(letters, len(letters)))
