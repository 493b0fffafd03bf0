# SPDX-License-Identifier: Apache-2.0
"""What a target does with one program, done with a plan of several phases: the same functions over the same kinds of bytes.

A plan of one phase whose arrays have the program's own names is the target's own file; every other plan is a file of phases
(`phase_file`). What a phase writes and which banks it needs is read from its words, never from what they were made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

import numpy as np

from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.ir.arguments import Arrays, check_parameters
from polyloom.ir.pla import Array
from polyloom.ir.plan import Phase, Plan, of_program
from polyloom.ir.plan_interpret import chain
from polyloom.sets import Affine, Condition
from polyloom.targets import phase_file, registry
from polyloom.targets.phase_file import INPUT, OUTPUT, Phased, Stage
from polyloom.targets.registry import Accesses, Event, Json, Progress, Report, Simulation, Target
from polyloom.targets.transfers import transfer_cycles

T = TypeVar("T")
_ROLES: Final = {0: "intermediate", INPUT: "input", OUTPUT: "output", INPUT | OUTPUT: "input and output"}


@dataclass(frozen=True, slots=True)
class Execution:
    """A run: `phases[n]` is what the model observed of phase n, `transfers[n]` the cycles that banks need before it starts."""

    outputs: registry.Arrays
    phases: tuple[Simulation, ...]
    transfers: tuple[int, ...]

    @property
    def cycles(self) -> int:
        return sum(p.cycles for p in self.phases) + sum(self.transfers)

    @property
    def operations(self) -> int:
        return sum(p.operations for p in self.phases)

    @property
    def events(self) -> tuple[Event, ...]:
        """Those of all phases, one after another on one clock."""
        if len(self.phases) == 1:
            return self.phases[0].events
        moved, start = list[Event](), 0
        for phase, transfer in zip(self.phases, self.transfers, strict=True):
            first = min((e.start for e in phase.events), default=0)
            moved += [replace(e, start=e.start - first + start + transfer) for e in phase.events]
            start += transfer + phase.cycles
        return tuple(moved)


@dataclass(frozen=True, slots=True)
class _Bound:
    """A stage with names: what its file calls its arrays, and what they are outside."""

    data: bytes
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]


def kind_of(name: str, data: bytes) -> tuple[Target, bool]:
    """The target of a file and whether it is symbolic; the file is read and checked. Errors: PL0810, PL0701 to PL0705."""
    symbolic = data.startswith(phase_file.SYMBOLIC.magic)
    if not symbolic and not data.startswith(phase_file.CONCRETE.magic):
        target, kind = registry.kind_of(name, data)
        target.kernel(data)
        return target, kind.symbolic
    phased = _decode(data)
    target, _ = registry.kind_of(name, phased.stages[0].data)
    for stage in phased.stages:
        other, kind = registry.kind_of(name, stage.data)
        if other is not target or kind.symbolic != symbolic:
            raise input_error("PL0705", "malformed file: its phases are of different kinds", help="create the file again with this version")
    _bound(target, phased)
    return target, symbolic


def compile(target: Target, plan: Plan, member: str, mapping: tuple[str, str] | None, progress: Progress | None) -> bytes:
    """The symbolic file. Errors: those of the target, with the phase in a note, and PL0818 for a mapping of several phases."""
    if mapping is not None and len(plan.phases) > 1:
        raise input_error("PL0818", f"'{mapping[1]}' maps one program, but {plan.name} runs in {len(plan.phases)} phases", help="leave out --mapping")
    files = [_in_phase(plan, n, lambda p=p, n=n: target.compile(p.program, member, mapping, _part(progress, plan, n))) for n, p in enumerate(plan.phases)]
    if _is_program(plan):
        return files[0]
    arrays = {a.name: a for a in (*plan.inputs, *plan.outputs, *plan.intermediates)}
    number = {name: n for n, name in enumerate(arrays)}
    given, results = {a.name for a in plan.inputs}, {a.name for a in plan.outputs}
    stages = tuple(_stage(target, data, phase, number) for data, phase in zip(files, plan.phases, strict=True))
    roles = tuple(INPUT * (name in given) | OUTPUT * (name in results) for name in arrays)
    phased = Phased(plan.name, plan.parameters, plan.assumptions, tuple(replace(a, span=None) for a in arrays.values()), roles, stages)
    _bound(target, phased)
    return phase_file.encode(phase_file.SYMBOLIC, phased)


def kernel(target: Target, data: bytes) -> str:
    return _decode(data).name if _is_phased(data) else target.kernel(data)


def parameters(target: Target, data: bytes) -> tuple[str, ...]:
    return _decode(data).parameters if _is_phased(data) else target.parameters(data)


def signature(data: bytes) -> Phased | None:
    """The arrays of a file of phases; None of a target's own file."""
    return _decode(data) if _is_phased(data) else None


