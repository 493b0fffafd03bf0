# SPDX-License-Identifier: Apache-2.0
"""One program, compiled once, on four sizes of array: `make demo`.

`used` is the rectangle that instantiation found fastest. Coefficients and sums of a FIR filter travel along different
dimensions, so a second dimension of elements mostly waits for the first: the speed-up follows the side of the array,
not its area. Every row instantiates the same symbolic configuration, runs the emitted words on the cycle-accurate
model, and compares all outputs with the program's own interpreter (a difference ends the demo with an error).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import polyloom as pl

SIZES = ((1, 1), (4, 4), (8, 8), (32, 32))
HEADER = "   array    used     cycles   speed-up   classes   instantiated in   configuration   outputs"


def row(compiled: pl.Compiled, pes: tuple[int, int], baseline: int | None) -> tuple[str, int]:
    instance = compiled.instantiate(N=1024, T=64, pes=pes)
    result = instance.run()
    cycles = result.cycles or 0
    milliseconds = (instance.seconds or 0.0) * 1e3
    cells = (
        f"{pes[0]}x{pes[1]}".rjust(8),
        "x".join(map(str, cast("list[int]", result.data["pes"]))).rjust(8),
        f"{cycles:11,}",
        f"{(baseline or cycles) / cycles:10.1f}x",
        f"{result.data['processor_classes']!s:>10}",
        f"{milliseconds:15.1f} ms",
        f"{len(instance.data):10,} bytes",
        "   equal" if result.verified else "   DIFFERENT",
    )
    return "".join(cells), cycles


def main() -> None:
    compiled = pl.compile(Path(__file__).with_name("fir.pla"), on="tcpa:wide")
    print(
        f"fir compiled once, in {compiled.seconds or 0.0:.2f} s, to {len(compiled.data):,} bytes; N = 1024 outputs, T "
        "= 64 taps\n"
    )
    print(HEADER)
    baseline = None
    for pes in SIZES:
        line, cycles = row(compiled, pes, baseline)
        baseline = baseline or cycles
        print(line)


if __name__ == "__main__":
    try:
        main()
    except pl.PolyloomError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
