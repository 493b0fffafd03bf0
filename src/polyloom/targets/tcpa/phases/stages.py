# SPDX-License-Identifier: Apache-2.0
"""A configuration as the stages that it runs in; a target's own file is the only stage of its program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polyloom.binary import FileKind, remembered
from polyloom.diagnostics import Diagnostic, input_error
from polyloom.ir.pla import Array
from polyloom.sets import Condition
from polyloom.targets.tcpa import program
from polyloom.targets.tcpa.phases.file import CONCRETE, INPUT, OUTPUT, SYMBOLIC, Form, Phased, Stage, decode, form


@dataclass(frozen=True, slots=True)
class NamedStage:
    """A stage with names: what its file calls its arrays, and what they are outside."""

    data: bytes
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """A symbolic file of phases, the form of the concrete ones that are made of it, and whether it has one phase that
    takes the same parameters from the same domain. `named` are its stages with names."""

    phased: Phased
    form: Form
    named: tuple[NamedStage, ...]
    is_alone: bool


@remembered
def opened(data: bytes) -> Opened:
    """What every instantiation of a symbolic file of phases needs."""
    phased = decode(SYMBOLIC, data)
    return Opened(
        phased, form(phased), named_stages(phased), len(phased.stages) == 1 and _takes(phased, phased.stages[0].data)
    )


def _takes(phased: Phased, data: bytes) -> bool:
    domain = program.domain(data)
    return (domain.parameters, domain.assumptions) == (phased.parameters, phased.assumptions)


def check(data: bytes) -> None:
    """Reads a file of either kind whole. Errors: PL0701 to PL0705."""
    if not is_phased(data):
        program.kernel(data)
        return
    symbolic = file_kind(data) is SYMBOLIC
    phased = decode(file_kind(data), data)
    for stage in phased.stages:
        # A concrete file of symbolic phases would pass every other check.
        if not stage.data.startswith(program.MAGICS[0 if symbolic else 1]):
            raise input_error(
                "PL0705",
                "malformed file: its phases are of different kinds",
                help="create the file again with this version",
            )
        program.kernel(stage.data)
    named_stages(phased)


def is_phased(data: bytes) -> bool:
    """Whether it is a file of phases, and not a target's own one."""
    return data.startswith((SYMBOLIC.magic, CONCRETE.magic))


def file_kind(data: bytes) -> FileKind:
    """Of a file of phases."""
    return SYMBOLIC if data.startswith(SYMBOLIC.magic) else CONCRETE


def read(data: bytes) -> Phased:
    """The stages of any file, with the whole's signature; a symbolic program keeps its assumptions."""
    if is_phased(data):
        return opened(data).phased if file_kind(data) is SYMBOLIC else decode(CONCRETE, data)
    arrays = program.arrays(data)
    roles = tuple(OUTPUT if is_output else INPUT for _, is_output in arrays)
    return Phased(
        program.kernel(data),
        (),
        Condition(),
        tuple(a for a, _ in arrays),
        roles,
        (Stage(data, tuple(range(len(arrays)))),),
    )


def files(data: bytes) -> Sequence[bytes]:
    """The target's own file of every phase."""
    return [s.data for s in decode(file_kind(data), data).stages] if is_phased(data) else [data]


def named_stages(phased: Phased) -> tuple[NamedStage, ...]:
    """The stages with names. PL0705 where an array of a phase and the array that it is have different types."""
    return tuple(
        _with_names(stage.data, program.arrays(stage.data), [phased.arrays[n] for n in stage.arrays])
        for stage in phased.stages
    )


def _with_names(data: bytes, inner: Sequence[tuple[Array, bool]], outer: Sequence[Array]) -> NamedStage:
    if [(a.dtype, a.shape) for a, _ in inner] != [(a.dtype, a.shape) for a in outer]:
        raise input_error(
            "PL0705",
            "malformed file: the arrays of a phase are not those of the kernel",
            help="create the file again with this version",
        )
    # A phase calls its arrays by its own names, because an array that is read and written has two inside.
    pairs = [(a.name, o.name, is_output) for (a, is_output), o in zip(inner, outer, strict=True)]
    return NamedStage(
        data,
        tuple((a, o) for a, o, is_output in pairs if not is_output),
        tuple((a, o) for a, o, is_output in pairs if is_output),
    )


def in_phase(diagnostic: Diagnostic, number: int, count: int) -> Diagnostic:
    """A diagnostic that arose in phase `number`, counted from 1."""
    return diagnostic if count == 1 else replace(diagnostic, notes=(*diagnostic.notes, f"in phase {number} of {count}"))