def count(data: bytes) -> int:
    """The number of phases."""
    return len(_files(data))


def instantiate(target: Target, data: bytes, values: Mapping[str, int], region: tuple[int, int], candidate: int | None) -> bytes:
    """The concrete file. Errors: those of the target, PL0230 for the parameters and PL0818 for a candidate of several phases."""
    if not _is_phased(data):
        return target.instantiate(data, values, region, candidate)
    phased = _decode(data)
    if candidate is not None and len(phased.stages) > 1:
        raise input_error("PL0818", f"candidate {candidate} is of one program, but {phased.name} has {len(phased.stages)} phases", help="leave out --candidate")
    known = check_parameters(phased, values)
    files = [_in_phase(phased, n, partial(target.instantiate, s.data, known, region, candidate)) for n, s in enumerate(phased.stages)]
    arrays = tuple(replace(a, shape=tuple(Affine((), max(0, e.evaluate(known))) for e in a.shape)) for a in phased.arrays)
    stages = tuple(replace(s, data=file) for s, file in zip(phased.stages, files, strict=True))
    return phase_file.encode(phase_file.CONCRETE, replace(phased, parameters=(), assumptions=Condition(), arrays=arrays, stages=stages))


def simulate(target: Target, data: bytes, member: str | None, inputs: registry.Arrays, trace: bool) -> Execution:
    """Run all phases on the model. Errors: those of the target; PL0231 and PL0232 for the inputs of a file of phases."""
    if not _is_phased(data):
        simulation = target.simulate(data, member, inputs, trace)
        return Execution(simulation.outputs, (simulation,), (0,))
    phased, observed = _decode(data), list[Simulation]()
    bound = _bound(target, phased)

    def execute(number: int, read: Arrays, held: Arrays) -> Arrays:
        observed.append(_in_phase(phased, number, partial(target.simulate, bound[number].data, member, read, trace)))
        accesses = target.accesses(bound[number].data)
        return {name: _overwritten(held[name], observed[-1].outputs[name], accesses[name][1]) for name in held}

    outputs = chain(phased, bound, {}, inputs, execute)
    return Execution(outputs, tuple(observed), transfers(target, data))


def transfers(target: Target, data: bytes) -> tuple[int, ...]:
    """The cycles of transfers before each phase of a concrete file."""
    if not _is_phased(data):
        return (0,)
    return tuple(transfer_cycles(_touched(target, b) for b in _bound(target, _decode(data))))


def facts(target: Target, symbolic: bytes | None, concrete: bytes) -> tuple[dict[str, Json], tuple[dict[str, Json], ...]]:
    """The target's keys of `run --json` for the whole, and of them those that belong to each phase."""
    files = _files(concrete)
    each = [target.facts(s, c) for s, c in zip(_files(symbolic) if symbolic else [None] * len(files), files, strict=True)]
    whole = each[0] if len(each) == 1 else target.combine(each, sum(transfers(target, concrete)))
    sizes: dict[str, Json] = {"symbolic_bytes": len(symbolic) if symbolic else None, "concrete_bytes": len(concrete)}
    return {**whole, **sizes}, tuple({key: f[key] for key in target.alone} for f in each)


def reports(target: Target, symbolic: bytes | None, concrete: bytes) -> tuple[Report, ...]:
    files = _files(concrete)
    return tuple(target.report(s, c) for s, c in zip(_files(symbolic) if symbolic else [None] * len(files), files, strict=True))


def show(target: Target, data: bytes) -> str:
    if not _is_phased(data):
        return target.show(data)
    phased, bound = _decode(data), _bound(target, _decode(data))
    values = f"({', '.join(phased.parameters)})" if phased.parameters else ""
    lines = [f"{_file_kind(data).name} of {phased.name}{values}", "arrays:"]
    lines += [f"  {a.name}{''.join(f'[{e}]' for e in a.shape)}: {a.dtype}, {_ROLES[r]}" for a, r in zip(phased.arrays, phased.roles, strict=True)]
    for n, b in enumerate(bound, 1):
        names = [f"{inner} is {outer}" for inner, outer in (*b.inputs, *b.outputs) if inner != outer]
        lines += ["", f"phase {n} of {len(bound)}" + (f", where {', '.join(names)}" if names else ""), target.show(b.data).rstrip("\n")]
    return "\n".join(lines)


def as_json(target: Target, data: bytes) -> Json:
    if not _is_phased(data):
        return target.as_json(data)
    phased = _decode(data)
    return {
        "kernel": phased.name,
        "parameters": list(phased.parameters),
        "assumptions": str(phased.assumptions),
        "arrays": [
            {"name": a.name, "dtype": a.dtype, "shape": [str(e) for e in a.shape], "role": _ROLES[r]} for a, r in zip(phased.arrays, phased.roles, strict=True)
        ],
        "phases": [
            {"inputs": dict[str, Json](b.inputs), "outputs": dict[str, Json](b.outputs), "configuration": target.as_json(b.data)}
            for b in _bound(target, phased)
        ],
    }


