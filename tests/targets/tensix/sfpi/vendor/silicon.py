# SPDX-License-Identifier: Apache-2.0
"""`make silicon`: units in the last place that the vendor measured on a Wormhole (the table of its wheel), beside those
of its unchanged headers, in the shipping build, on the model of a tile.

Every finite value of BF16 goes through each variant. As in the vendor's measurement, inputs that are denormal, results
or references that are NaN, and infinities on one side alone do not count. The exit code is 1 where a cell differs and
silicon.txt does not say why, or where fewer than 98 of 100 cells are equal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

import numpy as np
from tests.targets.tensix.sfpi.vendor.kernels import SHIPPED, UNIT
from tests.targets.tensix.sfpi.vendor.references import NARROW, REFERENCES, UNCLAIMED
from tests.targets.tensix.sfpi.vendor.wheel import header, includes, measurements, unpacked

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix.kernel import compile_kernel, read_note
from polyloom.targets.tensix.kernel_form import Kernel
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.run import sweep, ulp
from polyloom.targets.tensix.source.cpp.source import load_kernel

LIST: Final = Path(__file__).with_name("silicon.txt")
_ROW: Final = re.compile(r"\s+- \{in: Float16_b, out: Float16_b(?P<key>[^}]*)\}(?P<rest>.*)")
Width = Literal[16, 32]


@dataclass(frozen=True, slots=True)
class Operation:
    """`reasons` are those of cells that differ, by the cell."""

    name: str
    group: str
    header: str
    function: str
    init: str | None
    reasons: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A measured cell: its variant, of which None is any, and the greatest distance in units in the last place."""

    operation: str
    approximate: bool | None
    dest: Width | None
    most: int

    @property
    def name(self) -> str:
        variant = {None: "", False: " exact", True: " approximate"}[self.approximate]
        return f"{self.operation}{variant}{'' if self.dest is None else f' {self.dest}'}"


def operations(text: str) -> Iterator[Operation]:
    """Operations of the list, with the reasons behind them."""
    found: list[Operation] = []
    for line in text.split("\n"):
        if line.startswith("- "):
            cell, _, reason = line[2:].partition(": ")
            last = found.pop()
            found.append(
                Operation(last.name, last.group, last.header, last.function, last.init, (*last.reasons, (cell, reason)))
            )
        elif line and not line.startswith("#"):
            name, place, function, init = (part.strip() for part in line.split("|"))
            group, file = place.split()
            found.append(Operation(name, group, file, function, init or None))
    yield from found


def cells(table: str) -> Iterator[Cell]:
    """Cells of the vendor's table with BF16 on both sides. A distance over every lane counts, where one is given."""
    operation = ""
    for line in table.split("\n"):
        if head := re.match(r"(\w+):", line):
            operation = head[1]
        elif row := _ROW.match(line):
            key, rest = row["key"], row["rest"]
            most = re.search(r"\((\d+) steps over every lane\)", rest) or re.search(r"max (\d+) ULP", rest)
            if most is None:
                continue
            approximate, dest = (re.search(rf'{k}: "(\w+)"', key) for k in ("approx", "dest"))
            yield Cell(
                operation,
                None if approximate is None else approximate[1] == "Yes",
                None if dest is None else 32 if dest[1] == "Yes" else 16,
                int(most[1]),
            )


def variants(cell: Cell) -> Iterator[tuple[bool, Width]]:
    both: tuple[Width, ...] = (16, 32)
    yield from product(
        (False, True) if cell.approximate is None else (cell.approximate,), both if cell.dest is None else (cell.dest,)
    )


def measured(cell: Cell, operation: Operation, folder: Path) -> int | str:
    """The greatest distance of a cell's variants on the model, or what stopped it."""
    try:
        return max(_distance(operation, *variant, folder) for variant in variants(cell))
    except PolyloomError as error:
        return f"{error.diagnostics[0].code} {error.diagnostics[0].message}"[:150]


def _distance(operation: Operation, approximate: bool, dest: Width, folder: Path) -> int:
    words = {"{A}": str(approximate).lower(), "{D}": str(dest == 32).lower()}
    function, init = operation.function, operation.init
    for old, new in words.items():
        function, init = function.replace(old, new), init and init.replace(old, new)
    with TemporaryDirectory() as place:
        unit = Path(place, "unit.h")
        unit.write_text(UNIT.format(header=header(folder, operation.group, operation.header)))
        forms = load_kernel(str(unit), function, init, SHIPPED, includes(folder))
        data = compile_kernel(Kernel(forms.function, forms.init), function, "wormhole", Options(dest=dest))
    values = sweep.sweep_values("bf16", None, None)
    got = sweep.sweep(data, read_note(data), "bf16", values, {}).results
    x = ulp.to_doubles(values, "bf16")
    with np.errstate(all="ignore"):
        reference = (NARROW if dest == 16 and operation.name in NARROW else REFERENCES)[operation.name]
        expected = ulp.encode_nearest(reference(x), "bf16")
        # The vendor has one zero, which is positive.
        counts = (np.abs(x) >= np.finfo(np.float32).tiny) | (values == 0)
        counts &= ~np.asarray(UNCLAIMED.get(operation.name, np.isnan)(x), np.bool_)
    finite = [np.isfinite(ulp.to_doubles(bits, "bf16")) for bits in (got, expected)]
    return int(ulp.distances(got, expected, "bf16").ulp[counts & finite[0] & finite[1]].max())


def main(arguments: Sequence[str]) -> int:
    folder = unpacked(Path(arguments[0]).resolve())
    known = {operation.name: operation for operation in operations(LIST.read_text(encoding="utf-8"))}
    table = [cell for cell in cells(measurements(folder)) if cell.operation in known]
    chosen = [cell for cell in table if len(arguments) == 1 or arguments[1] in cell.name]
    with ProcessPoolExecutor(2) as pool:
        found = list(pool.map(measured, chosen, [known[cell.operation] for cell in chosen], repeat(folder)))
    unexplained = 0
    print("| cell | silicon | model | |\n|---|---|---|---|")
    for cell, ours in zip(chosen, found, strict=True):
        reason = "" if ours == cell.most else dict(known[cell.operation].reasons).get(cell.name)
        unexplained += reason is None
        print(f"| {cell.name} | {cell.most} | {ours} | {'?' if reason is None else reason} |")
    equal = sum(ours == cell.most for cell, ours in zip(chosen, found, strict=True))
    print(f"\n{equal} of {len(chosen)} cells of {len({cell.operation for cell in chosen})} operations are equal")
    return 1 if unexplained or 100 * equal < 98 * len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
