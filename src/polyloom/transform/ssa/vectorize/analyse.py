# SPDX-License-Identifier: Apache-2.0
"""Whether a superblock loop can compute several iterations at once, and what its values are then.

Feasible iff every recurrence but reductions has a distance of at least the lanes (Allen, Kennedy, "Optimizing compilers
for modern architectures", 2001, chapter 5): recurrences through variables have distances below that, those through
memory are its dependences. Loads come before all stores of a pass; so what must not happen is that a store of one lane
is read, or overwritten, by an earlier operation of a later lane.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.analysis.affine import Affine, AffineForms, induction_steps
from polyloom.analysis.memory_dependences import MemoryDependence
from polyloom.analysis.superblocks import SideExit, Superblock
from polyloom.analysis.trip_counts import trip_count
from polyloom.ir.ssa import (
    ARITHMETIC,
    CASTS,
    COMPARISONS,
    FLOAT_COMPARISONS,
    FLOATING,
    INTRINSICS,
    Function,
    Instruction,
    Operand,
    Value,
)
from polyloom.ir.ssa_types import I1, PTR, Type

IDENTITY: Final = {"add": 0, "sub": 0, "or": 0, "xor": 0, "and": -1, "mul": 1}
EXTREMES: Final = ("smin", "smax", "umin", "umax")
SUMS: Final = ("fadd", "fsub")
_LANE_WISE: Final = frozenset(
    (*ARITHMETIC, *FLOATING, *COMPARISONS, *FLOAT_COMPARISONS, *INTRINSICS, "fneg", "select", "copy")
)
_KEEPS_WIDTH: Final = ("bitcast", "ptrtoint", "inttoptr", "fptosi", "fptoui", "sitofp", "uitofp")


class Refused(Exception):
    """The text says why."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`steps`: counters with what they grow by in an iteration. `reductions`: variables with the instruction that makes
    their next value. `counted`: the exit whose test the number of iterations decides, and that number as a form;
    others test their condition in each lane. `affine`: values that grow by a constant, or do not vary."""

    loop: Superblock
    lanes: int
    steps: Mapping[Value, int]
    reductions: Mapping[Value, Instruction]
    counted: tuple[SideExit, Affine] | None
    affine: Mapping[Value, Affine]

    def growth(self, form: Affine) -> int:
        """By which a form over counters grows in an iteration."""
        return sum(self.steps.get(atom, 0) * c for atom, c in form.terms if isinstance(atom, Value))


def home(loop: Superblock) -> str:
    """The file that places in messages do not name."""
    return next((i.place.file for i in loop.instructions if i.place.file), loop.place.file)


def has_single_counted_exit(plan: Plan) -> bool:
    """Whether the number of iterations alone ends the loop."""
    return plan.counted is not None and len(plan.loop.exits) == 1


def operation_name(i: Instruction) -> str:
    """The operation, or the intrinsic that is called."""
    return i.callee or i.operation


def analyse(
    function: Function,
    loop: Superblock,
    dependences: Collection[MemoryDependence],
    vector: int,
    reassociate: bool,
    expected: int | None,
) -> Plan:
    """Legality of vectorization (Allen, Kennedy 2001, chapter 5): how to vectorize for vectors of so many bytes. Raises
    Refused.
    """
    for i in loop.instructions:
        if i.called:
            raise Refused(f"it calls {i.called}")
        if i.access is not None and (i.access.volatile or i.access.order):
            raise Refused("it has a volatile access")
    forms = AffineForms(function, loop)
    basic = induction_steps(loop, forms)
    affine = _affine_values(loop, forms, basic)
    reductions = _reductions(loop, basic, reassociate)
    lanes = vector // max(1, _widest(loop, affine))
    if lanes < 2:
        raise Refused(f"vectors of {vector} bytes have one lane of its widest element")
    if expected is not None and expected < lanes:
        raise Refused(f"{expected} iterations are expected, fewer than {lanes} lanes")
    _check_memory(loop, dependences, lanes)
    _check_operations(loop, affine)
    counted = trip_count(function, loop)
    if counted is not None and not _leaves_only_sums(loop, counted[0], affine, reductions):
        counted = None  # its test by lane tells the last iteration's lane
    return Plan(loop, lanes, basic, reductions, counted, affine)


def _leaves_only_sums(
    loop: Superblock, e: SideExit, affine: Mapping[Value, Affine], reductions: Mapping[Value, Instruction]
) -> bool:
    """Whether what leaves with the counted exit is known without the last iteration's lane."""
    own = loop.definitions
    sums = {*reductions, *(i.results[0] for i in reductions.values())}
    return all(a in affine or a in sums for a in e.edge.arguments if isinstance(a, Value) and a.name in own)


