# SPDX-License-Identifier: Apache-2.0
"""Static check of a symbolic configuration: will it instantiate, and is what is made of it right?

Rules on the words come first: the limits are the machine's, and every register, port, unit and latency exists there.
Then every candidate is instantiated for a few small sizes and regions, and what comes out is checked like any concrete
configuration (bounded exhaustive testing, as in Jackson and Damon 1996: small scopes show most faults). A limit of the
machine is no fault. A fault that only other sizes show is one of the file too: instantiation then names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from math import prod
from typing import Final

from polyloom.diagnostics import INFEASIBLE, INPUT, Diagnostic, PolyloomError
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import instantiation
from polyloom.targets.tcpa.run.verify import verify_concrete
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.isa import decode_opcode
from polyloom.targets.tcpa.words.limits import extract_limits
from polyloom.targets.tcpa.words.request import check_parameters, check_region, signature
from polyloom.targets.tcpa.words.symbolic import Candidate, Kind, Symbolic

_HELP: Final = "compile the program again; edited words are not supported"
_SIZES: Final = (1, 2, 3, 4, 5, 8, 0, 16, 64, 256)
_REGIONS: Final = ((1, 1), (1, 2), (2, 1), (2, 3))
_TRIED: Final = 4
"""Parameter values of the domain that are tried."""
_STEPS: Final = 1 << 13
"""Steps of all elements beyond which a configuration is made, but not checked."""
_UNWRITTEN: Final = "PL0650"
"""Of few iterations that is no fault: the condition of an output may begin with later ones."""
Finding = tuple[str, str]
Rule = Callable[[Symbolic, Machine], Iterator[Finding]]


def findings(data: bytes, symbolic: Symbolic, machine: Machine) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with `symbolic`. Codes: PL0530, PL0640, PL0651, those of `verify.verify`."""
    found = tuple(Diagnostic(code, message, help=_HELP) for rule in _RULES for code, message in rule(symbolic, machine))
    # What the tables do not show, trials do: every candidate is instantiated at small sizes, and the words are
    # verified.
    return found or next((d for d in _trials(data, symbolic, machine) if d), ())


def _names(symbolic: Symbolic, machine: Machine) -> Iterator[Finding]:
    """Parameters and arrays are given by name."""
    for what, names in (("parameters", symbolic.parameters), ("arrays", tuple(a.name for a in symbolic.arrays))):
        if len(set(names)) < len(names) or any(not name or "=" in name for name in names):
            yield (
                "PL0651",
                f"the names of the {what} are {', '.join(map(repr, names))}, by which they cannot be told apart or "
                "given",
            )


def _limits(symbolic: Symbolic, machine: Machine) -> Iterator[Finding]:
    wanted = extract_limits(machine)
    for name in wanted.__slots__:
        if (own := getattr(symbolic.limits, name)) != (right := getattr(wanted, name)):
            yield "PL0640", f"the file has {name} = {own}, but the machine {machine.name} has {right}"


def _schedules(symbolic: Symbolic, machine: Machine) -> Iterator[Finding]:
    """Schedule rule (the array paper, section 5.2): the unit of each node executes its operation, in the latency that
    the file states.
    """
    for number, schedule in enumerate(symbolic.schedules):
        for v, (unit, latency, node) in enumerate(zip(schedule.unit, schedule.latency, symbolic.nodes, strict=True)):
            cycles = (
                machine.units[unit].latencies.get(decode_opcode(node.opcode)) if unit < len(machine.units) else None
            )
            if cycles is None:
                yield "PL0640", f"schedule {number} has node {v} on a unit that lacks its operation"
            elif cycles != latency:
                yield (
                    "PL0640",
                    f"schedule {number} gives node {v} the latency {latency}, but its unit takes {cycles} cycles",
                )


