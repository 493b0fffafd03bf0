# SPDX-License-Identifier: Apache-2.0
"""Variables of functions as data: a function that does not call itself runs once at a time, so what it has on the stack
elsewhere can have one place."""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.ssa import Address, Constant, Data, Function, Operand, Value
from polyloom.transform.ssa.function_editing import with_operands


def static_arrays(function: Function) -> Function:
    """Static allocation of activation records (the default of FORTRAN 77, 1978, whose functions do not call
    themselves): the whole program with variables of constant size as data.
    """
    data: list[Data] = list(function.data)
    taken = {datum.name for datum in data}
    members: list[Function] = []
    for member in function.program:
        found: dict[str, Operand] = {}
        for i in (i for block in member.blocks for i in block.instructions if i.operation == "alloca"):
            size = i.operands[0]
            if not isinstance(size, Constant):
                continue
            name = _free(f"{member.name}.{i.results[0].name}", taken)
            data.append(Data(name, bytes(size.value), max(1, i.access.align if i.access else 1)))
            found[i.results[0].name] = Address(name)
        members.append(_replace_allocas(member, found))
    return replace(members[0], data=tuple(data), others=tuple(members[1:]))


def _free(name: str, taken: set[str]) -> str:
    found, k = name, 0
    while found in taken:
        found, k = f"{name}.{k}", k + 1
    taken.add(found)
    return found


def _replace_allocas(function: Function, known: dict[str, Operand]) -> Function:
    if not known:
        return function
    kept = tuple(
        with_operands(
            replace(b, instructions=tuple(i for i in b.instructions if not (i.results and i.results[0].name in known))),
            lambda o: known.get(o.name, o) if isinstance(o, Value) else o,
        )
        for b in function.blocks
    )
    return replace(function, blocks=kept)
