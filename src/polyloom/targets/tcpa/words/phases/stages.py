# SPDX-License-Identifier: Apache-2.0
"""Stages of a configuration: the phases in the order in which they run; a target's own file is its only stage."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from polyloom.binary import FileKind, cache_decoder
from polyloom.diagnostics import Diagnostic, PolyloomError, input_error
from polyloom.ir.pla import Array
from polyloom.ir.plan import evaluate_arguments, evaluate_window
from polyloom.ir.steps import Steps
from polyloom.sets import Affine, Condition
from polyloom.targets.subject import Progress
from polyloom.targets.tcpa.layouts import Place
from polyloom.targets.tcpa.options import Choice
from polyloom.targets.tcpa.words import program_file
from polyloom.targets.tcpa.words.phases import steps_file
from polyloom.targets.tcpa.words.phases.phase_file import (
    CONCRETE,
    INPUT,
    OUTPUT,
    SYMBOLIC,
    Form,
    Phased,
    Stage,
    decode,
    make_template,
)
from polyloom.targets.tcpa.words.phases.steps_file import STEPS, Bound

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NamedStage:
    """A stage with names: what its file calls its arrays, and what they are outside."""

    data: bytes
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]
    parameters: tuple[str, ...] = ()
    arguments: tuple[tuple[Affine, ...], ...] = ()
    windows: tuple[tuple[Array, tuple[Affine, ...]], ...] = ()
    """Arrays of the file that are windows, each with its first element outside."""

    @property
    def symbols(self) -> frozenset[str]:
        """Parameters of the kernel and counters on which its configuration or its windows depend."""
        groups = (*self.arguments, *(origin for _, origin in self.windows))
        return frozenset[str]().union(*(form.symbols for group in groups for form in group))

    def values(self, around: Mapping[str, int]) -> dict[str, int]:
        """Values of the file's parameters, for those of the kernel's and of the counters."""
        return evaluate_arguments(self.parameters, self.arguments, around)

    def window(self, name: str, around: Mapping[str, int]) -> tuple[range, ...] | None:
        """What the file's array `name` is of the array outside; None for all of it."""
        for array, origin in self.windows:
            if array.name == name:
                return evaluate_window(origin, array.shape, around, self.values(around))
        return None


@dataclass(frozen=True, slots=True)
class Opened:
    """A symbolic file of phases, the form of the concrete ones that are made of it, and whether it has one phase that
    takes the same parameters from the same domain. `named` are its stages with names."""

    phased: Phased
    form: Form
    named: tuple[NamedStage, ...]
    is_alone: bool


@cache_decoder
def open_phases(data: bytes) -> Opened:
    """Opened file of phases: what every instantiation of it needs, decoded once."""
    phased = decode(SYMBOLIC, data)
    is_alone = len(phased.stages) == 1 and not phased.counters and _has_same_parameters(phased, phased.stages[0].data)
    return Opened(phased, make_template(phased), named_stages(phased), is_alone)


def _has_same_parameters(phased: Phased, data: bytes) -> bool:
    domain = program_file.domain(data)
    return (domain.parameters, domain.assumptions) == (phased.parameters, phased.assumptions)


def check_file(data: bytes) -> None:
    """Check of a whole file of either kind, by reading it. Errors: PL0701 to PL0705."""
    if not has_phases(data):
        program_file.kernel(data)
        return
    if file_kind(data) is STEPS:
        check_file(decode_steps(data).symbolic)
        return
    symbolic = file_kind(data) is SYMBOLIC
    phased = decode(file_kind(data), data)
    for stage in phased.stages:
        # A concrete file of symbolic phases would pass every other check.
        if not stage.data.startswith(program_file.MAGICS[0 if symbolic else 1]):
            raise _format_error("its phases are of different kinds")
        program_file.kernel(stage.data)
    named_stages(phased)


def decode_steps(data: bytes) -> Bound:
    """Contents of a concrete configuration of steps; PL0705 where the values are not those of the parameters, or where
    what is in it is no symbolic file of steps.
    """
    bound = steps_file.decode(data)
    phased = open_phases(bound.symbolic).phased
    if (len(bound.values), len(bound.candidates)) != (len(phased.parameters), len(phased.stages)):
        raise _format_error("it has not one value for each parameter, and one candidate for each phase")
    if bound.places and [len(strides) for strides, _, _ in bound.places] != [len(a.shape) for a in phased.arrays]:
        raise _format_error("it has not one stride for each dimension of its arrays")
    if not phased.counters or bound.name != phased.name:
        raise _format_error("it has no loop of steps, or another name than its phases")
    return bound


