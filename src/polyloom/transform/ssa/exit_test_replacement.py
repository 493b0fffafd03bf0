# SPDX-License-Identifier: Apache-2.0
"""Linear test replacement (Cocke, Kennedy, 1977): a counter whose end is tested for equality counts to a constant
instead, most often 0, where else it is but part of addresses.

The end then takes no value in each iteration, and the bases of the arrays move by as much. What leaves the loop of the
counter is counted back, by an instruction that `sinking` moves behind the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from polyloom.analysis.affine import Affine, AffineForms, atom_form, induction_steps
from polyloom.analysis.superblocks import (
    SideExit,
    Superblock,
    entry_edge,
    superblocks,
    with_line,
    with_preheader,
    with_superblock,
)
from polyloom.analysis.trip_counts import equality_test, tested_variable
from polyloom.ir.ssa import Function, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_types import PTR
from polyloom.transform.ssa.function_editing import names, on_each_function
from polyloom.transform.ssa.materialize import materialize
from polyloom.transform.ssa.preheaders import with_preheaders

Fresh = Callable[[str], str]
_ADDRESSING: Final = ("add", "sub", "shl", "mul", "or", "offset", "copy", "ptrtoint", "inttoptr")


@on_each_function
def replace_loop_tests(function: Function) -> Function:
    """The function whose superblock loops count so where it pays."""
    function = with_preheaders(function)
    fresh = names(function)
    for loop in superblocks(function):
        function = _with_replaced_test(function, loop, fresh)
    return function


def _with_replaced_test(function: Function, loop: Superblock, fresh: Fresh) -> Function:
    forms = AffineForms(function, loop)
    basic = induction_steps(loop, forms)
    for e in loop.exits:
        test = equality_test(loop, e)
        found = tested_variable(loop, test, forms, basic) if test is not None else None
        if test is None or found is None or found[0].type == PTR:
            continue
        counter, sign, difference = found
        end = (difference - atom_form(counter) * sign) * -sign  # where counter == end the two are equal
        if end.terms and _is_address_part(loop, counter, forms, basic, test):
            return _with_shifted_counter(function, loop, counter, end, test, basic[counter], fresh)
    return function


def _is_address_part(
    loop: Superblock, counter: Value, forms: AffineForms, basic: Mapping[Value, int], test: Instruction
) -> bool:
    """Whether the counter, and what is a constant more, is part of addresses that are affine over counters, in the
    test, counted on, and leaves the loop; nothing else."""
    own = loop.definitions
    family = {counter} | {
        r
        for i in loop.instructions
        if i.operation == "add"
        for r in i.results
        if forms.form(r).terms == ((counter, 1),)
    }
    others: set[Operand] = {o for p, o in zip(loop.parameters, loop.following, strict=True) if p != counter}
    others |= {e.condition for e in loop.exits}
    addressing: set[Operand] = set()
    for i in reversed(loop.instructions):
        if i is test or (i.results and i.results[0] in family):
            continue
        if i.operation in ("load", "store"):
            place = i.operation == "store"
            atoms = [atom for atom, _ in forms.address(i).terms if isinstance(atom, Value) and atom.name in own]
            if all(atom in basic for atom in atoms):
                addressing.add(i.operands[place])
            else:
                others.add(i.operands[place])
            others |= {o for k, o in enumerate(i.operands) if k != place}
        elif i.operation in _ADDRESSING and i.results[0] in addressing and i.results[0] not in others:
            addressing |= set(i.operands)
        else:
            others |= set(i.operands)
    return not family & others


def _with_shifted_counter(
    function: Function, loop: Superblock, counter: Value, end: Affine, test: Instruction, step: int, fresh: Fresh
) -> Function:
    """With a counter that is less by what of `end` is no constant, which lies outside of the loop."""
    head: list[Instruction] = []
    new, grown = Value(fresh(counter.name), counter.type), Value(fresh(counter.name), counter.type)
    last = materialize(Affine(0, end.terms), head, fresh, function.address)
    advance = Instruction("add", (new, integer_constant(counter.type, step)), (grown,))
    # The test reads the next value where the loop ends one step before the counter's end.
    reads_next = end.constant == -step
    tested = (
        (grown, integer_constant(counter.type, 0))
        if reads_next
        else (new, integer_constant(counter.type, end.constant))
    )
    # What still reads the old counter is addresses, which take the sum apart, and what leaves.
    line: list[Instruction | SideExit] = [Instruction("add", (new, last), (counter,))]
    for item in loop.line:
        if item is test:
            line += [*([advance] if reads_next else []), replace(test, operands=tested)]
        else:
            line.append(item)
    line += [] if reads_next else [advance]
    position = loop.parameters.index(counter)
    parameters = tuple(new if k == position else p for k, p in enumerate(loop.parameters))
    following = tuple(grown if k == position else o for k, o in enumerate(loop.following))
    first = entry_edge(function, loop)[1].arguments
    head.append(Instruction("sub", (first[position], last), (Value(fresh("a"), counter.type),)))
    begun = tuple(head[-1].results[0] if k == position else o for k, o in enumerate(first))
    moved = with_line(replace(loop, parameters=parameters, following=following), line)
    return with_superblock(with_preheader(function, loop, head, begun), moved, fresh)
