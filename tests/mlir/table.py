# SPDX-License-Identifier: Apache-2.0
"""`make mlir FILES=DIR`: functions of other projects' tests on the array and on RISC-V, each compared with what its
operations compute. DIR holds a checkout of each project of `functions.txt`, called as the project is.

The table has how many are equal on each machine, and the reasons of the others. The exit code is 1 where a result
differs, or where fewer than nine of ten run.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ortools.sat.python import cp_model as _solver  # so is the array's solver, which takes seconds
from tests.libraries.table import EQUAL, possible_sizes, reason
from tests.mlir.functions import LIST, Named, listed_functions

from polyloom import api
from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.mlir import load
from polyloom.frontend.mlir.evaluate import operations as _operations  # loaded once, before the processes begin
from polyloom.frontend.mlir.function_nest import build_nest as _build_nest
from polyloom.frontend.source import Options

_LOADED: Final = (_operations, _build_nest, _solver)
MACHINES: Final = ("tcpa:4x4", "riscv")
SHARE: Final = 0.9
_UNDEFINED: Final = ("PL0242", "PL0250", "PL0972")
"""Codes of functions without a result to compare: nothing is assigned, or elements are read that nothing has written,
which have any value in MLIR."""
_NOT_AFFINE: Final = ("PL0143", "PL0174")
"""Codes of steps, bounds and values that are products of sizes and loops."""
_SECONDS: Final = 120
"""Of the processor, for a function on one machine."""


def run_on(machine: str, path: str, name: str) -> str:
    """Verdict of a machine."""
    try:
        nest = check_with_least_sizes(load(path, Options(function=name), indirect=machine == "riscv")[0])
        sizes = next(possible_sizes(nest), None)
        if sizes is None:
            return "no sizes were found"
        compiled = api.compile(path, machine, options=Options(function=name))
        given = {size: sizes.get(size, 4) for size in compiled.signature.sizes}
        return EQUAL if compiled.run(given, fill="random").verified else "differs"
    except PolyloomError as error:
        return "differs" if error.exit_code == 4 else reason(error)


def _verdict(job: tuple[str, str, str], answer: multiprocessing.SimpleQueue[str]) -> None:
    # The machine's own time says nothing about a busy host.
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    try:
        answer.put(run_on(*job))
    except Exception as error:
        answer.put(f"internal error: {type(error).__name__}: {error}")


def verdict(machine: str, path: str, name: str) -> str:
    """`run_on` in a process of its own, which may take so long."""
    context = multiprocessing.get_context("fork")
    answer: multiprocessing.SimpleQueue[str] = context.SimpleQueue()
    process = context.Process(target=_verdict, args=((machine, path, name), answer))
    process.start()
    process.join()
    if not answer.empty():
        return answer.get()
    ended_by_limit = process.exitcode in (-signal.SIGKILL, -signal.SIGXCPU)
    return f"more than {_SECONDS} s" if ended_by_limit else "ended without an answer"


def table_lines(rows: Sequence[tuple[Named, Mapping[str, str]]]) -> Iterator[str]:
    """The table: per project and machine, then the reasons."""
    projects = list(dict.fromkeys(named.project for named, _ in rows))
    yield f"{'project':32} functions  " + "  ".join(f"{machine:>9}" for machine in MACHINES)
    for project in (*projects, "all"):
        own = [row for named, row in rows if project in (named.project, "all")]
        equal = [sum(row[machine] == EQUAL for row in own) for machine in MACHINES]
        yield f"{project:32} {len(own):9}  " + "  ".join(f"{n:9}" for n in equal)
    meant = [row for _, row in rows if not any(found.startswith((*_UNDEFINED, *_NOT_AFFINE)) for found in row.values())]
    equal = [sum(row[machine] == EQUAL for row in meant) for machine in MACHINES]
    yield f"{'affine, with a defined result':32} {len(meant):9}  " + "  ".join(f"{n:9}" for n in equal)
    reasons = Counter(
        (m, re.sub(r"(?<![A-Z\d])\d+", "n", row[m])) for _, row in rows for m in MACHINES if row[m] != EQUAL
    )
    for (machine, why), count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:4} {machine}: {why}"


def main(folder: Path, pattern: str = "") -> int:
    """The table of the list; 1 where a result differs, or fewer than a share are equal."""
    rows = list[tuple[Named, Mapping[str, str]]]()
    for named in listed_functions(LIST.read_text()):
        path = named.path(folder)
        if pattern not in f"{named.project}/{named.file}:{named.name}":
            continue
        if not path.is_file():
            print(f"{path} is missing: check out {named.project} at {named.commit}", file=sys.stderr)
            return 2
        row = {machine: verdict(machine, str(path), named.name) for machine in MACHINES}
        rows.append((named, row))
        if any(found != EQUAL for found in row.values()):
            print(f"{named.file}:{named.name}", *(f"{m}: {found}" for m, found in row.items()), sep="\n  ", flush=True)
    print("\n".join(table_lines(rows)))
    found = [sum(row[machine] == EQUAL for _, row in rows) for machine in MACHINES]
    differs = any(found == "differs" for _, row in rows for found in row.values())
    return int(differs or min(found) < SHARE * len(rows))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:3]))
