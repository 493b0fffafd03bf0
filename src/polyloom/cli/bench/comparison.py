# SPDX-License-Identifier: Apache-2.0
"""Every kernel of examples/kernels on every target, on its example's place: verified, or refused with its code.

The bounds are those of `bench polybench`. A cell is the verdict: `equal bits` (those of the source), `within` (other
bits for a reason that the target gives, and its own oracles agree), `differs`, or the code of the refusal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from polyloom.cli.bench.polybench import REASSOCIATED, SIZES, path
from polyloom.comparison.pipeline import compare
from polyloom.comparison.rows import Row
from polyloom.frontend.source import Options
from polyloom.targets.entry import entries


def rows() -> Iterator[dict[str, object]]:
    yield from (row(kernel, sizes) for kernel, sizes in SIZES.items())


def row(kernel: str, sizes: Mapping[str, int]) -> dict[str, object]:
    """One kernel on all targets."""
    places = [entry.example for entry in entries().values()]
    made = compare(path(kernel), sizes, on=places, options=Options(reassociate=kernel in REASSOCIATED))
    return {
        "kernel": kernel,
        "bounds": "x".join(map(str, sizes.values())),
        "work": made.work,
        **{each.on: outcome(each) for each in made.rows},
    }


def outcome(made: Row) -> str:
    """Of a row of a comparison."""
    if made.refused is not None:
        return made.refused.code
    return str(made.verdict)
