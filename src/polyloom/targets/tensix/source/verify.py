# SPDX-License-Identifier: Apache-2.0
"""Verifier of vector kernels: the rules beyond those of SSA form, and the warnings.

Errors, at the source: conditions balanced on all ways (PL1240), immediates constant and in range (PL1241), operations
that the member has (PL1242). Warnings: lanes without a value that are stored or compared (PL1243).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.ir.ssa import Constant, Function, Instruction, Operand
from polyloom.ir.ssa_externals import External
from polyloom.ir.ssa_verify import verify as verify_ssa
from polyloom.targets.tensix.source.locate import make_diagnostic
from polyloom.targets.tensix.source.operations import PREFIX, Operation, called_operation, externals
from polyloom.targets.tensix.source.operations import Operand as Row
from polyloom.targets.tensix.source.regions import analyze_regions
from polyloom.targets.tensix.source.undefined_lanes import undefined_uses
from polyloom.targets.tensix.words.isa import Member

_UNSETTLED = {"rand": "rand", "sfparecip": "approx_recip and approx_exp", "sfpmul24": "fractional_mul"}
"""What Blackhole's operations are called in the library."""


def verify(function: Function, member: Member = "wormhole") -> tuple[Diagnostic, ...]:
    """Warnings of a kernel, which have the exit code 0; raises PL0971 and PL1240 to PL1242."""
    verify_ssa(function)
    errors = [found for instruction in _instructions(function) for found in _operation_errors(instruction, member)]
    if errors:
        raise PolyloomError(*errors)
    return undefined_uses(function, analyze_regions(function))


def declare_operations(function: Function) -> Function:
    """Function with the operations that it calls declared, which SSA form asks for, in the table's order."""
    names = {i.called for i in _instructions(function)}
    others = tuple(e for e in function.externals if not e.name.startswith(PREFIX))
    used: tuple[External, ...] = tuple(e for e in externals().functions if e.name in names)
    return replace(function, externals=(*others, *used))


def _instructions(function: Function) -> Iterator[Instruction]:
    return (i for member in function.program for block in member.blocks for i in block.instructions)


def _operation_errors(instruction: Instruction, member: Member) -> Iterator[Diagnostic]:
    row = called_operation(instruction)
    if row is None:
        if instruction.called.startswith(PREFIX):
            yield make_diagnostic("PL1240", f"there is no operation @{instruction.called}", instruction.place)
        return
    if row.only_blackhole and member == "wormhole":
        yield _member_error(row.name, instruction)
        return
    for operand, given in zip(row.operands, instruction.operands, strict=True):
        if operand.kind == "immediate":
            yield from _immediate_errors(row, operand, given, instruction, member)


def _member_error(name: str, instruction: Instruction) -> Diagnostic:
    what = _UNSETTLED.get(name, name)
    help = "compile for it with `--on tensix:blackhole`"
    return make_diagnostic("PL1242", f"Wormhole has no {what}; Blackhole has", instruction.place, help=help)


def _immediate_errors(
    row: Operation, operand: Row, given: Operand, instruction: Instruction, member: Member
) -> Iterator[Diagnostic]:
    allowed, where = operand.allowed(member), instruction.place
    if not isinstance(given, Constant):
        message = f"{operand.name} of {row.name} is not known when the kernel is compiled"
        yield make_diagnostic("PL1241", message, where, help="give a constant, such as a template argument")
    elif given.value not in allowed:
        if member == "wormhole" and given.value in operand.more:
            yield _member_error(f"{operand.name} {given.value} of {row.name}", instruction)
            return
        message = f"{operand.name} of {row.name} is {given.value}"
        yield make_diagnostic("PL1241", message, where, help=f"it is {_value_list(allowed)}")


def _value_list(values: tuple[int, ...]) -> str:
    if len(values) > 2 and values == tuple(range(values[0], values[-1] + 1)):
        return f"{values[0]} to {values[-1]}"
    return " or ".join(map(str, values))
