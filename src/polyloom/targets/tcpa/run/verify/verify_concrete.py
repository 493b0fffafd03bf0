# SPDX-License-Identifier: Apache-2.0
"""Static check of a concrete configuration (docs/targets/tcpa.md, Faults and the static check): is every word the one
that instantiation would write?

Rules on the words come first: capacities of the machine, references, canonical sets and layouts. Then the native model
runs without data (values are element types), which checks the timing contract and finds what no rule on words can: the
exact FIFO depths and generator delays, dead instructions, branch codes, signals and connections. A configuration is
right when every rule is silent; what depends on data (constants, operations, addresses) is for the comparison of
outputs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Final, TypeVar

import numpy as np

from polyloom._native import tcpa
from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.ir.numbers import WIDTH, type_limits
from polyloom.ir.operations import ElementType
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import model, scan_sets
from polyloom.targets.tcpa.run.bank_accesses import count_bank_words
from polyloom.targets.tcpa.run.verify import bank_ports, generator_kinds
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import ArrayLayout, Concrete, ConvexSet, Domain, ElementProgram, Generator
from polyloom.targets.tcpa.words.generator_table import decode_outline
from polyloom.targets.tcpa.words.isa import (
    OPCODE_NOP,
    UNUSED,
    File,
    Goto,
    If,
    Immediate,
    Instruction,
    Next,
    Register,
    decode_opcode,
    source_type,
)
from polyloom.targets.tcpa.words.sides import LOCATIONS, parse_port

_HELP: Final = "instantiate the configuration again; edited words are not supported"
T = TypeVar("T")
Finding = tuple[str, str]
"""A diagnostic code and what is wrong."""
Rule = Callable[[Concrete, Machine], Iterator[Finding]]


def verify(data: bytes, machine: Machine) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a concrete configuration for `machine`; nothing when it is right.

    What is alike is looked at once; only where that finds something, `findings_by_element` does, to say where.
    Codes: PL0603, PL0610 to PL0627 (faults), PL0640 to PL0650, PL0701 to PL0705.
    """
    try:
        found = _findings_by_kinds(data, machine)
    except PolyloomError as error:
        return error.diagnostics
    return findings_by_element(data, machine) if found is None else _diagnostics(found)


def findings_by_element(data: bytes, machine: Machine) -> tuple[Diagnostic, ...]:
    """`verify` as it is defined, from a look at every generator and a run of every element."""
    try:
        concrete = concrete_file.decode(data)
        config = model.load(data, machine)
        found = [*_findings_on_words(concrete, machine), *_misplaced_generators(concrete, machine)]
        if not found:
            (result,) = model.execute([(config, 0, 0, [])], machine, check_only=True)
            found = [f for rule in _ON_RUN for f in rule(concrete, result)]
    except PolyloomError as error:
        return error.diagnostics
    return _diagnostics(found)


def _findings_by_kinds(data: bytes, machine: Machine) -> list[Finding] | None:
    """Findings that name no place; None where there are others."""
    read = decode_outline(data)
    config = model.load(data, machine)
    # One generator of each kind: a large array has many generators, and few kinds of them.
    some = read.with_generators(generator_kinds.representatives(read))
    if any(True for _ in _findings_on_words(some, machine)) or not generator_kinds.has_correct_banks(
        read, _adjacency(machine)
    ):
        return None
    result = model.execute_kinds(config, machine)
    return None if result is None else [f for rule in _ON_RUN for f in rule(some, result)]


def _findings_on_words(c: Concrete, machine: Machine) -> Iterator[Finding]:
    """Of generators these rules look at one at a time, and not at all fields: `generator_kinds.representatives`."""
    return (f for rule in (_ON_WORDS if all(c.extents) else _ON_NOTHING) for f in rule(c, machine))


def _diagnostics(found: Iterable[Finding]) -> tuple[Diagnostic, ...]:
    return tuple(Diagnostic(code, message, help=_HELP) for code, message in found)


def _empty(c: Concrete, machine: Machine) -> Iterator[Finding]:
    """A tile without iterations: nothing may be configured (an empty iteration space)."""
    k = c.controller
    if (
        c.initiation_interval != 1
        or any(c.extents)
        or c.classes
        or c.generators
        or any(c.wrappers)
        or k.signals
        or any((k.south, k.east, k.start, k.row_delay, k.column_delay, k.steps))
    ):
        yield "PL0641", "the tile has no iteration, but something is configured"


