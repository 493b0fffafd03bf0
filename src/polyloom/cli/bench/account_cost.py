# SPDX-License-Identifier: Apache-2.0
"""Cost of the account on a matrix product, on each machine: seconds of the model without and with it, the median of
their ratios, and the seconds in which what was counted becomes an account.

Runs without and with it alternate, so that what else the host does slows down both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from time import thread_time
from typing import Final

import polyloom as pl
from polyloom.cli.examples import folder
from polyloom.run.instance import Instance
from polyloom.targets.target import Execution, Job

# As large as a run takes some tenths of a second.
_SIZES: Final = {
    "tcpa:4x4": 96,
    "belt:gold": 96,
    "minion:32": 128,
    "tensix": 256,
    "riscv": 192,
    "riscv:inorder": 192,
}
_PAIRS: Final = 9


def rows() -> Iterator[dict[str, object]]:
    """A row per machine."""
    for on, size in _SIZES.items():
        compiled = pl.compile(folder() / "kernels" / "gemm.py", on=on)
        sizes = {"NI": size, "NJ": size, "NK": size}
        instance = compiled.prepare_instance(sizes, {})
        plain = instance.job({} if instance.parameters is not None else sizes, fill="random")
        asked = replace(plain, account=True)
        pairs = [(_time_run(instance, plain)[0], _time_run(instance, asked)[0]) for _ in range(_PAIRS)]
        _, execution = _time_run(instance, asked)
        yield {
            "machine": on,
            "bounds": "x".join([str(size)] * 3),
            "model, s": f"{median(before for before, _ in pairs):.3f}",
            "with account, s": f"{median(after for _, after in pairs):.3f}",
            "cost": f"{100 * (median(after / before for before, after in pairs) - 1):+.1f} %",
            "account, s": f"{_time_account(instance, execution):.3f}",
        }


def _time_run(instance: Instance, job: Job) -> tuple[float, Execution]:
    start = thread_time()
    execution = instance.target.run(instance.data, job)
    return thread_time() - start, execution


def _time_account(instance: Instance, execution: Execution) -> float:
    assert instance.target.account is not None
    start = thread_time()
    instance.target.account(instance.program, execution)
    return thread_time() - start
