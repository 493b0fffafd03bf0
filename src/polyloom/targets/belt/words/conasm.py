# SPDX-License-Identifier: Apache-2.0
"""Disassembler: *conasm*, a program as text, one bundle per line, that `conasm_read` makes the same bytes of
(docs/formats.md, Conasm).

    member silver
    signature {"arguments":[],"name":"f","sizes":[]}
    routine f (w, w) -> (w)
      0: F0 load.w(b2 %x, b1 %i * 4 + 8) delay 3 -> %a @2 s0 | F1 con.w(5) -> %c @0 : drops 1 ; belt 3

An operation stands behind its slot: name, width, lanes, operands with their names, what its words state besides, its
results with the bundle in which they drop (counted on, as if the routine were not left), its stage, and its place in
the source with the reason why the compiler added it. After the colon follow the bundle's drops, `rotate`, and `back N`
where a pass of N bundles ends. What follows `;` is a comment: the row in the loop's pass, and the operands on the belt
afterwards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from polyloom.ir.signature import Signature
from polyloom.ir.ssa import NOWHERE
from polyloom.targets.belt import machine
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.value_types import Type
from polyloom.targets.belt.words import signature_line
from polyloom.targets.belt.words.fields import layout
from polyloom.targets.belt.words.program import (
    NONE,
    Bundle,
    Immediate,
    Issue,
    Note,
    Operand,
    Program,
    Routine,
    sort_by_slot,
)

PLAIN: Final = re.compile(r"[\w.$]+")
"""Names that need no quotes."""
_BARE: Final = Note()
# Literals are bits: above this they are more likely a mask, an address or a float than a count.
_WIDE: Final = 1 << 31
Lengths = Mapping[tuple[str, int], int]
"""Operands on the belt after a bundle of a routine."""


def print_program(program: Program, signature: Signature, lengths: Lengths | None = None) -> str:
    """Conasm text of a program. `lengths`, if given, adds the operands on the belt after each bundle as comments."""
    member = machine.read(program.description, program.member)
    lines = [
        *_member(program, member),
        signature_line.print_signature(signature),
        *([f"told {program.told}"] if program.told != "{}" else []),
        *_data(program),
        *(line for routine in program.routines for line in _routine(routine, member, lengths or {})),
    ]
    return "\n".join(lines) + "\n"


def _member(program: Program, member: Machine) -> list[str]:
    """Member line: the name of a shipped member; the resolved description of another one, each line behind a bar."""
    # A file's own description can differ from a shipped member of the same name: then it is printed whole.
    if member.name in machine.members() and member == machine.member(member.name, member.phasing):
        return [f"member {member.name}{'' if member.phasing else ' unphased'}"]
    return ["member", *(f"| {line}".rstrip() for line in program.description.splitlines())]


def _data(program: Program) -> Iterator[str]:
    """Lines of the data; of the argument block the types are shown, for its bytes are those of a run."""
    for k, data in enumerate(program.data, 1):
        kind = " constant" if data.constant else ""
        content = data.initial.hex() or "-"
        if program.memory_arguments and k == len(program.data):
            content = f"arguments {_types(tuple(map(Type, program.memory_arguments)))}"
        yield f"data {quote_name(data.name)} align {data.align}{kind} {content}"


def quote_name(text: str) -> str:
    """Name as a word, or quoted as JSON where it has other characters."""
    return text if PLAIN.fullmatch(text) else json.dumps(text)


def _types(types: tuple[Type, ...]) -> str:
    return f"({', '.join(map(str, types))})"


def _routine(routine: Routine, member: Machine, lengths: Lengths) -> Iterator[str]:
    """Lines of a routine: its head, then one line per bundle."""
    yield f"routine {quote_name(routine.name)} {_types(routine.parameters)} -> {_types(routine.results)}"
    backs = {first + bundles - 1: bundles for first, bundles in routine.loops}
    rows = {first + row: (row, bundles) for first, bundles in routine.loops for row in range(bundles)}
    for n, bundle in enumerate(routine.bundles):
        back = f" back {backs[n]}" if n in backs else ""
        row = [f"row {rows[n][0]} of {rows[n][1]}"] if n in rows else []
        length = [f"belt {lengths[routine.name, n]}"] if (routine.name, n) in lengths else []
        comment = f" ; {', '.join(row + length)}" if row + length else ""
        rotate = " rotate" if bundle.rotate else ""
        # Bundles without operations are printed as well: their drops and time are part of the program.
        body = " | ".join(_issues(bundle, n, member))
        yield f"{n:4}:{' ' if body else ''}{body} : drops {bundle.drops}{rotate}{back}{comment}"


def _issues(bundle: Bundle, at: int, member: Machine) -> Iterator[str]:
    issues, notes = sort_by_slot(bundle)
    for issue, note in zip(issues, notes or (_BARE,) * len(issues), strict=True):
        yield " ".join(
            filter(None, (f"{issue.slot} {issue_text(issue, note)}", _results(issue, note, at, member), _origin(note)))
        )


def issue_text(issue: Issue, note: Note = _BARE) -> str:
    """Mnemonic, operands and what the words state besides, such as `load.w(b2, b1 * 4 + 8) delay 3`."""
    width = f".{issue.width}" if issue.width else ""
    # Without a width the dot still separates the lanes from the mnemonic.
    lanes = f"{'' if width else '.'}x{issue.lanes}" if issue.lanes != 1 else ""
    form = f"{issue.name}{width}{lanes}"
    names = (*note.operands, *("",) * len(issue.operands))
    operands = [_operand(o, n) for o, n in zip(issue.operands, names, strict=False)]
    match layout(OPS[issue.name]):
        case "memory":
            delay = f" delay {issue.delay}" if issue.delay else ""
            return f"{form}({_address(issue, operands)}){delay}"
        case "scratch":
            return f"{form}({', '.join(operands)}) at {issue.offset}"
        case "frames":
            return f"{issue.name}({issue.offset}) frames {issue.frames} of {issue.frame}"
        case "con":
            return f"{form}({issue.literal if issue.literal < _WIDE else hex(issue.literal)})"
        case "control":
            target = f" to {issue.target}" if is_transfer(issue.name) else ""
            callee = f" {quote_name(issue.callee)}" if issue.callee else ""
            return f"{issue.name}{callee}({', '.join(operands)}){target}"
        case _:
            return f"{form}({', '.join(operands)})"


def is_transfer(mnemonic: str) -> bool:
    """Whether the operation names a bundle to which control goes."""
    return mnemonic.startswith(("br", "inner", "leave")) and OPS[mnemonic].unit == "control"


def _address(issue: Issue, operands: list[str]) -> str:
    last = 1 if issue.scale else 0
    scale = f" * {issue.scale}" if issue.scale else ""
    offset = f" {'+' if issue.offset > 0 else '-'} {abs(issue.offset)}" if issue.offset else ""
    return ", ".join((*operands[:last], operands[last] + scale + offset, *operands[last + 1 :]))


def _operand(operand: Operand, called: str) -> str:
    """Text of an operand: a position, an immediate or a None, with the name of its value."""
    if isinstance(operand, Immediate):
        text = str(operand.value)
    elif operand.position == NONE:
        text = f"none.{operand.width}" if operand.width else "none"
    else:
        text = f"b{operand.position}"
    return f"{text} %{quote_name(called)}" if called else text


def _results(issue: Issue, note: Note, at: int, member: Machine) -> str:
    """Names of results, and the bundle in which they drop."""
    names = [f"%{quote_name(n)}" for n in note.results]
    drop = drop_bundle(issue, at, member)
    # A call's results are known by its callee only; without names there is nothing to print.
    if drop is None or (OPS[issue.name].results < 0 and not names):
        return f"-> {', '.join(names)}" if names else ""
    return f"-> {', '.join(names)}{' ' if names else ''}@{drop}"


def drop_bundle(issue: Issue, at: int, member: Machine) -> int | None:
    """Drop bundle of the results of an operation issued in bundle `at`; None where it has none (docs/formats.md, Order
    of drops)."""
    op = OPS[issue.name]
    if op.results == 0:
        return None
    # Latency 0 and latency 1 both drop in the bundle of issue, in different phases.
    return at + max(issue.delay or member.latency(op, issue.width or "w"), 1) - 1


def _origin(note: Note) -> str:
    """Stage, source place and reason of an operation."""
    stage = "" if note.stage is None else f"s{note.stage}"
    place = note.place
    if place == NOWHERE:
        return stage
    column = f":{place.column}" if place.column else ""
    at = f"@line {place.line}{column}{f' {json.dumps(place.file)}' if place.file else ''}"
    reason = f" for {json.dumps(place.reason)}" if place.reason else ""
    return f"{stage} {at}{reason}".strip()
