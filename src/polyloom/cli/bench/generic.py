# SPDX-License-Identifier: Apache-2.0
"""Kernels on 4x4 elements of one unit each, beside what a coarse-grained array of as many such elements is published to
need.

`cycles` are all, filling and draining included, of runs whose results equal the source; `elements` are those that a
kernel uses. The peer is Neura (`polybench.PUBLISHED`): `its pi` is the interval at which its 4x4 elements together
start iterations of the whole nest, one after another, and `its cycles` is that times the number of iterations, without
filling and draining.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from polyloom import api
from polyloom.cli.bench.polybench import PUBLISHED, REGION, SIZES, path
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run.phases.step_sequence import run
from polyloom.targets.tcpa.words import concrete_file

MEMBER: Final = "generic"
PEER_UNITS: Final = 1
"""An element of the peer issues one operation per cycle."""


def rows() -> Iterator[dict[str, object]]:
    yield from (_row(kernel, interval) for kernel, interval in PUBLISHED.items())


def _row(kernel: str, interval: int) -> dict[str, object]:
    sizes = SIZES[kernel]
    result = api.compile(path(kernel), on=f"tcpa:{MEMBER}").instantiate(sizes, pes=REGION).run()
    made = [concrete_file.decode(own.data) for own in run(result.instance.data).longest]
    # The peer flattens the nest: one iteration per interval, one after another.
    iterations, cycles = prod(sizes.values()), result.cycles or 0
    return {
        "kernel": kernel,
        "bounds": "x".join(map(str, sizes.values())),
        "iterations": iterations,
        "elements": max(c.rows * c.columns for c in made),
        "units per element": len(machine_file.load(MEMBER).units),
        "pi": " ".join(str(c.initiation_interval) for c in made),
        "cycles": cycles,
        "verdict": result.verdict,
        "its elements": prod(REGION),
        "its units per element": PEER_UNITS,
        "its pi": interval,
        "its cycles": interval * iterations,
        "its / ours": round(interval * iterations / cycles, 1),
    }