def identity_element(operation: str, type: Type) -> int:
    """What changes nothing, as a constant of the type has it."""
    if operation in EXTREMES:
        most = (1 << (type.bits - 1)) - 1
        return {"smin": most, "smax": -most - 1, "umin": -1, "umax": 0}[operation]
    if operation in SUMS:
        return 1 << (type.bits - 1)  # -0.0, which also a sum of zeros keeps
    return IDENTITY[operation]


def _affine_values(loop: Superblock, forms: AffineForms, basic: Mapping[Value, int]) -> dict[Value, Affine]:
    own = loop.definitions
    found: dict[Value, Affine] = {}
    for value in (*loop.parameters, *(r for i in loop.instructions for r in i.results)):
        if value.type in (forms.function.address, PTR):
            form = forms.form(value)
            if all(not isinstance(atom, Value) or atom in basic or atom.name not in own for atom, _ in form.terms):
                found[value] = form
    return found


def _reductions(loop: Superblock, basic: Mapping[Value, int], reassociate: bool) -> dict[Value, Instruction]:
    makers = {r: i for i in loop.instructions for r in i.results}
    found: dict[Value, Instruction] = {}
    for parameter, following in zip(loop.parameters, loop.following, strict=True):
        if parameter in basic:
            continue
        i = makers.get(following) if isinstance(following, Value) else None
        if i is None or not _reduces(loop, i, parameter):
            raise Refused(_recurrence(loop, parameter, following, makers))
        # Lanes add in another order, and each addition rounds (IEEE 754, section 4.3).
        if i.operation in SUMS and not reassociate:
            raise Refused(f"the sum %{parameter.name} of floats keeps its order; `--reassociate` lets it change")
        found[parameter] = i
    return found


def _reduces(loop: Superblock, i: Instruction, parameter: Value) -> bool:
    """Whether the instruction alone reads the variable, and nothing but the next iteration its result."""
    name = operation_name(i)
    if name not in (*IDENTITY, *EXTREMES, *SUMS) or (name in ("sub", "fsub") and i.operands[0] != parameter):
        return False
    read = [o for other in loop.instructions for o in other.operands] + [e.condition for e in loop.exits]
    alone = read.count(parameter) == 1 and parameter in i.operands and i.results[0] not in read
    return alone and loop.following.count(i.results[0]) == 1


def _recurrence(loop: Superblock, parameter: Value, following: Operand, makers: Mapping[Value, Instruction]) -> str:
    """In words, with its distance: the variables that a value passes before it is read."""
    variables: dict[Operand, Operand] = dict(zip(loop.parameters, loop.following, strict=True))
    distance, last = 1, following
    while last in variables and distance < len(variables):
        distance, last = distance + 1, variables[last]
    i = makers.get(last) if isinstance(last, Value) else None
    place = i.place.words(home(loop)) if i is not None else ""
    return f"the recurrence of %{parameter.name}{f' ({place})' if place else ''} has distance {distance}"