def verify(target: Target, data: bytes, member: str | None) -> tuple[Diagnostic, ...]:
    """The findings of every phase; how phases fit together was checked when the file was read."""
    files = _files(data)
    found = [(n, d) for n, file in enumerate(files, 1) for d in target.verify(file, member)]
    return tuple(d if len(files) == 1 else _noted(d, n, len(files)) for n, d in found)


def _is_phased(data: bytes) -> bool:
    return data.startswith((phase_file.SYMBOLIC.magic, phase_file.CONCRETE.magic))


def _file_kind(data: bytes) -> phase_file.FileKind:
    return phase_file.SYMBOLIC if data.startswith(phase_file.SYMBOLIC.magic) else phase_file.CONCRETE


def _decode(data: bytes) -> Phased:
    return phase_file.decode(_file_kind(data), data)


def _files(data: bytes) -> Sequence[bytes]:
    return [s.data for s in _decode(data).stages] if _is_phased(data) else [data]


def _is_program(plan: Plan) -> bool:
    """Whether the plan says nothing that its only program does not say."""

    def said(p: Plan) -> tuple[object, ...]:
        arrays = [[(a.name, a.dtype, a.shape) for a in group] for group in (p.inputs, p.outputs, p.intermediates)]
        return p.name, p.parameters, p.assumptions, arrays, [(phase.inputs, phase.outputs) for phase in p.phases]

    return len(plan.phases) == 1 and said(plan) == said(of_program(plan.phases[0].program))


def _stage(target: Target, data: bytes, phase: Phase, number: Mapping[str, int]) -> Stage:
    outside = dict((*phase.inputs, *phase.outputs))
    return Stage(data, tuple(number[outside[a.name]] for a, _ in target.arrays(data)))


def _bound(target: Target, phased: Phased) -> tuple[_Bound, ...]:
    """The stages with names. PL0705 where an array of a phase and the array that it is have different types."""
    return tuple(_with_names(stage.data, target.arrays(stage.data), [phased.arrays[n] for n in stage.arrays]) for stage in phased.stages)


def _with_names(data: bytes, inner: Sequence[tuple[Array, bool]], outer: Sequence[Array]) -> _Bound:
    if [(a.dtype, a.shape) for a, _ in inner] != [(a.dtype, a.shape) for a in outer]:
        raise input_error("PL0705", "malformed file: the arrays of a phase are not those of the kernel", help="create the file again with this version")
    pairs = [(a.name, o.name, is_output) for (a, is_output), o in zip(inner, outer, strict=True)]
    return _Bound(data, tuple((a, o) for a, o, is_output in pairs if not is_output), tuple((a, o) for a, o, is_output in pairs if is_output))


def _overwritten(held: Any, written: Any, elements: Any) -> Any:
    """`held` with the elements that the phase wrote."""
    result = np.array(held)
    result.reshape(-1)[elements] = written.reshape(-1)[elements]
    return result


def _touched(target: Target, bound: _Bound) -> tuple[dict[str, Accesses], dict[str, Accesses]]:
    accesses = target.accesses(bound.data)
    return _merged((outer, accesses[inner]) for inner, outer in bound.inputs), _merged((outer, accesses[inner]) for inner, outer in bound.outputs)


def _merged(named: Iterable[tuple[str, Accesses]]) -> dict[str, Accesses]:
    """A phase may know one array by several names."""
    merged: dict[str, Accesses] = {}
    for name, (banks, elements) in named:
        others = merged.get(name, (banks[:0], elements[:0]))
        merged[name] = np.concatenate((others[0], banks)), np.concatenate((others[1], elements))
    return merged


def _part(progress: Progress | None, plan: Plan, number: int) -> Progress | None:
    """The progress of one phase within all."""
    count = len(plan.phases)
    if progress is None or count == 1:
        return progress
    return lambda step, fraction: progress(f"phase {number + 1} of {count}: {step}", (number + fraction) / count)


def _in_phase(whole: Plan | Phased, number: int, action: Callable[[], T]) -> T:
    """`action`, whose errors say in which phase they arose."""
    count = len(whole.phases if isinstance(whole, Plan) else whole.stages)
    try:
        return action()
    except PolyloomError as error:
        if count == 1:
            raise
        raise PolyloomError(*(_noted(d, number + 1, count) for d in error.diagnostics)) from None


def _noted(diagnostic: Diagnostic, number: int, count: int) -> Diagnostic:
    return replace(diagnostic, notes=(*diagnostic.notes, f"in phase {number} of {count}"))