# Words against the machine's capacities (PL0640).


def _exceeds_limit(what: str, value: int, limit: int | None) -> Iterator[Finding]:
    if limit is not None and value > limit:
        yield "PL0640", f"{what}: {value}, but the machine has {limit}"


def _region(c: Concrete, machine: Machine) -> Iterator[Finding]:
    yield from _exceeds_limit("rows", c.rows, machine.rows)
    yield from _exceeds_limit("columns", c.columns, machine.columns)


def _capacities(c: Concrete, machine: Machine) -> Iterator[Finding]:
    for number, element in enumerate(c.classes):
        if len(element.programs) != len(machine.units):
            yield (
                "PL0641",
                f"class {number} has programs for {len(element.programs)} functional units, the machine has "
                f"{len(machine.units)}",
            )
        for depth in (*element.feedback_depths, *element.input_depths):
            yield from _exceeds_limit(f"depth of a FIFO of class {number}", depth, machine.fifo_depth)
        for where, program in _programs(element, number):
            yield from _exceeds_limit(f"instructions of {where}", len(program), machine.instruction_words)
            for instruction in program:
                yield from _instruction_capacities(where, instruction, machine)


def _instruction_capacities(where: str, instruction: Instruction, machine: Machine) -> Iterator[Finding]:
    yield from _exceeds_limit(
        f"destinations of an instruction of {where}", len(instruction.destinations), machine.destinations
    )
    if isinstance(instruction.branch, If):
        yield from _exceeds_limit(
            f"signals of a branch of {where}", len(instruction.branch.signals), machine.branch_flags
        )
    outputs = (machine.general_registers, machine.feedback_registers, machine.output_registers)
    # rd and fd are both read and written; the third file is od as a destination and id as a source.
    inputs = (*outputs[:2], machine.input_registers)
    for registers, limits in ((instruction.destinations, outputs), (instruction.sources, inputs)):
        for r in registers:
            if isinstance(r, Register):
                yield from _exceeds_limit(f"registers that {where} names", r.index + 1, limits[r.file])


def _periphery_capacities(c: Concrete, machine: Machine) -> Iterator[Finding]:
    """Capacities of global controller and address generators (the array paper, section 3.3; sections 6.2 and 6.4)."""
    controller, last = c.controller, scan_sets.mixed_radix_digits(max(0, c.controller.steps - 1), c.extents)
    # The outermost counter goes on through the epilogue, beyond the tile's last iteration.
    counted = (*last, *(p - 1 for p in c.extents), controller.row_delay, controller.column_delay, controller.start)
    yield from _exceeds_limit(
        "greatest value of an iteration counter or delay", max(counted), (1 << machine.counter_bits) - 1
    )
    yield from _exceeds_limit("control signals", len(controller.signals), machine.control_signals)
    for domain in (*controller.signals, *(g.domain for g in c.generators)):
        yield from _exceeds_limit("convex sets of a domain", len(domain), machine.signal_sets)
        if not machine.half_spaces and any(s.half_spaces for s in domain):
            yield "PL0640", "a domain has half-spaces, but the machine has boxes only"
    for g in c.generators:
        yield from _exceeds_limit(f"channel of {_name(g)}", g.channel + 1, machine.channels)
        yield from _exceeds_limit(f"delay of {_name(g)}", g.delay, (1 << machine.delay_bits) - 1)
        yield from _exceeds_limit(
            f"dimensions of {_name(g)}", sum(1 for a in g.coefficients if a), machine.generator_dimensions
        )


def _wires(c: Concrete, machine: Machine) -> Iterator[Finding]:
    """Adjacency rule (the array paper, section 3.1): wrappers and bank routes connect adjacent ports that exist."""
    allowed = None if machine.adjacency is None else set(machine.adjacency)
    for number, wrapper in enumerate(c.wrappers):
        for k in wrapper:
            for port, registers in ((k.sink, machine.input_registers), (k.source, machine.output_registers)):
                yield from _exceeds_limit(
                    f"ports named in wrapper {number}", port[1] + 1, machine.channels if port[0] else registers
                )
            if allowed is not None and (_port(k.source), _port(k.sink)) not in allowed:
                yield (
                    "PL0642",
                    f"wrapper {number} connects {_port(k.source)} to {_port(k.sink)}, which are not adjacent",
                )
    for g in c.generators:
        is_output = c.arrays[g.array].is_output
        yield from _exceeds_limit(
            f"register of {_name(g)}",
            g.register + 1,
            machine.output_registers if is_output else machine.input_registers,
        )
        for source, sink in bank_ports.generator_route(g, is_output):
            if allowed is not None and (_port(source), _port(sink)) not in allowed:
                yield (
                    "PL0642",
                    f"the route of {_name(g)} connects {_port(source)} to {_port(sink)}, which are not adjacent",
                )


