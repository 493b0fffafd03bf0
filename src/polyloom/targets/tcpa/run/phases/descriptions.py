# SPDX-License-Identifier: Apache-2.0
"""Descriptions of a configuration in phases, for people and scripts: facts, reports, listings, findings."""

from __future__ import annotations

from typing import Final

from polyloom.diagnostics import Diagnostic
from polyloom.ir.pla import Array
from polyloom.ir.steps import as_data, print_extreme, print_outline
from polyloom.targets.report import Report
from polyloom.targets.target import Json
from polyloom.targets.tcpa.run import program, report
from polyloom.targets.tcpa.run.phases.step_sequence import run
from polyloom.targets.tcpa.words import program_file
from polyloom.targets.tcpa.words.phases.phase_file import INPUT, OUTPUT, PARAMETRIC
from polyloom.targets.tcpa.words.phases.stages import (
    NamedStage,
    decode_steps,
    file_kind,
    given_values,
    has_phases,
    note_phase,
    phase_files,
    read_phases,
    stage_names,
)
from polyloom.targets.tcpa.words.phases.steps_file import STEPS

_ROLES: Final = {
    0: "intermediate",
    INPUT: "input",
    OUTPUT: "output",
    INPUT | OUTPUT: "input and output",
    PARAMETRIC: "known from parameters",
}


def facts(symbolic: bytes | None, concrete: bytes) -> tuple[dict[str, Json], tuple[dict[str, Json], ...]]:
    """Facts of `run --json` for the whole, and of them those that belong to each phase: of its longest step, where it
    has several.
    """
    found = run(concrete)
    longest = found.longest
    # A file of steps holds its symbolic phases, because steps are instantiated when it is run.
    sources = phase_files(symbolic) if symbolic else phase_files(concrete) if found.phased.counters else None
    each = [report.facts(sources[own.number] if sources else None, own.data) for own in longest]
    if not each:
        return {**dict.fromkeys(report.KEYS), "instantiations": 0, **_sizes(symbolic, concrete)}, ()
    # One phase keeps all its facts: bounds and intervals of several have no meaning as a whole.
    alone = len(found.steps) == 1
    cycles = sum(step.cycles for step in found.steps) + sum(found.transfers)
    whole = each[0] if alone else report.combine(each, cycles)
    rows = ({key: f[key] for key in report.ALONE} for f in each)
    counts = ({"phase": own.number + 1, "steps": len(found.of_phase(own.number))} for own in longest)
    made = {"instantiations": len(found.configurations)}
    return {**whole, **made, **_sizes(symbolic, concrete)}, tuple(c | r for c, r in zip(counts, rows, strict=True))


def _sizes(symbolic: bytes | None, concrete: bytes) -> dict[str, Json]:
    return {"symbolic_bytes": len(symbolic) if symbolic else None, "concrete_bytes": len(concrete)}


def list_reports(symbolic: bytes | None, concrete: bytes) -> tuple[Report, ...]:
    """One per phase that runs; of one that has several configurations, for its longest step."""
    found = run(concrete)
    sources = phase_files(symbolic) if symbolic else phase_files(concrete) if found.phased.counters else None
    return tuple(report.report(sources[own.number] if sources else None, own.data) for own in found.longest)


def show(data: bytes) -> str:
    """Listing of a file of any kind. Of concrete steps it has what every step has in common, the symbolic phases."""
    if not has_phases(data):
        return program_file.show(data)
    phased = read_phases(data)
    values = f"({', '.join(phased.parameters)})" if phased.parameters else ""
    lines = [f"{file_kind(data).name} of {phased.name}{values}", *_asked_values(data), "arrays:"]
    lines += [f"  {_declaration(a)}: {a.dtype}, {_ROLES[r]}" for a, r in zip(phased.arrays, phased.roles, strict=True)]
    if phased.counters:
        lines += ["steps:", *print_outline(phased.tree, "  ")]
    named = stage_names(data)
    for n, stage in enumerate(named, 1):
        lines += ["", f"phase {n} of {len(named)}{_renamed_arrays(stage)}", program_file.show(stage.data).rstrip("\n")]
    return "\n".join(lines)


def _asked_values(data: bytes) -> list[str]:
    """What a configuration of steps was made for."""
    if file_kind(data) is not STEPS:
        return []
    bound = decode_steps(data)
    values = ", ".join(f"{n} = {v}" for n, v in given_values(data).items())
    return [f"for {values or 'no parameters'} on {bound.rows}x{bound.columns} elements"]


def _declaration(array: Array) -> str:
    return array.name + "".join(f"[{e}]" for e in array.shape)


def _renamed_arrays(stage: NamedStage) -> str:
    origins = {array.name: f" at [{', '.join(map(str, origin))}]" for array, origin in stage.windows}
    pairs = [(inner, outer, origins.get(inner, "")) for inner, outer in (*stage.inputs, *stage.outputs)]
    names = [f"{inner} is {outer}{origin}" for inner, outer, origin in pairs if inner != outer or origin]
    values = [
        f"{name} = {print_extreme('min', bounds)}"
        for name, bounds in zip(stage.parameters, stage.arguments, strict=True)
        if [str(b) for b in bounds] != [name]
    ]
    return f", where {', '.join([*names, *values])}" if names or values else ""


def as_json(data: bytes) -> Json:
    """The listing as plain values."""
    if not has_phases(data):
        return program_file.as_json(data)
    phased = read_phases(data)
    return {
        "kernel": phased.name,
        "parameters": list(phased.parameters),
        "assumptions": str(phased.assumptions),
        "arrays": [
            {"name": a.name, "dtype": a.dtype, "shape": [str(e) for e in a.shape], "role": _ROLES[r]}
            for a, r in zip(phased.arrays, phased.roles, strict=True)
        ],
        **({"steps": as_data(phased.tree)} if phased.counters else {}),
        "phases": [
            {
                "inputs": dict[str, Json](b.inputs),
                "outputs": dict[str, Json](b.outputs),
                **_block(b),
                "configuration": program_file.as_json(b.data),
            }
            for b in stage_names(data)
        ],
    }


def _block(stage: NamedStage) -> dict[str, Json]:
    """Windows and parameters of a phase of a block, as plain values; nothing of other phases."""
    if not stage.windows:
        return {}
    return {
        "arguments": {
            name: [str(b) for b in bounds] for name, bounds in zip(stage.parameters, stage.arguments, strict=True)
        },
        "windows": {array.name: [str(first) for first in origin] for array, origin in stage.windows},
    }


def verify(data: bytes, member: str | None) -> tuple[Diagnostic, ...]:
    """Findings of every phase, and of every configuration that steps have; how phases fit together was checked when the
    file was read.
    """
    made = phase_files(data)
    found = [note_phase(d, n, len(made)) for n, file in enumerate(made, 1) for d in program.verify(file, member)]
    # Steps are made from the symbolic phases: where these have findings, the steps would only repeat them.
    if found or not has_phases(data) or file_kind(data) is not STEPS:
        return tuple(found)
    steps = run(data).configurations
    return tuple(note_phase(d, own.number + 1, len(made)) for own in steps for d in program.verify(own.data, member))
