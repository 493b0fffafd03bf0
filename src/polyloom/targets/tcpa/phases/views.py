# SPDX-License-Identifier: Apache-2.0
"""What people and scripts are told of a configuration in phases: facts, reports, listings, findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from polyloom.diagnostics import Diagnostic
from polyloom.ir.pla import Array
from polyloom.targets.report import Report
from polyloom.targets.target import Json
from polyloom.targets.tcpa import program
from polyloom.targets.tcpa.phases.file import INPUT, OUTPUT, PARAMETRIC
from polyloom.targets.tcpa.phases.stages import NamedStage, file_kind, files, in_phase, is_phased, named_stages, read
from polyloom.targets.tcpa.phases.whole import transfers

_ROLES: Final = {
    0: "intermediate",
    INPUT: "input",
    OUTPUT: "output",
    INPUT | OUTPUT: "input and output",
    PARAMETRIC: "known from parameters",
}


def facts(symbolic: bytes | None, concrete: bytes) -> tuple[dict[str, Json], tuple[dict[str, Json], ...]]:
    """The target's keys of `run --json` for the whole, and of them those that belong to each phase."""
    each = [program.facts(s, c) for s, c in _pairs(symbolic, concrete)]
    # One phase keeps all its facts: bounds and intervals of several have no meaning as a whole.
    whole = each[0] if len(each) == 1 else program.combine(each, sum(transfers(concrete)))
    sizes: dict[str, Json] = {"symbolic_bytes": len(symbolic) if symbolic else None, "concrete_bytes": len(concrete)}
    return {**whole, **sizes}, tuple({key: f[key] for key in program.ALONE} for f in each)


def reports(symbolic: bytes | None, concrete: bytes) -> tuple[Report, ...]:
    """One per phase."""
    return tuple(program.report(s, c) for s, c in _pairs(symbolic, concrete))


def _pairs(symbolic: bytes | None, concrete: bytes) -> Iterator[tuple[bytes | None, bytes]]:
    made = files(concrete)
    return zip(files(symbolic) if symbolic else [None] * len(made), made, strict=True)


def show(data: bytes) -> str:
    """The listing."""
    if not is_phased(data):
        return program.show(data)
    phased = read(data)
    values = f"({', '.join(phased.parameters)})" if phased.parameters else ""
    lines = [f"{file_kind(data).name} of {phased.name}{values}", "arrays:"]
    lines += [f"  {_declared(a)}: {a.dtype}, {_ROLES[r]}" for a, r in zip(phased.arrays, phased.roles, strict=True)]
    stages = named_stages(phased)
    for n, stage in enumerate(stages, 1):
        lines += ["", f"phase {n} of {len(stages)}{_renamed(stage)}", program.show(stage.data).rstrip("\n")]
    return "\n".join(lines)


def _declared(array: Array) -> str:
    return array.name + "".join(f"[{e}]" for e in array.shape)


def _renamed(stage: NamedStage) -> str:
    names = [f"{inner} is {outer}" for inner, outer in (*stage.inputs, *stage.outputs) if inner != outer]
    return f", where {', '.join(names)}" if names else ""


def as_json(data: bytes) -> Json:
    """The listing as plain values."""
    if not is_phased(data):
        return program.as_json(data)
    phased = read(data)
    return {
        "kernel": phased.name,
        "parameters": list(phased.parameters),
        "assumptions": str(phased.assumptions),
        "arrays": [
            {"name": a.name, "dtype": a.dtype, "shape": [str(e) for e in a.shape], "role": _ROLES[r]}
            for a, r in zip(phased.arrays, phased.roles, strict=True)
        ],
        "phases": [
            {
                "inputs": dict[str, Json](b.inputs),
                "outputs": dict[str, Json](b.outputs),
                "configuration": program.as_json(b.data),
            }
            for b in named_stages(phased)
        ],
    }


def verify(data: bytes, member: str | None) -> tuple[Diagnostic, ...]:
    """The findings of every phase; how phases fit together was checked when the file was read."""
    made = files(data)
    return tuple(in_phase(d, n, len(made)) for n, file in enumerate(made, 1) for d in program.verify(file, member))