def _misplaced_generators(c: Concrete, machine: Machine) -> Iterator[Finding]:
    for g, place in bank_ports.misplaced_banks(c, _adjacency(machine)) if all(c.extents) else ():
        yield "PL0642", f"{_name(g)} stands elsewhere than its port, {place}"


def _adjacency(machine: Machine) -> frozenset[tuple[bank_ports.Port, bank_ports.Port]] | None:
    """The allowed (source, sink) pairs."""
    if machine.adjacency is None:
        return None
    return frozenset((parse_port(a), parse_port(b)) for a, b in machine.adjacency)


# Words against each other; `model.load` has refused references outside the tables (PL0641, PL0643, PL0644, PL0646).


def _references(c: Concrete, machine: Machine) -> Iterator[Finding]:
    """Reference rule: branches, registers and constants of instructions name what exists, in their canonical form."""
    for number, element in enumerate(c.classes):
        for where, program in _programs(element, number):
            for at, instruction in enumerate(program):
                for fault in _instruction_faults(c, element, program, at, instruction):
                    yield "PL0641", f"instruction {at} of {where} {fault}"


def _instruction_faults(
    c: Concrete, element: ElementProgram, program: Sequence[Instruction], at: int, instruction: Instruction
) -> Iterator[str]:
    branch = instruction.branch
    targets = branch.targets if isinstance(branch, If) else (branch.target,) if isinstance(branch, Goto) else ()
    if any(t >= len(program) for t in targets):
        yield "branches outside its program"
    if any(t % c.initiation_interval for t in targets):
        # A kernel class is entered at slot 0: its pi instructions are atomic (section 6.3).
        yield "branches into the middle of a kernel class"
    if not isinstance(branch, Next) and (at + 1) % c.initiation_interval:
        yield "branches before the end of its kernel class"
    if isinstance(branch, Goto) and branch.target == at + 1:
        yield "goes to its successor with a goto instead of next"
    if len(set(instruction.destinations)) < len(instruction.destinations):
        yield "names a destination twice"
    for register in (*instruction.destinations, *instruction.sources):
        if isinstance(register, Immediate):
            if not instruction.destinations and register != UNUSED:
                yield f"writes nothing, so that its constant must be {UNUSED.bits}"
            if not _fits(register, instruction):
                yield "has a constant outside its type, or a shift amount that is not below the width"
        elif register.file is File.FD and not _depth(element.feedback_depths, register.index):
            yield f"names fd{register.index}, which has no depth"
    for register in instruction.sources:
        if (
            isinstance(register, Register)
            and register.file is File.IO
            and not _depth(element.input_depths, register.index)
        ):
            yield f"reads id{register.index}, which has no depth"


def _fits(constant: Immediate, instruction: Instruction) -> bool:
    """Whether a constant is extended from its type, wherever the instruction has it.

    Shift amounts count modulo the width, so that only one of the equivalent ones is allowed (also where a value is
    shifted that is itself a constant in that range)."""
    operation, dtype = decode_opcode(instruction.opcode)
    if operation in ("shl", "shr") and instruction.sources[1] == constant:
        return constant.bits < WIDTH[dtype]
    places = (k for k, source in enumerate(instruction.sources) if source == constant)
    return all(_is_element(constant.bits, source_type(instruction.opcode, k)) for k in places)


def _is_element(bits: int, dtype: ElementType) -> bool:
    bounds = type_limits(dtype)
    if bounds is None:
        return True
    least, most = bounds
    return least <= (bits - (bits >> 31 << 32) if least < 0 else bits) <= most


def _depth(depths: Sequence[int], index: int) -> int:
    return depths[index] if index < len(depths) else 0


