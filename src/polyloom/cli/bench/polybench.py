# SPDX-License-Identifier: Apache-2.0
"""Every kernel of examples/kernels at small published bounds, on wide:4x4, beside what a coarse-grained array needs for
the same loops.

`SIZES` are those of PolyBench/C 4.2.1's MINI_DATASET, with fewer steps of time where a run would exceed about 20000
iterations, and bounds of that order for kernels that are not from there. `cycles` are all: fill, drain and transfers
between phases. `utilization` is the part of the slots of all units but moves, on all elements, in which an operation
was issued. `registers` are the general, feedback, input and output registers of an element, `seconds` are CPU time from
the source to the plan, and to the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from time import process_time
from typing import Final, cast

from polyloom import api
from polyloom.cli import examples
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options, Source
from polyloom.targets.tcpa.run.phases import descriptions, plan_execution, step_sequence
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import ElementProgram
from polyloom.targets.tcpa.words.isa import File, Register

SIZES: Final[Mapping[str, Mapping[str, int]]] = {
    "gemm": {"NI": 20, "NJ": 25, "NK": 30},
    "mm2": {"NI": 16, "NJ": 18, "NK": 22, "NL": 24},
    "mm3": {"NI": 16, "NJ": 18, "NK": 20, "NL": 22, "NM": 24},
    "atax": {"M": 38, "N": 42},
    "bicg": {"M": 38, "N": 42},
    "mvt": {"N": 40},
    "gemver": {"N": 40},
    "gesummv": {"N": 30},
    "syrk": {"M": 20, "N": 30},
    "syr2k": {"M": 20, "N": 30},
    "symm": {"M": 20, "N": 30},
    "trmm": {"M": 20, "N": 30},
    "doitgen": {"NQ": 8, "NR": 10, "NP": 12},
    "trisolv": {"N": 40},
    "lu": {"N": 40},
    "cholesky": {"N": 40},
    "jacobi1d": {"TSTEPS": 20, "N": 30},
    "jacobi2d": {"TSTEPS": 12, "N": 30},
    "heat3d": {"TSTEPS": 20, "N": 10},
    "seidel2d": {"TSTEPS": 14, "N": 40},
    "fdtd2d": {"TMAX": 11, "NX": 20, "NY": 30},
    "covariance": {"M": 28, "N": 32},
    "conv2d": {"N": 32, "M": 32},
    "fir": {"N": 64, "T": 16},
    "matvec": {"N": 32, "M": 32},
    "mttkrp": {"NI": 10, "NJ": 12, "NK": 10, "NL": 12},
    "smith_waterman": {"N": 32, "M": 32},
    "lcs": {"N": 32, "M": 32},
    "floyd_warshall": {"N": 60},
    "gramschmidt": {"M": 20, "N": 30},
    "durbin": {"N": 40},
}
PUBLISHED: Final = {"gemm": 17, "bicg": 9, "fir": 5, "matvec": 11}
"""Cycles per innermost iteration of the whole 4x4 array, integers: the initiation intervals that Neura's tests expect
of its heuristic mapper (coredac/dataflow, commit 02ca318, test/e2e: gemm; gemv with N=4; fir as a product of 32 taps).
For bicg these expect 10, and its exact mapper (pull request 344) finds 9. The whole nest is flattened with predicates.
Its elements issue one operation per cycle, of 20 kinds; wide's have 20 units, 8 of them for moves."""
REASSOCIATED: Final = ("mttkrp",)
"""An f32 sum over two loops: its order must change, and the result is close to the source's, not equal."""
SHORT: Final = {
    "PL0401": "operations",
    "PL0403": "general registers",
    "PL0404": "feedback registers",
    "PL0405": "input registers",
    "PL0406": "output registers",
    "PL0511": "FIFO depth",
    "PL0513": "control signals",
}
"""What a machine has too little of, by the code of the refusal."""
REGION: Final = (4, 4)


def path(kernel: str) -> str:
    return str(examples.folder() / "kernels" / f"{kernel}.py")


def rows() -> Iterator[dict[str, object]]:
    yield from (_row(kernel, sizes) for kernel, sizes in SIZES.items())


def _row(kernel: str, sizes: Mapping[str, int]) -> dict[str, object]:
    start = process_time()
    source = api.load_source(path(kernel), Options(reassociate=kernel in REASSOCIATED))
    planned = process_time()
    compiled = api.compile(source, on="tcpa:wide")
    mapped = process_time()
    result = compiled.instantiate(sizes, pes=REGION).run()
    made = [concrete_file.decode(own.data) for own in step_sequence.run(result.instance.data).longest]
    interval = PUBLISHED.get(kernel)
    return {
        "kernel": kernel,
        "bounds": "x".join(map(str, sizes.values())),
        "pi": " ".join(str(c.initiation_interval) for c in made),
        "minimum": " ".join(str(b) for b in _minima(result)),
        "cycles": result.cycles,
        "transfers": sum(_ran(result).transfers),
        "utilization": round(_utilization(result), 3),
        "registers": "/".join(map(str, _registers(e for c in made for e in c.classes))),
        "classes": " ".join(str(len(c.classes)) for c in made),
        "plan seconds": round(planned - start, 2),
        "seconds": round(mapped - start, 1),
        "published pi": interval,
        "published cycles": interval and interval * prod(sizes.values()),
        "fau": _on_fau(source, sizes),
    }


def _ran(result: api.Result) -> plan_execution.Execution:
    """What the array tells of a run, phase by phase."""
    return cast(plan_execution.Execution, result.execution.detail)


def _minima(result: api.Result) -> Iterable[object]:
    """The lower bound of the initiation interval of every phase."""
    _, alone = descriptions.facts(result.instance.origin.symbolic, result.instance.data)
    return (phase["minimum_initiation_interval"] for phase in alone)


def _utilization(result: api.Result) -> float:
    """Utilization: operations issued by units, over their slots on all elements; moves do no work of the source and do
    not count.
    """
    issued = [
        (unit, count) for phase in _ran(result).phases for unit, count in phase.issues if not unit.startswith("move")
    ]
    slots = len({unit for unit, _ in issued}) * prod(REGION) * _ran(result).cycles
    return sum(count for _, count in issued) / slots


def _registers(elements: Iterable[ElementProgram]) -> tuple[int, int, int, int]:
    """The most general, feedback, input and output registers that an element uses."""
    counts = [_counts(element) for element in elements]
    return max(c[0] for c in counts), max(c[1] for c in counts), max(c[2] for c in counts), max(c[3] for c in counts)


def _counts(element: ElementProgram) -> tuple[int, int, int, int]:
    instructions = [i for program in element.programs for i in program]
    read = {r for i in instructions for r in i.sources if isinstance(r, Register)}
    written = {r for i in instructions for r in i.destinations}
    return (
        _count_registers(File.RD, read | written),
        _count_registers(File.FD, read | written),
        _count_registers(File.IO, read),
        _count_registers(File.IO, written),
    )


def _count_registers(file: File, registers: set[Register]) -> int:
    return sum(r.file is file for r in registers)


def _on_fau(source: Source, sizes: Mapping[str, int]) -> object:
    """The cycles on the small machine, or what it has too little of for the kernel."""
    try:
        return api.compile(source, on="tcpa:fau").instantiate(sizes, pes=REGION).run().cycles
    except PolyloomError as error:
        # A small machine may lack registers or units: that is a result of the table.
        code = error.diagnostics[0].code
        return SHORT.get(code, code)
