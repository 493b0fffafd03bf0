# SPDX-License-Identifier: Apache-2.0
"""Unsupported constructs: what a program in SSA form may have and a belt has no code for: recursion, calls through
pointers and addresses of functions, pointers in data, atomic read-modify-write, arrays of no constant size, loops that
are entered at several places.

A belt names routines in its code words, and runs alone on its memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.analysis.loops import loop_forest
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.ssa import ATOMICS, INDIRECT, Block, Constant, Function, flow_edges, mentioned_addresses


def refuse_unsupported(program: Function) -> Function:
    """Check a program; the program itself. Errors: PL1085 to PL1087, PL1090."""
    for error in _violations(program):
        raise error
    return program


def _violations(program: Function) -> Iterator[PolyloomError]:
    """Errors of a program, one for each construct without code."""
    names = {member.name for member in program.program}
    if (recursion := _recursion(program)) is not None:
        yield recursion
    for member in program.program:
        # Loops are natural ones: a loop with two entries has no head where `inner` could stand (Havlak 1997).
        forest = loop_forest(len(member.blocks), flow_edges(member))
        yield from (_irreducible_error(member, member.blocks[loop.header]) for loop in forest.loops if loop.irreducible)
        for instruction in (i for block in member.blocks for i in block.instructions):
            where = instruction.place.words() or member.name
            if instruction.operation in ATOMICS:
                yield _error(
                    f"{where}: an atomic read-modify-write", "use a plain variable: nothing runs beside a belt"
                )
            if instruction.operation == "alloca" and not isinstance(instruction.operands[0], Constant):
                at = f", {words}" if (words := instruction.place.words()) else ""
                yield input_error(
                    "PL1086",
                    f"an array of {member.name} has no constant size{at}",
                    help="declare it with a constant size, or pass it as an argument",
                )
            if instruction.callee == INDIRECT:
                yield _error(f"{where}: a call through a pointer", "call functions by their names, in a `switch`")
        for address in (address for address in mentioned_addresses(member) if address.name in names):
            yield _error(f"the address of the function {address.name}", "call functions by their names, in a `switch`")
    # Addresses are known only when data are laid out, behind the importer.
    for datum in (datum for datum in program.data if datum.addresses):
        yield _error(f"the variable {datum.name}, which contains pointers", "put what they point to into one array")


def _recursion(program: Function) -> PolyloomError | None:
    """Recursion error: a function that calls itself, by whatever way; the way is named. Depth-first search of the call
    graph."""
    members = {member.name: member for member in program.program}
    finished: set[str] = set()

    def visit(name: str, path: list[str]) -> PolyloomError | None:
        if name in path:
            circle = " calls ".join((*path[path.index(name) :], name))
            where = members[name].place.words()
            message = f"{circle}{f' ({where})' if where else ''}: recursion has no code here"
            return input_error("PL1085", message, help="write it as a loop, with a stack of its own in an array")
        called = (i.called for block in members[name].blocks for i in block.instructions if i.called in members)
        found = None if name in finished else next(filter(None, (visit(c, [*path, name]) for c in called)), None)
        # A function that was left without a circle needs no second visit: the search stays linear.
        finished.add(name)
        return found

    return next(filter(None, (visit(name, []) for name in members)), None)


def _irreducible_error(function: Function, block: Block) -> PolyloomError:
    place = next((p for p in (i.place for i in block.instructions) if p.line), block.terminator.place)
    words = place.words(function.place.file)
    return input_error(
        "PL1087",
        f"{function.name}{f', {words}' if words else ''}: a loop is entered at several places",
        help="enter the loop at its head alone: replace the `goto` into it by a flag that is tested in it",
    )


def _error(what: str, help: str) -> PolyloomError:
    return input_error("PL1090", f"{what}: this has no code on a belt", help=help)