def _registers(symbolic: Symbolic, machine: Machine) -> Iterator[Finding]:
    """Register rule (the array paper, section 5.3): registers and channels of every candidate exist in the machine."""
    for number, candidate in enumerate(symbolic.candidates):
        for what, index, limit in _named_registers(candidate, machine):
            if limit is not None and index >= limit:
                yield "PL0640", f"candidate {number} names {what}{index}, but the machine has {limit}"


def _named_registers(candidate: Candidate, machine: Machine) -> Iterator[tuple[str, int, int | None]]:
    """Every register and channel of a candidate, and how many there are."""
    banks = {
        Kind.GENERAL: ("rd", _operand_limit(machine.general_registers)),
        Kind.FEEDBACK: ("fd", _operand_limit(machine.feedback_registers)),
    }
    for link in (link for links in candidate.links for link in links if link.kind in banks):
        name, limit = banks[link.kind]
        yield name, link.register, limit
    inputs, outputs = ("id", _operand_limit(machine.input_registers)), ("od", _operand_limit(machine.output_registers))
    for (name, limit), registers in ((inputs, candidate.input_registers), (outputs, candidate.output_registers)):
        yield from ((name, r, limit) for r in registers)
    for route in candidate.routes:
        yield outputs[0], route.output, outputs[1]
        yield inputs[0], route.input, inputs[1]
        yield from (("channel ", hop.index, machine.channels) for hop in route.hops)


def _operand_limit(limit: int | None) -> int:
    """What an operand's six bits leave of a capacity."""
    return 64 if limit is None else min(limit, 64)


def _trials(data: bytes, symbolic: Symbolic, machine: Machine) -> Iterator[tuple[Diagnostic, ...]]:
    # Small sizes hit borders, partial tiles and empty conditions, where mistakes show.
    values = list(islice(_values(symbolic), _TRIED))
    for number, given, region in product(range(len(symbolic.candidates)), values, _REGIONS):
        yield tuple(
            replace(d, notes=(*d.notes, _trial_note(symbolic, number, given, region)))
            for d in _trial(data, symbolic, machine, number, given, region)
        )


def _values(symbolic: Symbolic) -> Iterator[tuple[int, ...]]:
    """Small values in the parameters' domain: equal ones, then ascending and descending ones."""
    count, asked = len(symbolic.parameters), signature(symbolic)
    for step, size in product((0, 1, -1) if count > 1 else (0,), _SIZES):
        # Parameters that differ show mistakes in which one stands for another.
        values = [size + step * (n if step >= 0 else n - count + 1) for n in range(count)]
        try:
            yield check_parameters(asked, dict(zip(symbolic.parameters, values, strict=True)))
        except PolyloomError:
            continue


def _trial(
    data: bytes, symbolic: Symbolic, machine: Machine, number: int, values: tuple[int, ...], region: tuple[int, int]
) -> tuple[Diagnostic, ...]:
    try:
        check_region(symbolic, *region)
    except PolyloomError:
        return ()
    try:
        made = instantiation.instantiate(data, symbolic, values, *region, candidate=number)
        concrete = concrete_file.decode(made)
    except PolyloomError as error:
        return (
            ()
            # A machine that is too small for these values is no fault of the file.
            if error.exit_code == INFEASIBLE
            else tuple(replace(d, exit_code=INPUT, help=_HELP) for d in error.diagnostics)
        )
    # The static run takes time in proportion to elements and steps; large ones would make the check slow.
    steps = (
        concrete.rows
        * concrete.columns
        * concrete.initiation_interval
        * max(prod(concrete.extents), concrete.controller.steps)
    )
    return tuple(d for d in verify_concrete.verify(made, machine) if d.code != _UNWRITTEN) if steps <= _STEPS else ()


def _trial_note(symbolic: Symbolic, number: int, values: tuple[int, ...], region: tuple[int, int]) -> str:
    given = "".join(f" {name} = {value}," for name, value in zip(symbolic.parameters, values, strict=True))
    return f"tried with{given} on {region[0]}x{region[1]} elements, candidate {number}"


_RULES: Final[tuple[Rule, ...]] = (_names, _limits, _schedules, _registers)