def _classes(c: Concrete, machine: Machine) -> Iterator[Finding]:
    """Processor class rule (the array paper, section 6.1): each class is used by an element, has operations, and
    differs from every other.
    """
    used = {number for row in c.element_class for number in row}
    if not c.classes:
        yield "PL0646", "the tile has iterations, but no element has a program"
    for number in range(len(c.classes)):
        if number not in used:
            yield "PL0646", f"no element is of class {number}"
        # A unit that never operates has an empty program, which is the one form of it.
        if any(p and all(i.opcode == OPCODE_NOP for i in p) for p in c.classes[number].programs):
            yield "PL0646", f"class {number} has a program without an operation"
    for element, count in _repeated_programs(c.classes):
        yield "PL0646", f"{count} classes equal class {c.classes.index(element)}"
    wired = {number for row in c.wrapper for number in row}
    for number in range(len(c.wrappers)):
        if number not in wired:
            yield "PL0646", f"no element has wrapper {number}"
    for wrapper, count in _repeated_programs(c.wrappers):
        yield "PL0646", f"{count} wrappers equal wrapper {c.wrappers.index(wrapper)}"


def _unread_signals(c: Concrete, machine: Machine) -> Iterator[Finding]:
    branches = [i.branch for e in c.classes for p in e.programs for i in p]
    read = {s for b in branches if isinstance(b, If) for s in b.signals}
    for signal in range(len(c.controller.signals)):
        if signal not in read:
            yield "PL0646", f"no branch reads control signal {signal}"


def _controller(c: Concrete, machine: Machine) -> Iterator[Finding]:
    """Global controller rule: a delay that no start token waits for, and a corner without a delay, are 0 (the array
    paper, section 3.3).
    """
    k, busy = c.controller, np.array(c.element_class) >= 0
    rows, columns = np.flatnonzero(busy.any(axis=1)), np.flatnonzero(busy.any(axis=0))
    away_rows = c.rows - 1 - rows if k.south else rows
    away_columns = c.columns - 1 - columns if k.east else columns
    for name, delay, flag, away in (
        ("row", k.row_delay, k.south, away_rows),
        ("column", k.column_delay, k.east, away_columns),
    ):
        if delay and not away.any():
            yield "PL0648", f"the controller's {name} delay is {delay}, but no start token waits for it"
        if flag and not delay:
            yield "PL0648", f"the controller's {name} delay is 0, so that its corner must be north and west"


def _domains(c: Concrete, machine: Machine) -> Iterator[Finding]:
    """One-domains of control signals and enable domains of generators (the array paper, sections 6.2 and 6.4) are
    canonical, within the scan, and 0 after its last step.
    """
    last = scan_sets.mixed_radix_digits(max(0, c.controller.steps - 1), c.extents)
    top = (*(p - 1 for p in c.extents[:-1]), last[-1])
    for number, domain in enumerate(c.controller.signals):
        late = list(scan_sets.list_successors(last, (0,) * len(last), top))
        yield from _domain(f"the one-domain of control signal {number}", domain, top)
        if scan_sets.intersects(domain, late):
            yield "PL0643", f"control signal {number} is 1 after the controller's last step"
    whole = tuple(p - 1 for p in c.extents)
    # Most generators share few domains: each one is judged once, then named for every generator that has it.
    faulty = {d for d in {g.domain for g in c.generators} if any(_domain("", d, whole))}
    for g in c.generators if faulty else ():
        if g.domain in faulty:
            yield from _domain(f"the enable domain of {_name(g)}", g.domain, whole)


def _domain(owner: str, domain: Domain, top: Sequence[int]) -> Iterator[Finding]:
    if not domain:
        yield "PL0643", f"{owner} is empty"
    for s in domain:
        if any(a > b for a, b in zip(s.lower, s.upper, strict=True)) or any(
            b > t for b, t in zip(s.upper, top, strict=True)
        ):
            yield "PL0643", f"{owner} has an empty box or one that leaves the scan"
        elif not _normal(s):
            yield (
                "PL0643",
                f"{owner} has a box that is not tight, or a half-space that is not in lowest terms or is implied",
            )
    if list(domain) != sorted(domain, key=scan_sets.scan_order):
        yield "PL0643", f"{owner} lists its sets out of order"
    if any(scan_sets.intersects((a,), (b,)) for a, b in combinations(domain, 2)):
        yield "PL0643", f"{owner} has sets that overlap"


