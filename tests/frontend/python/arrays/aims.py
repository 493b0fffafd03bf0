# SPDX-License-Identifier: Apache-2.0
"""Kernels that others publish and everyday constructs on every machine, as a table beside the aims: `python -m
tests.frontend.python.arrays.aims [MACHINE...]`, a part of `make arrays`; exit code 1 where an aim is missed."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Final

from tests.frontend.python.arrays import constructs, published, test_constructs, test_published
from tests.frontend.python.arrays.random_kernels import MACHINES

import polyloom as pl
from polyloom.cli.answer import table
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.python.kernel import Kernel

AIMS: Final[Mapping[str, tuple[float, int]]] = {"riscv:rv64gc": (0.7, 42), "tcpa:unit": (0.5, 42)}
"""By machine: the share of published kernels that run, and the number of everyday constructs, of 45."""
PUBLISHED: Final = [name for name, value in vars(published).items() if isinstance(value, Kernel)]


def published_runs(name: str, on: str) -> bool:
    kernel = test_published.KERNELS[name]
    return runs(kernel, test_published.sizes(kernel), on)


def construct_runs(name: str, on: str) -> bool:
    kernel = test_constructs.KERNELS[name]
    return runs(kernel, {p: test_constructs.SIZES[0][p] for p in kernel.arrays.program.parameters}, on)


def runs(kernel: Kernel, sizes: Mapping[str, int], on: str) -> bool:
    """Whether a machine computes a kernel right; one that is refused says what to write."""
    try:
        found = pl.compile(kernel, on=on).run(sizes, **MACHINES[on]).verified
    except PolyloomError as error:
        assert error.diagnostics[0].help is not None, error
        return False
    assert found
    return True


def count_runs(names: Collection[str], on: str, is_run: Callable[[str, str], bool]) -> int:
    return sum(is_run(name, on) for name in names)


def aim_row(on: str) -> dict[str, object]:
    share, count = AIMS.get(on, (0.0, 0))
    return {
        "machine": on,
        "published": count_runs(PUBLISHED, on, published_runs),
        "of": len(PUBLISHED),
        "aim": math.ceil(share * len(PUBLISHED)) or "",
        "everyday": count_runs(constructs.EVERYDAY, on, construct_runs),
        "of 45, aim": count or "",
    }


def is_reached(row: Mapping[str, object]) -> bool:
    pairs = ((row["published"], row["aim"]), (row["everyday"], row["of 45, aim"]))
    return all(not isinstance(aim, int) or (isinstance(found, int) and found >= aim) for found, aim in pairs)


if __name__ == "__main__":
    rows = [aim_row(on) for on in sys.argv[1:] or MACHINES]
    print(table(rows))
    sys.exit(not all(map(is_reached, rows)))
