# SPDX-License-Identifier: Apache-2.0
"""Innermost loops of the C examples as dependence graphs to schedule, on two machines, as they are and unrolled.

A loop is a block that leads to itself, after if-conversion (Allen et al. 1983). Its operations are the instructions and
the branch. A value that comes round as a block parameter has distance 1. Pointers that are made before the loop and
differ are taken for different arrays, or rows of one that do not overlap. Through one pointer, affine addresses that
advance alike meet at an exact distance (the strong SIV test: Goff, Kennedy and Tseng 1991), and others in this
iteration and the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from polyloom.cli import examples
from polyloom.frontend import Options, ssa
from polyloom.ir.ssa import Block, Branch, Constant, Function, Instruction, Operand, Value
from polyloom.ir.ssa_types import SIZE
from polyloom.modulo.problem import Choice, Dependence, Operation, Problem, Resource, Use
from polyloom.transform.ssa.if_convert import Cost, if_convert

LEAST, MOST = 10, 120
"""Operations of a graph."""
UNROLLED: Final = (1, 2, 4, 8)
_LOOSE: Final = Cost(branch=10**6)
"""All branches inside of a loop become selects where they can."""
_FORMS: Final = {
    **dict.fromkeys(("fadd", "fsub"), "fadd"),
    **dict.fromkeys(("fmul", "mul"), "mul"),
    **dict.fromkeys(("fdiv", "sdiv", "udiv", "srem", "urem", "sqrt"), "div"),
    "load": "load",
    "store": "store",
}


@dataclass(frozen=True, slots=True)
class Machine:
    """`ways` has the choices of each form of instruction; `integer` is those of all others."""

    name: str
    resources: tuple[Resource, ...]
    ways: Mapping[str, tuple[Choice, ...]]
    integer: tuple[Choice, ...]


def _single_choice(resource: int, latency: int, busy: int = 1) -> tuple[Choice, ...]:
    return (Choice((Use(resource, busy),), latency),)


def _slots(latency: int, *slots: int) -> tuple[Choice, ...]:
    return tuple(Choice((Use(slot),), latency) for slot in slots)


MACHINES: Final = (
    # Four slots of a very long instruction word, each with abilities of its own: two access memory, one of these
    # stores, two multiply.
    Machine(
        "slots",
        tuple(Resource(f"slot{n}") for n in range(4)),
        {
            "fadd": _slots(3, 2, 3),
            "mul": _slots(3, 2, 3),
            "div": (Choice((Use(3, 8),), 12),),
            "load": _slots(2, 0, 1),
            "store": _slots(1, 0),
        },
        _slots(1, 0, 1, 2, 3),
    ),
    # A datapath made for the loop: one pipelined adder and multiplier for floating point, a divider, two ports to
    # memory; integer operations are wires and small adders of their own, chained within a cycle.
    Machine(
        "datapath",
        (Resource("fadd"), Resource("mul"), Resource("div"), Resource("port", 2), Resource("integer", None)),
        {
            "fadd": _single_choice(0, 4),
            "mul": _single_choice(1, 4),
            "div": _single_choice(2, 16, 16),
            "load": _single_choice(3, 2),
            "store": _single_choice(3, 1),
        },
        _single_choice(4, 0),
    ),
)


@dataclass(frozen=True, slots=True)
class _Address:
    """A root, such as an argument, plus a sum of values times factors, plus a constant."""

    root: str
    terms: tuple[tuple[str, int], ...]
    constant: int


def problems() -> Iterator[tuple[str, Problem]]:
    """Every loop on both machines, unrolled so that it has 10 to 120 operations. PL0150 without the extra [c]."""
    for path in sorted((*examples.folder().glob("*.c"), *Path(examples.folder(), "kernels").glob("*.c"))):
        function = if_convert(ssa(str(path), Options(), 1), _LOOSE)
        for block in _loops(function):
            for machine in MACHINES:
                single = _problem(block, machine)
                for times in UNROLLED:
                    if LEAST <= times * len(single.operations) <= MOST:
                        yield f"{path.stem} {block.name} x{times} on {machine.name}", unroll_problem(single, times)


def _loops(function: Function) -> Iterator[Block]:
    for block in function.blocks:
        end = block.terminator
        if (
            isinstance(end, Branch)
            and block.name in (end.then.block, end.orelse.block)
            and not any(i.operation == "call" for i in block.instructions)
        ):
            yield block


def _problem(block: Block, machine: Machine) -> Problem:
    instructions = block.instructions
    operations = [_operation(n, i, machine) for n, i in enumerate(instructions)]
    operations.append(Operation("branch", machine.integer))
    made = {i.result.name: n for n, i in enumerate(instructions) if i.result is not None}
    end = block.terminator
    assert isinstance(end, Branch)
    edge = end.then if end.then.block == block.name else end.orelse
    round_trip = {p.name: a for p, a in zip(block.parameters, edge.arguments, strict=True)}
    dependences: list[Dependence] = []
    for n, operands in enumerate([*(i.operands for i in instructions), (end.condition,)]):
        for operand in operands:
            found = _producer(operand, made, round_trip)
            if found is not None:
                dependences.append(Dependence(found[0], n, found[1]))
    dependences += _memory(instructions, made, round_trip)
    return Problem(tuple(operations), machine.resources, tuple(dict.fromkeys(dependences)))


def _operation(number: int, instruction: Instruction, machine: Machine) -> Operation:
    form = _FORMS.get(instruction.callee or instruction.operation)
    name = instruction.result.name if instruction.result is not None else f"{instruction.operation}.{number}"
    return Operation(name, machine.integer if form is None else machine.ways[form])


def _producer(operand: Operand, made: Mapping[str, int], round_trip: Mapping[str, Operand]) -> tuple[int, int] | None:
    """Which instruction computes it, how many iterations ago; None for what does not change in the loop."""
    distance = 0
    while isinstance(operand, Value) and operand.name in round_trip and distance <= len(round_trip):
        operand, distance = round_trip[operand.name], distance + 1
    return (made[operand.name], distance) if isinstance(operand, Value) and operand.name in made else None


def _memory(
    instructions: tuple[Instruction, ...], made: Mapping[str, int], round_trip: Mapping[str, Operand]
) -> Iterator[Dependence]:
    accesses = [(n, i) for n, i in enumerate(instructions) if i.operation in ("load", "store")]
    address = {n: _address(i.operands[-1], instructions, made) for n, i in accesses}
    steps = {name: step for name in round_trip if (step := _step(name, round_trip, instructions, made)) is not None}
    for a, first in accesses:
        for b, second in accesses:
            if first.operation == second.operation == "load" or a == b:
                continue
            distance = _distance(address[a], address[b], steps, round_trip)
            if distance is None or (distance == 0 and a > b):
                continue
            # A load reads before a store of the same cycle writes; a store is seen from the next cycle on.
            yield Dependence(
                a, b, distance if distance >= 0 else int(a > b), latency=0 if first.operation == "load" else 1
            )


def _distance(
    one: _Address, other: _Address, steps: Mapping[str, int], round_trip: Mapping[str, Operand]
) -> int | None:
    """Dependence distance of two accesses by their affine addresses: None for no dependence, -1 for an unknown distance
    (strong SIV test: Goff, Kennedy and Tseng 1991).
    """
    if one.root != other.root:
        return None
    if one.terms != other.terms or any(name in round_trip and name not in steps for name, _ in one.terms):
        return -1
    # Bytes by which the address advances per iteration.
    stride = sum(factor * steps.get(name, 0) for name, factor in one.terms)
    gap = one.constant - other.constant
    if stride == 0:
        return -1 if gap == 0 else None
    return gap // stride if gap % stride == 0 and gap // stride >= 0 else None


def _step(
    name: str, round_trip: Mapping[str, Operand], instructions: tuple[Instruction, ...], made: Mapping[str, int]
) -> int | None:
    """By how much a parameter grows in an iteration, if that is a constant."""
    after = _linear(round_trip[name], instructions, made)
    return after.constant if after is not None and after.terms == ((name, 1),) else None


def _address(operand: Operand, instructions: tuple[Instruction, ...], made: Mapping[str, int]) -> _Address:
    terms: dict[str, int] = {}
    constant = 0
    while (
        isinstance(operand, Value) and operand.name in made and instructions[made[operand.name]].operation == "offset"
    ):
        base, offset = instructions[made[operand.name]].operands
        part = _linear(offset, instructions, made)
        assert part is not None
        constant += part.constant
        for name, factor in part.terms:
            terms[name] = terms.get(name, 0) + factor
        operand = base
    root = operand.name if isinstance(operand, Value) else str(operand)
    return _Address(root, tuple(sorted((n, f) for n, f in terms.items() if f)), constant)


def _linear(operand: Operand, instructions: tuple[Instruction, ...], made: Mapping[str, int]) -> _Address | None:
    """Affine form of an integer, over values that it does not see through."""
    if isinstance(operand, Constant):
        half = 1 << (8 * SIZE[operand.type] - 1)
        return _Address("", (), (operand.value + half) % (2 * half) - half)
    if not isinstance(operand, Value):
        return None
    own = _Address("", ((operand.name, 1),), 0)
    if operand.name not in made:
        return own
    instruction = instructions[made[operand.name]]
    parts = [_linear(o, instructions, made) for o in instruction.operands]
    if instruction.operation in ("sext", "zext") and parts[0] is not None:
        return parts[0]
    if instruction.operation not in ("add", "sub", "mul", "shl") or parts[0] is None or parts[1] is None:
        return own
    if instruction.operation in ("add", "sub"):
        sign = 1 if instruction.operation == "add" else -1
        terms = dict(parts[0].terms)
        for name, factor in parts[1].terms:
            terms[name] = terms.get(name, 0) + sign * factor
        return _Address(
            "", tuple(sorted((n, f) for n, f in terms.items() if f)), parts[0].constant + sign * parts[1].constant
        )
    if parts[1].terms:
        return own
    factor = parts[1].constant if instruction.operation == "mul" else 1 << parts[1].constant
    return _Address("", tuple((n, f * factor) for n, f in parts[0].terms), parts[0].constant * factor)


def unroll_problem(problem: Problem, times: int) -> Problem:
    """Unrolled loop: copies k of the operations; a dependence of distance d leads from copy k - d, so many iterations
    of the unrolled loop earlier.
    """
    count = len(problem.operations)
    operations = tuple(Operation(f"{o.name}.{k}", o.choices) for k in range(times) for o in problem.operations)
    dependences = tuple(
        Dependence(
            (k - d.distance) % times * count + d.source,
            k * count + d.sink,
            -((k - d.distance) // times),
            d.delay,
            d.latency,
        )
        for k in range(times)
        for d in problem.dependences
    )
    return Problem(operations, problem.resources, dependences)
