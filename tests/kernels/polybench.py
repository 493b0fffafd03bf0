# SPDX-License-Identifier: Apache-2.0
"""`make polybench POLYBENCH=DIR`: the sources of PolyBench/C 4.2.1, as they are, on 4x4 elements of `wide`.

For each DIR/**/NAME/NAME.c with a NAME.h: the function kernel_NAME, in single precision (kernels of integers as they
are), at the bounds that the header gives for MINI_DATASET, compared with the same function compiled for the processor.
Constants without a suffix count as single precision. The exit code is 1 if one differs, or if none runs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.kernels.running import run

from polyloom import api
from polyloom.cli.answer import table
from polyloom.diagnostics import INFEASIBLE, INPUT, PolyloomError
from polyloom.frontend.source import Options

DATASET = "MINI_DATASET"
REGION = (4, 4)
EQUAL = "equal"
SECTION = re.compile(rf"^\s*#\s*ifdef\s+{DATASET}\b(.*?)^\s*#\s*endif", re.MULTILINE | re.DOTALL)
OF_INTEGERS = re.compile(r"^\s*#\s*define\s+DATA_TYPE_IS_INT\b", re.MULTILINE)
BOUND = re.compile(r"^\s*#\s*define\s+(\w+)\s+(\d+)\s*$", re.MULTILINE)


def kernels(folder: Path) -> Iterator[Path]:
    """The kernels' files; auxiliary ones have no header of their name, or lie elsewhere."""
    return (
        path
        for path in sorted(folder.rglob("*.c"))
        if path.parent.name == path.stem and path.with_suffix(".h").is_file()
    )


def bounds(path: Path) -> dict[str, int]:
    """What the kernel's header defines for the data set."""
    sections = SECTION.findall(_header(path))
    return {name: int(value) for section in sections for name, value in BOUND.findall(section)}


def defines(path: Path) -> tuple[str, ...]:
    """The data set and, but for a kernel of integers, the element type."""
    return (DATASET,) if OF_INTEGERS.search(_header(path)) else (DATASET, "DATA_TYPE_IS_FLOAT")


def _header(path: Path) -> str:
    return path.with_suffix(".h").read_text(encoding="utf-8", errors="replace")


def measured(path: Path, folder: Path) -> dict[str, object]:
    """A row of the table; `result` is `EQUAL`, or the code of what went wrong."""
    name = f"kernel_{path.stem.replace('-', '_')}"
    options = Options(name, includes=(str(folder / "utilities"),), defines=defines(path), single_constants=True)
    row: dict[str, object] = {
        "kernel": path.stem,
        "result": EQUAL,
        "pi": None,
        "cycles": None,
        "seconds": None,
        "wrong": False,
    }
    try:
        made = api.compile(path, on="tcpa:wide", options=options)
        _, result = run(made, bounds(path), REGION)
    except PolyloomError as error:
        found = error.diagnostics[0]
        print(f"{path.stem}: {found.render()}\n", file=sys.stderr, flush=True)
        return {**row, "result": found.code, "wrong": found.exit_code not in (INPUT, INFEASIBLE)}
    intervals = [str(view.pressure[0].available) for view in result.views]
    return {**row, "pi": " ".join(intervals), "cycles": result.cycles, "seconds": made.seconds}


def main(folder: Path) -> int:
    rows = [measured(path, folder) for path in kernels(folder)]
    if not rows:
        print(
            f"{folder} has no kernel: give the folder of PolyBench/C that holds `utilities` and `linear-algebra`",
            file=sys.stderr,
        )
        return 1
    print(table([{key: value for key, value in row.items() if key != "wrong"} for row in rows]))
    return int(any(row["wrong"] for row in rows) or all(row["result"] != EQUAL for row in rows))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