def _bytes(type: Type) -> int:
    return 4 if type == PTR else max(1, type.bits // 8)


def _widest(loop: Superblock, affine: Mapping[Value, Affine]) -> int:
    """Bytes of the widest element that becomes a lane; conditions are as narrow as can be."""
    return max((width for i in loop.instructions for width in _widths(loop, i, affine)), default=1)


def _widths(loop: Superblock, i: Instruction, affine: Mapping[Value, Affine]) -> Iterator[int]:
    if i.operation in ("load", "store"):
        accessed = i.results[0] if i.operation == "load" else _stored_value(loop, i)
        yield _bytes(accessed.type)
        # A gather has addresses by lane.
        yield from () if i.operands[i.operation == "store"] in affine or not _varies(loop, i, affine) else (4,)
        return
    if i.operation == "offset" or i.results[0] in affine:
        return
    for value in (*i.results, *i.operands):
        if isinstance(value, Value) and value not in affine:
            yield _bytes(value.type)
        elif isinstance(value, Value) and i.results[0].type == I1:
            # A comparison of a counter with what does not vary needs lanes of the counter.
            yield _bytes(value.type)


def _stored_value(loop: Superblock, i: Instruction) -> Operand:
    """What a store takes the low bytes of."""
    value = i.operands[0]
    made = next((other for other in loop.instructions if value in other.results), None)
    return made.operands[0] if made is not None and made.operation == "trunc" else value


def _varies(loop: Superblock, i: Instruction, affine: Mapping[Value, Affine]) -> bool:
    pointer = i.operands[i.operation == "store"]
    return isinstance(pointer, Value) and pointer.name in loop.definitions and pointer not in affine


def _check_memory(loop: Superblock, dependences: Collection[MemoryDependence], lanes: int) -> None:
    """Dependence test of a pass: what must not happen is that a store of one lane is read, or overwritten, by an
    earlier operation of a later lane (Allen, Kennedy 2001, chapter 2).
    """
    for d in dependences:
        first, second = loop.instructions[d.source], loop.instructions[d.sink]
        if first.operation == "load":
            continue  # all loads come first
        backward, reads = d.source >= d.sink, second.operation == "load"
        if (reads or backward) and d.distance < lanes:
            places = (first.place.words(home(loop)), second.place.words(home(loop)))
            where = f" ({places[0]} to {places[1]})" if all(places) else ""
            kind = "is read" if reads else "is overwritten"
            message = f"the recurrence through memory{where} has distance {d.distance}: what is stored {kind}"
            raise Refused(f"{message} before {lanes} iterations have passed")


def _check_operations(loop: Superblock, affine: Mapping[Value, Affine]) -> None:
    for i in loop.instructions:
        name = operation_name(i)
        if name in ("load", "store", "offset") or any(r in affine for r in i.results):
            continue
        is_fine = extending_load(loop, i) or stores_low_bytes(loop, i) if i.operation in CASTS else name in _LANE_WISE
        if not is_fine and not (i.operation in _KEEPS_WIDTH and i.operands[0].type.bits == i.results[0].type.bits):
            where = i.place.words(home(loop))
            raise Refused(f"`{name}`{f' ({where})' if where else ''} changes the width of lanes")


def extending_load(loop: Superblock, i: Instruction) -> Instruction | None:
    """Of an extension: the load to 32 bits that does it, or of a condition the extension itself, which selects."""
    if i.operation not in ("zext", "sext"):
        return None
    if i.operands[0].type == I1:
        return i
    source = next((other for other in loop.instructions if i.operands[0] in other.results), None)
    loads = source is not None and source.operation == "load" and i.results[0].type.bits == 32
    return source if loads else None


def stores_low_bytes(loop: Superblock, i: Instruction) -> bool:
    """Whether only stores read what a truncation gives."""
    narrow = i.results[0] if i.results else None
    users = [(k, other) for other in loop.instructions for k, o in enumerate(other.operands) if o == narrow]
    leaves = narrow in loop.following or any(narrow in (e.condition, *e.edge.arguments) for e in loop.exits)
    wide = i.operation == "trunc" and i.results[0].type != I1 and i.operands[0].type.bits <= 32
    return wide and not leaves and all(other.operation == "store" and k == 0 for k, other in users)
