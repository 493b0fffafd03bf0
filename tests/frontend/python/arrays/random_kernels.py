# SPDX-License-Identifier: Apache-2.0
"""Random kernels of whole arrays on machines: each is computed right, or refused with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from tests.frontend.python.arrays.programs import random_kernel

import polyloom as pl
from polyloom.diagnostics import INFEASIBLE, INPUT, PolyloomError
from polyloom.frontend.python import load_kernel
from polyloom.frontend.python.kernel import Kernel

SIZES: Final = {"N": 5, "M": 6}
MACHINES: Final[Mapping[str, Mapping[str, Any]]] = {
    "riscv:rv64gc": {},
    "belt:gold": {},
    "minion:2": {},
    "tensix": {},
    "tcpa:unit": {"pes": (2, 2)},
}
"""By machine what a run is given."""


def read_random_kernel(seed: int, folder: Path, *, gathers: bool = False) -> Kernel:
    """Kernel of a seed, as a file of the folder. Errors: PL0139 for one that needs a function of doubles."""
    path = folder / f"f{seed}.py"
    path.write_text(random_kernel(seed, gathers=gathers), encoding="utf-8")
    kernel = load_kernel(str(path))
    assert kernel.indirect
    return kernel


def random_arguments(kernel: Kernel, seed: int) -> dict[str, Any]:
    """Reals from -2 to 2 for all arguments."""
    generator, found = np.random.default_rng(seed), dict[str, Any]()
    for s in kernel.indirect.storage:
        if s.role == "argument" and s.name not in kernel.arrays.results:
            shape = [extent.evaluate(SIZES) for extent in s.shape]
            found[s.name] = np.asarray(generator.uniform(-2, 2, shape)).astype(np.float32)
    return found


def run_kernel(kernel: Kernel, seed: int, on: str) -> bool:
    """Whether a machine's results have the bits of the ordered meaning, in its arithmetic, and NumPy's are within the
    bound. Errors: those of the machine.
    """
    sizes = {name: SIZES[name] for name in kernel.arrays.program.parameters}
    return bool(pl.compile(kernel, on=on).run({**sizes, **random_arguments(kernel, seed)}, **MACHINES[on]).verified)


def is_refusal(error: PolyloomError) -> bool:
    """Whether a machine says in advance that it does not take a kernel (exit codes 1 and 3)."""
    # A tile's formats have a range, which the data of a program may leave (PL1235).
    return error.exit_code in (INPUT, INFEASIBLE) or error.code == "PL1235"
