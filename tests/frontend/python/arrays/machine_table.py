# SPDX-License-Identifier: Apache-2.0
"""Random kernels of whole arrays on every machine, as a table: how many equal NumPy within the derived bound and the
ordered meaning in each bit, how many are refused, and for which reasons.

`python -m tests.frontend.python.arrays.machine_table COUNT [FIRST [MACHINE...]]`, or `make arrays`; exit code 1 where
one differs, or ends in another error than a refusal.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from tests.frontend.python.arrays.random_kernels import MACHINES, is_refusal, read_random_kernel, run_kernel

from polyloom.cli.answer import table
from polyloom.diagnostics import PolyloomError

Outcome = tuple[Literal["passed", "refused", "failed"], str]


def seed_outcome(on: str, seed: int) -> Outcome:
    """Outcome of one kernel on one machine, with the code and message of an error."""
    try:
        with TemporaryDirectory() as folder:
            kernel = read_random_kernel(seed, Path(folder))
            return ("passed" if run_kernel(kernel, seed, on) else "failed"), ""
    except PolyloomError as error:
        return ("refused" if is_refusal(error) else "failed"), f"{error.code}: {error.diagnostics[0].message}"
    except Exception as error:
        return "failed", repr(error)


def common_reason(message: str) -> str:
    """Message without the user's names and numbers, so that equal reasons are counted together."""
    return re.sub(r"`[^`]*`|(?<!\w)\d+", "…", message)


def table_row(on: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    counts = Counter(kind for kind, _ in outcomes)
    return {"machine": on, **{kind: counts[kind] for kind in ("passed", "refused", "failed")}}


def outcome_lines(on: str, seeds: range, outcomes: Sequence[Outcome]) -> list[str]:
    """Reasons of refusals with their numbers, then every failure with its seed."""
    counts = Counter(common_reason(why) for kind, why in outcomes if kind == "refused")
    failures = [(seed, why) for seed, (kind, why) in zip(seeds, outcomes, strict=True) if kind == "failed"]
    return [
        *(f"{on}: {count} refused: {why}" for why, count in counts.most_common()),
        *(f"{on}: seed {seed} failed: {why or 'results differ'}" for seed, why in failures),
    ]


def print_table(seeds: range, machines: Sequence[str]) -> bool:
    """Table of all machines, and what stands behind its numbers; whether none failed."""
    rows, lines = list[dict[str, Any]](), list[str]()
    with ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for on in machines:
            outcomes = list(pool.map(partial(seed_outcome, on), seeds))
            rows.append(table_row(on, outcomes))
            lines += outcome_lines(on, seeds, outcomes)
            print(on, "is done", flush=True)
    print(table(rows), *lines, sep="\n")
    return not any(row["failed"] for row in rows)


if __name__ == "__main__":
    count, first, *chosen = [*sys.argv[1:], *("300", "0")[max(0, len(sys.argv) - 1) :]]
    sys.exit(not print_table(range(int(first), int(first) + int(count)), chosen or list(MACHINES)))