def given_values(data: bytes) -> dict[str, int]:
    """Values of the parameters that a concrete configuration of steps was made for; of other files none."""
    if not has_phases(data) or file_kind(data) is not STEPS:
        return {}
    bound = decode_steps(data)
    return dict(zip(open_phases(bound.symbolic).phased.parameters, bound.values, strict=True))


def has_phases(data: bytes) -> bool:
    """Whether it is a file of phases, and not a target's own one."""
    return data.startswith((SYMBOLIC.magic, CONCRETE.magic, STEPS.magic))


def file_kind(data: bytes) -> FileKind:
    """Of a file of phases."""
    return next((kind for kind in (SYMBOLIC, STEPS) if data.startswith(kind.magic)), CONCRETE)


def read_phases(data: bytes) -> Phased:
    """Stages of any file, with the whole's signature; a symbolic program keeps its assumptions."""
    if has_phases(data):
        kind = file_kind(data)
        if kind is STEPS:
            return _substitute_parameters(decode_steps(data))
        return open_phases(data).phased if kind is SYMBOLIC else decode(CONCRETE, data)
    # A file of one program is taken as a plan of one phase, so that all further steps know one form only.
    arrays = program_file.arrays(data)
    roles = tuple(OUTPUT if is_output else INPUT for _, is_output in arrays)
    return Phased(
        program_file.kernel(data),
        (),
        Condition(),
        tuple(a for a, _ in arrays),
        roles,
        (Stage(data, tuple(range(len(arrays)))),),
    )


def _substitute_parameters(bound: Bound) -> Phased:
    """Partial evaluation (Jones, Gomard and Sestoft 1993): the symbolic phases of a concrete configuration of steps,
    with numbers in the place of parameters; their own files still take them.
    """
    phased = open_phases(bound.symbolic).phased
    values = {n: Affine((), v) for n, v in zip(phased.parameters, bound.values, strict=True)}

    def substitute_shape(array: Array) -> Array:
        extents = (extent.substitute(values) for extent in array.shape)
        return replace(array, shape=tuple(Affine((), max(0, e.constant)) for e in extents))

    def substitute_bounds(loop: Steps[int]) -> Steps[int]:
        lower, upper = (tuple(b.substitute(values) for b in bounds) for bounds in (loop.lower, loop.upper))
        return replace(loop, lower=lower, upper=upper, body=tuple(map(with_limits, loop.body)))

    def with_limits(node: int | Steps[int]) -> int | Steps[int]:
        return substitute_bounds(node) if isinstance(node, Steps) else node

    return replace(
        phased,
        parameters=(),
        assumptions=Condition(),
        arrays=tuple(map(substitute_shape, phased.arrays)),
        values=tuple(v.substitute(values) for v in phased.values),
        looped=tuple(map(with_limits, phased.looped)),
    )


def phase_files(data: bytes) -> Sequence[bytes]:
    """The target's own file of every phase; of concrete steps the symbolic one."""
    if has_phases(data) and file_kind(data) is STEPS:
        data = decode_steps(data).symbolic
    return [s.data for s in decode(file_kind(data), data).stages] if has_phases(data) else [data]


def places_in_stage(stage: Stage, places: Sequence[Place]) -> list[Place]:
    """Placement of a phase's own arrays, of `places` of all arrays. What an array held that the phase also writes has a
    memory of its own.
    """
    free = itertools.count(1 + max(number for _, _, number in places))
    outputs = [is_output for _, is_output in program_file.arrays(stage.data)]
    written = {n for n, is_output in zip(stage.arrays, outputs, strict=True) if is_output}

    def place(number: int, is_output: bool) -> Place:
        strides, base, own = places[number]
        # Read and written in one phase, an array needs two memories: a write must not reach later reads of the old
        # value.
        return strides, base, own if is_output or number not in written else next(free)

    return [place(n, is_output) for n, is_output in zip(stage.arrays, outputs, strict=True)]


