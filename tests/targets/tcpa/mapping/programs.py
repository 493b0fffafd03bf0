# SPDX-License-Identifier: Apache-2.0
"""Programs that the tests of the mapping share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polyloom.frontend.pla import load, parse
from polyloom.ir.pla import Program

EXAMPLES = Path(__file__).parents[4] / "examples"


def example(name: str) -> Program:
    return load(EXAMPLES / f"{name}.pla")


def stencil(distances: Sequence[tuple[int, ...]]) -> Program:
    """x[I] is the sum of x[I - d] over the distances inside of the space, 1 elsewhere; every element is an output."""
    n = len(distances[0])
    names = "ijklabc"[:n]
    sides = ("N", "M", "K", "L", "A", "B", "C")[:n]
    here = ", ".join(names)
    inside = " and ".join(
        f"{max(0, *(d[m] for d in distances))} <= {name} <= {side} - 1 - {max(0, *(-d[m] for d in distances))}"
        for m, (name, side) in enumerate(zip(names, sides, strict=True))
    )
    terms = " + ".join(
        f"x[{', '.join(f'{name} - {c}' if c >= 0 else f'{name} + {-c}' for name, c in zip(names, d, strict=True))}]"
        for d in distances
    )
    return parse(
        f"parameter {', '.join(f'{s} >= 0' for s in sides)}\noutput y[{', '.join(sides)}]: i32\n"
        f"for {', '.join(f'0 <= {name} < {side}' for name, side in zip(names, sides, strict=True))} do\n"
        f"  S1: x[{here}] = {terms} if {inside}\n  S2: x[{here}] = 1 if not ({inside})\n  S3: y[{here}] = x[{here}]\n"
    )


def counts(condition: str) -> Program:
    """y[i, j] counts along k, from 1 wherever `condition` fails; k >= 1 must be part of it."""
    return parse(
        "parameter N >= 1\noutput y[N, N]: i32\nfor 0 <= i < N, 0 <= j < N, 0 <= k < N do\n"
        f"  S1: x[i, j, k] = x[i, j, k - 1] + 1 if {condition}\n  S2: x[i, j, k] = 1 if not ({condition})\n  S3: y[i, "
        "j] = x[i, j, k] if k = N - 1\n"
    )
