# SPDX-License-Identifier: Apache-2.0
"""Co-simulation of every kernel of `bench polybench`, at its bounds, on `mid` with 4x4 elements: the circuit beside the
model, operation by operation (`targets/tcpa/cosimulation.py`).

A kernel that does not fit as one nest runs in blocks, step by step. `equal` is empty where the member has too little
of something, or the circuit: then `why not` is the refusal; else it is the first difference. The last row counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from polyloom import api, temporary
from polyloom.cli.bench.polybench import REASSOCIATED, REGION, SIZES, path
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options
from polyloom.run.inputs import complete_inputs
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.cosimulation_steps import Simulators, compare_steps, region_simulators, share_circuits
from polyloom.targets.tcpa.rtl.circuit import check_circuit
from polyloom.targets.tcpa.rtl.observed_runs import Comparison
from polyloom.targets.tcpa.target import TARGET

Row = dict[str, object]
MEMBER: Final = "mid"


def rows(only: Sequence[str] = (), member: str = MEMBER) -> Iterator[Row]:
    """One row per kernel (or per kernel that is named), then one for all."""
    machine = machine_file.load(member)
    check_circuit(machine)
    found = list[Row]()
    with temporary.temporary_folder() as folder:
        simulators = region_simulators(machine, folder)
        for kernel in only or SIZES:
            found.append(_row(kernel, member, simulators))
            yield found[-1]
    equal = sum(row["equal"] is True for row in found)
    yield _table_row("all", None, f"{equal} of {len(found)} equal")


def _row(kernel: str, member: str, simulators: Simulators) -> Row:
    try:
        source = api.load_source(path(kernel), Options(reassociate=kernel in REASSOCIATED))
        data = api.compile(source, on=f"tcpa:{member}").instantiate(SIZES[kernel], pes=REGION).data
        inputs = complete_inputs(TARGET.signature(data), {}, {}, seed=0, fill="random")
        shared = share_circuits(simulators, machine_file.load(member), data, REGION)
        seen = compare_steps(shared, data, member, inputs)
    except PolyloomError as error:
        return _table_row(kernel, None, f"{error.code}: {error.diagnostics[0].message}")
    fault = None if seen.fault is None else f"fault PL06{seen.fault.cause} in cycle {seen.fault.cycle}"
    return _table_row(kernel, seen, seen.difference or fault)


def _table_row(kernel: str, seen: Comparison | None, reason: str | None) -> Row:
    return {
        "kernel": kernel,
        "steps": seen and seen.steps,
        "cycles": seen and seen.cycles,
        "operations": seen and seen.operations,
        "bank writes": seen and seen.bank_writes,
        "configuration": seen and seen.configuration,
        "equal": seen and reason is None,
        "why not": reason,
    }