def named_stages(phased: Phased) -> tuple[NamedStage, ...]:
    """The stages with names. PL0705 where an array of a phase and the array that it is have different types, or where
    it takes other parameters."""
    return tuple(_name_arrays(phased, stage) for stage in phased.stages)


def stage_names(data: bytes) -> tuple[NamedStage, ...]:
    """The stages of a file with names; of concrete steps the symbolic ones."""
    if has_phases(data) and file_kind(data) is STEPS:
        data = decode_steps(data).symbolic
    return open_phases(data).named if data.startswith(SYMBOLIC.magic) else named_stages(read_phases(data))


def _name_arrays(phased: Phased, stage: Stage) -> NamedStage:
    inner, outer = program_file.arrays(stage.data), [phased.arrays[n] for n in stage.arrays]
    symbolic = stage.data.startswith(program_file.MAGICS[0])
    parameters = program_file.parameters(stage.data) if symbolic else ()
    if len(parameters) != len(stage.arguments):
        raise _format_error("a phase has not one argument for each of its parameters")
    if not phased.counters and (stage.windows or [b for b, *_ in stage.arguments] != [*map(Affine.symbol, parameters)]):
        raise _format_error("a phase without loops of steps has windows or other parameters than the kernel")
    windows = {window.array: window.origin for window in stage.windows}
    if len(inner) != len(outer) or any(n >= len(inner) for n in windows):
        raise _format_error("the arrays of a phase are not those of the kernel")
    for n, ((a, _), o) in enumerate(zip(inner, outer, strict=True)):
        same = len(windows[n]) == len(a.shape) == len(o.shape) if n in windows else a.shape == o.shape
        if a.dtype != o.dtype or not same:
            raise _format_error("the arrays of a phase are not those of the kernel")
    # A phase calls its arrays by its own names, because an array that is read and written has two inside.
    pairs = [(a.name, o.name, is_output) for (a, is_output), o in zip(inner, outer, strict=True)]
    return NamedStage(
        stage.data,
        tuple((a, o) for a, o, is_output in pairs if not is_output),
        tuple((a, o) for a, o, is_output in pairs if is_output),
        parameters,
        stage.arguments,
        tuple((inner[n][0], origin) for n, origin in windows.items()),
    )


def _format_error(message: str) -> PolyloomError:
    return input_error("PL0705", f"malformed file: {message}", help="create the file again with this version")


def note_phase(diagnostic: Diagnostic, number: int, count: int, step: str = "") -> Diagnostic:
    """A diagnostic that arose in phase `number`, counted from 1, and in which of its steps."""
    # A user whose program has one phase need not know that there are phases.
    where = [f"in phase {number} of {count}"] if count > 1 else []
    where += [f"in the step of {step}"] if step else []
    return replace(diagnostic, notes=(*diagnostic.notes, ", ".join(where))) if where else diagnostic


def locate_error(number: int, count: int, action: Callable[[], T], step: str = "") -> T:
    """`action`, whose errors say in which phase they arose, and in which of its steps."""
    try:
        return action()
    except PolyloomError as error:
        raise PolyloomError(*(note_phase(d, number, count, step) for d in error.diagnostics)) from None


def choices_by_phase(choice: Choice[T], name: str, count: int, what: str) -> list[T | None]:
    """Choice by phase: one for each of `count` phases. Errors: PL0818 for another phase, or for none of several."""
    runs = f"{name} runs in {count} phases" if count > 1 else f"{name} runs in one phase"
    if not isinstance(choice, Mapping):
        if choice is not None and count > 1:
            raise input_error(
                "PL0818",
                f"{runs}, and the {what} is given for none of them",
                help=f"name the phase, counted from 1: --{what} 2:...",
            )
        return [choice] * count
    given = cast("Mapping[int, T]", choice)
    if unknown := [phase for phase in given if phase not in range(1, count + 1)]:
        raise input_error(
            "PL0818",
            f"the {what} is of phase {unknown[0]!r}, but {runs}",
            help="count phases from 1; `polyloom show` lists them",
        )
    return [given.get(number) for number in range(1, count + 1)]


def progress_of_phase(progress: Progress | None, number: int, count: int) -> Progress | None:
    """The progress of one phase within all."""
    if progress is None or count == 1:
        return progress
    return lambda step, fraction: progress(f"phase {number} of {count}: {step}", (number - 1 + fraction) / count)
