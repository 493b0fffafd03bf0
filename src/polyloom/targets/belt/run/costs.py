# SPDX-License-Identifier: Apache-2.0
"""Cost model of a run on the belt: slots that compute, each with as many lanes as the widest element type of the
kernel's arrays leaves it, and the bytes of the loads and stores that bundles issued (roofline, Williams, Waterman and
Patterson 2009)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Final

from polyloom.ir.operations import ELEMENT_TYPES, FLOATS, INTEGERS, UNSIGNED, ElementType
from polyloom.ir.signature import Signature
from polyloom.ir.ssa import NOWHERE
from polyloom.ir.work import Class
from polyloom.machine import stated_figures
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.run.hot_code import hottest_code
from polyloom.targets.belt.run.model import Run
from polyloom.targets.belt.value_types import BYTES, Width
from polyloom.targets.belt.words import belt_file
from polyloom.targets.belt.words.program import Bundle, Issue, sort_by_slot
from polyloom.targets.belt.words.program import Program as Code
from polyloom.targets.costs import Costs, Line, Units
from polyloom.targets.target import Execution, Program

_ALIKE: Final = ("and", "or", "xor")
_WIDTHS: Final[Mapping[ElementType, Width]] = {
    **dict.fromkeys(("i8", "u8", "bool"), "b"),
    **dict.fromkeys(("i16", "u16"), "h"),
    **dict.fromkeys(("i32", "u32", "f32"), "w"),
    "f64": "d",
}
_SIGNED: Final = {"div": "divs", "rem": "rems", "min": "mins", "max": "maxs", "shr": "shrs"}
_UNSIGNED: Final = {"div": "divu", "rem": "remu", "min": "minu", "max": "maxu", "shr": "shru"}
_COMPARED: Final = {"eq": "eql", "ne": "neq", "lt": "lss", "le": "leq", "gt": "gtr", "ge": "geq"}
_FLOATING: Final = {
    **{name: f"{name}f" for name in ("add", "sub", "mul", "div", "min", "max", "sqrt", "neg", "abs")},
    **{name: f"{own}f" for name, own in _COMPARED.items()},
    "madd": "fmaf",
}


def costs(program: Program, execution: Execution) -> Costs:
    """Costs of a file that ran."""
    file = belt_file.read(program.data)
    run: Run = execution.detail
    hot = hottest_code(file, run, execution.hot_lines)
    # Lanes are those of the widest element: a loop's vectors are as long as these allow.
    size = _element_bytes(file.signature)
    slots = len(file.machine.unit_slots("ls"))
    return Costs(
        time="cycle-exact",
        issued=execution.operations,
        issues="operations of slots",
        units=tuple(_units(file.machine, max(1, file.machine.vector // size))),
        moved=_moved_bytes(file.program, run),
        boundary="loads and stores, as bundles issue them",
        # At most one access of a whole vector per slot and bundle.
        bandwidth=float(slots * file.machine.vector),
        code_bytes=len(belt_file.parts(program.data).code),
        loop=() if hot is None else tuple(_loop_lines(hot[0].bundles[hot[1] : hot[2]])),
        stated=stated_figures.read_stated(str(program.place or "")),
    )


def _element_bytes(signature: Signature) -> int:
    """Bytes of the widest element of the arrays; of scalars where there is no array."""
    arrays = [a.dtype.itemsize for a in signature.arguments if not a.is_scalar]
    return max(arrays or [a.dtype.itemsize for a in signature.arguments] or [4])


def _units(machine: Machine, lanes: int) -> Iterator[Units]:
    for slot, _ in machine.slots:
        executes = dict(_slot_operations(machine, slot))
        if executes:
            yield Units(str(slot), lanes, executes)


def _slot_operations(machine: Machine, slot: object) -> Iterator[tuple[Class, float]]:
    """Operations and types that a slot executes, with the bundles for which it is busy."""
    for dtype in ELEMENT_TYPES:
        for operation, name in _mnemonics(dtype).items():
            row, width = OPS[name], _WIDTHS[dtype]
            if slot in machine.unit_slots(row.unit) and machine.supports(name, width):
                yield (operation, dtype), machine.busy(row, width)


def _mnemonics(dtype: ElementType) -> dict[str, str]:
    """Mnemonics of operations on a type."""
    if dtype in FLOATS:
        return _FLOATING
    plain = {name: name for name in _ALIKE}
    if dtype not in INTEGERS:
        return plain
    sign = "u" if dtype in UNSIGNED else "s"
    compared = {n: own if n in ("eq", "ne") else f"{own}{sign}" for n, own in _COMPARED.items()}
    own = _UNSIGNED if dtype in UNSIGNED else _SIGNED
    # There is no negation: it is 0 - x.
    rest = {"add": "add", "sub": "sub", "mul": "mul", "neg": "sub", "abs": "abs", "shl": "shl", "madd": "muladd"}
    return {**plain, **own, **compared, **rest}


def _moved_bytes(code: Code, run: Run) -> int:
    """Bytes moved, by how often each bundle ran. Accesses that a None kept from happening are counted: the slot was
    used."""
    return sum(
        times * sum(map(_bytes, bundle.issues))
        for routine in code.routines
        for bundle, times in zip(routine.bundles, run.executed.get(routine.name, ()), strict=False)
    )


def _bytes(issue: Issue) -> int:
    if OPS[issue.name].unit != "ls" or issue.width is None:
        return 0
    return prod((BYTES[issue.width], issue.lanes))


def _loop_lines(bundles: Sequence[Bundle]) -> Iterator[Line]:
    """Lines of a pass of a loop, bundle by bundle."""
    for number, bundle in enumerate(bundles):
        yield from _issues(number, bundle)


def _issues(number: int, bundle: Bundle) -> Iterator[Line]:
    """Lines of a bundle's operations."""
    issues, notes = sort_by_slot(bundle)
    for n, issue in enumerate(issues):
        note = notes[n] if notes else None
        names = f"  {' '.join(note.results)}" if note is not None and note.results else ""
        width = f".{issue.width}" if issue.width else ""
        place = note.place if note is not None else NOWHERE
        text = f"bundle {number}  {issue.slot!s:3} {issue.name}{width}{names}"
        yield Line(text, place.line, place.reason)