def _normal(s: ConvexSet) -> bool:
    return (
        all(sum(1 for a in h.coefficients if a) > 1 for h in s.half_spaces)
        and scan_sets.convex_set(s.lower, s.upper, s.half_spaces) == s
    )


def _arrays(c: Concrete, machine: Machine) -> Iterator[Finding]:
    for name, _ in _repeated_programs(a.name for a in c.arrays):
        yield "PL0644", f"two arrays are called {name}"
    for a in c.arrays:
        if a.place is None and a.strides != tuple(prod(a.shape[i + 1 :]) for i in range(len(a.shape))):
            yield "PL0644", f"the strides of {a.name} are not row-major"
        if a.place is not None and not _has_distinct_words(a):
            yield "PL0644", f"elements of {a.name} share a word"
    for a, b in combinations([(a, a.place) for a in c.arrays if a.place], 2):
        if a[1].bank == b[1].bank and a[1].base < b[1].base + _words(b[0]) and b[1].base < a[1].base + _words(a[0]):
            yield "PL0644", f"{a[0].name} and {b[0].name} share words of bank {a[1].bank}"


def _has_distinct_words(array: ArrayLayout) -> bool:
    """Injectivity of a layout: whether, in some order, each dimension's stride passes all words of the inner ones, or
    the array is empty.
    """
    if 0 in array.shape:
        return True
    reach = 1
    # Sorted by stride: if the condition holds in any order of the dimensions, it holds in this one.
    for stride, extent in sorted((s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride < reach:
            return False
        reach += stride * (extent - 1)
    return True


def _words(array: ArrayLayout) -> int:
    """From the first element's word to the last one's."""
    return 0 if 0 in array.shape else 1 + sum(s * (n - 1) for s, n in zip(array.strides, array.shape, strict=True))


def _generators(c: Concrete, machine: Machine) -> Iterator[Finding]:
    """Address generator rule (the array paper, section 6.4): capacities, and no coefficient without an effect. That
    addresses lie in their array is found by the static run.
    """
    for g in c.generators:
        # What is touched is enumerated only where the range of addresses is too long.
        if machine.bank_words is not None and _span(g) > machine.bank_words:
            words = count_bank_words(g, c.arrays[g.array])
            yield from _exceeds_limit(f"words that {_name(g)} covers", words, machine.bank_words)
        for m, a in enumerate(g.coefficients):
            if a and len({x for s in g.domain for x in (s.lower[m], s.upper[m])}) == 1:
                yield (
                    "PL0644",
                    f"{_name(g)} has a coefficient for digit {m}, which has one value: it belongs to the base",
                )


def _span(g: Generator) -> int:
    """Words from the lowest to the highest address of the domain's boxes."""
    ends = [
        [sorted((a * x, a * y)) for a, x, y in zip(g.coefficients, s.lower, s.upper, strict=True)] for s in g.domain
    ]
    return max(sum(e[1] for e in s) for s in ends) - min(sum(e[0] for e in s) for s in ends) + 1 if ends else 0


def _unwritten_outputs(c: Concrete, machine: Machine) -> Iterator[Finding]:
    written = {g.array for g in c.generators if g.domain}
    for number, array in enumerate(c.arrays):
        if array.is_output and number not in written and _words(array):
            yield "PL0650", f"nothing is written to the output {array.name}, although there are iterations"


# What the static run saw (PL0645 to PL0649).


def _steps(c: Concrete, result: tcpa.Result) -> Iterator[Finding]:
    report, tile = result.report, prod(c.extents)
    if report.steps != c.controller.steps:
        yield "PL0648", f"the controller makes {c.controller.steps} steps, the elements need {report.steps}"
    if report.shortest >= 0 and report.shortest < tile:
        yield "PL0648", f"a unit halts after {report.shortest} steps, before the tile's {tile} iterations have passed"


def _occupancy(c: Concrete, result: tcpa.Result) -> Iterator[Finding]:
    """FIFO depth rule: a depth is the most tokens that the register holds (the array paper, section 6, step 1, gives
    the bound).
    """
    for number, element in enumerate(c.classes):
        for kind, depths, high in (
            ("fd", element.feedback_depths, result.feedback_high[number]),
            ("id", element.input_depths, result.input_high[number]),
        ):
            if len(depths) and not depths[-1]:
                yield "PL0645", f"class {number} lists {kind}s beyond the last one in use"
            for n, needed in enumerate(high):
                if needed != _depth(depths, n):
                    yield (
                        "PL0645",
                        f"{kind}{n} of class {number} has depth {_depth(depths, n)} and holds at most {needed}",
                    )


def _delayed_generators(c: Concrete, result: tcpa.Result) -> Iterator[Finding]:
    for element, register, cycles in result.report.late:
        yield (
            "PL0647",
            f"element {_place(c, element)} reads id{register} {cycles} cycles after its address generator delivered",
        )


def _unread_tokens(c: Concrete, result: tcpa.Result) -> Iterator[Finding]:
    for element, register, _ in result.report.unread:
        yield "PL0647", f"element {_place(c, element)} writes rd{register} and does not read it"


def _idle_programs(c: Concrete, result: tcpa.Result) -> Iterator[Finding]:
    for element, source, sink in result.report.idle:
        yield (
            "PL0642",
            f"no token passes from {_port((source % 8, source // 8))} to {_port((sink % 8, sink // 8))} in element "
            f"{_place(c, element)}",
        )


def _wasted_words(c: Concrete, result: tcpa.Result) -> Iterator[Finding]:
    for _, signal, step in result.report.wasted:
        yield "PL0649", f"control signal {signal} is 1 in step {step}, where no branch reads it"


def _covered_steps(c: Concrete, result: tcpa.Result) -> Iterator[Finding]:
    for number, (element, units) in enumerate(zip(c.classes, result.report.coverage, strict=True)):
        for (where, program), seen in zip(_programs(element, number), units, strict=True):
            for at, (instruction, (executed, driven, codes, lowest)) in enumerate(zip(program, seen, strict=True)):
                if not executed:
                    yield "PL0646", f"no element executes instruction {at} of {where}"
                    continue
                for register, drives in zip(instruction.destinations, driven, strict=True):
                    if not drives:
                        yield (
                            "PL0647",
                            f"od{register.index}, which instruction {at} of {where} writes, leads nowhere in every "
                            "element",
                        )
                if isinstance(instruction.branch, If):
                    for fault in _branch_faults(instruction.branch, codes, lowest):
                        yield "PL0649", f"the branch of instruction {at} of {where} {fault}"


def _branch_faults(branch: If, codes: Sequence[bool], lowest: Sequence[int]) -> Iterator[str]:
    """Branch rule (the array paper, section 6.3): every target and signal of a branch decides something in some
    element.
    """
    met = [code for code, seen in enumerate(codes) if seen]
    if any(branch.targets[code] != branch.targets[met[0]] for code, seen in enumerate(codes) if not seen):
        yield "has a target of its own for a code that never occurs"
    if len({branch.targets[code] for code in met}) < 2:
        yield "always takes one target"
    for position, signal in enumerate(branch.signals):
        if len({code >> position & 1 for code in met}) < 2:
            yield f"reads control signal {signal}, which never changes there"
        # Among signals that would do here, instantiation takes the lowest, so that a changed word shows.
        elif lowest[position] != signal:
            yield f"reads control signal {signal}, where signal {lowest[position]} would do"


def _programs(element: ElementProgram, number: int) -> Iterator[tuple[str, tuple[Instruction, ...]]]:
    return ((f"unit {u} of class {number}", program) for u, program in enumerate(element.programs))


def _repeated_programs(values: Iterable[T]) -> list[tuple[T, int]]:
    return [(value, count) for value, count in Counter(values).items() if count > 1]


def _port(port: tuple[int, int]) -> str:
    return f"{LOCATIONS[port[0]]}{port[1]}"


def _name(g: Generator) -> str:
    return f"the generator at {g.side} {g.position}, channel {g.channel},"


def _place(c: Concrete, element: int) -> str:
    return f"({element // c.columns}, {element % c.columns})"


_ON_WORDS: Final[tuple[Rule, ...]] = (
    _region,
    _capacities,
    _periphery_capacities,
    _wires,
    _references,
    _classes,
    _unread_signals,
    _controller,
    _domains,
    _arrays,
    _generators,
    _unwritten_outputs,
)
_ON_NOTHING: Final[tuple[Rule, ...]] = (_region, _empty, _arrays)
_ON_RUN: Final[tuple[Callable[[Concrete, tcpa.Result], Iterator[Finding]], ...]] = (
    _steps,
    _occupancy,
    _delayed_generators,
    _unread_tokens,
    _idle_programs,
    _wasted_words,
    _covered_steps,
)
