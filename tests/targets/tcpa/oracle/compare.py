# SPDX-License-Identifier: Apache-2.0
"""Instantiation equals brute force: what a configuration's words do against what the definitions demand.

`differences` lists, in words, every disagreement between the enumeration (`brute`) and the words (`walk`): operations
issued, registers, FIFO depths, addresses, delays and the number of processor classes. The one freedom is a write
through an output port that drives nothing, which may be wider than its guard (section 6.1 of the paper counts its
classes so).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import prod

from tests.targets.tcpa.oracle.brute import Brute, Element, Token, Transfer, placement_of
from tests.targets.tcpa.oracle.walk import Issue, digits_of, in_domain, issues, start_cycle
from tests.targets.tcpa.oracle.wires import connections

from polyloom.targets.tcpa.words.concrete import Concrete, Generator
from polyloom.targets.tcpa.words.isa import UNUSED, File, Immediate, Register, Source
from polyloom.targets.tcpa.words.symbolic import Symbolic

PE, NORTH, EAST, SOUTH, WEST = range(5)
LOCATION = {"north": NORTH, "east": EAST, "south": SOUTH, "west": WEST}
STEP = {NORTH: (-1, 0), EAST: (0, 1), SOUTH: (1, 0), WEST: (0, -1)}
OPPOSITE = {NORTH: SOUTH, SOUTH: NORTH, EAST: WEST, WEST: EAST}
Port = tuple[int, int]


def differences(symbolic: Symbolic, parameters: Mapping[str, int], candidate: int, concrete: Concrete) -> list[str]:
    """Everything in which `concrete`, made from `candidate`, is not what the definitions demand."""
    if not any(concrete.extents):
        brute = Brute(symbolic, parameters, placement_of(symbolic, candidate, concrete))
        return (
            ["an iteration space that is not empty has no configuration"]
            if any(True for _ in brute.instances())
            else []
        )
    brute = Brute(symbolic, parameters, placement_of(symbolic, candidate, concrete))
    return [
        *_operations(brute, concrete),
        *_fifos(brute, concrete),
        *_transfers(brute, concrete),
        *_classes(brute, concrete),
    ]


def _operations(brute: Brute, concrete: Concrete) -> Iterator[str]:
    issued = {(i.row, i.column, i.unit, i.cycle): i for i in issues(concrete)}
    for wanted in brute.operations():
        key = (*wanted.element, brute.schedule.unit[wanted.node], wanted.cycle)
        found = issued.pop(key, None)
        opcode = brute.symbolic.nodes[wanted.node].opcode
        if found is None or (found.opcode, found.sources) != (opcode, _written(wanted.sources, found)):
            yield f"{key}: {wanted} is demanded, {found} issues"
        elif not _widened(concrete, found, wanted.destinations):
            yield f"{key}: {wanted} is demanded, {found.destinations} are written"
    for key, found in issued.items():
        yield f"{key}: {found} issues, nothing is demanded"


def _written(sources: tuple[Source, ...], found: Issue) -> tuple[Source, ...]:
    """The sources as words: the constants of an instruction that writes nothing are alike."""
    return tuple(UNUSED if isinstance(s, Immediate) and not found.destinations else s for s in sources)


def _widened(concrete: Concrete, found: Issue, wanted: tuple[Register, ...]) -> bool:
    """Whether all wanted destinations are written, and no others except through ports that drive nothing."""
    driving = {source for _, source in _connections(concrete, (found.row, found.column))}
    extra = set(found.destinations) - set(wanted)
    return set(wanted) <= set(found.destinations) and all(
        r.file is File.IO and (PE, r.index) not in driving for r in extra
    )


def _connections(concrete: Concrete, element: Element) -> list[tuple[Port, Port]]:
    return connections(concrete)[element]


def _fifos(brute: Brute, concrete: Concrete) -> Iterator[str]:
    """Tokens leave in the order in which they came, and the depth of a class is the most that one of its FIFOs
    holds."""
    queues: dict[tuple[Element, Register], list[Token]] = defaultdict(list)
    for token in brute.tokens():
        queues[token.element, token.register].append(token)
    deepest: dict[tuple[int, Register], int] = defaultdict(int)
    for (element, register), tokens in queues.items():
        tokens.sort(key=lambda t: t.ready)
        if any(a.ready == b.ready or a.pop >= b.pop for a, b in pairwise(tokens)):
            yield f"{element}: the tokens of {register} are not popped in the order of their arrival"
        if any(t.pop < t.ready for t in tokens):
            yield f"{element}: a token of {register} is popped before it is ready"
        key = (concrete.element_class[element[0]][element[1]], register)
        deepest[key] = max(deepest[key], _occupancy(tokens))
    for number, element_class in enumerate(concrete.classes):
        for file, depths in ((File.FD, element_class.feedback_depths), (File.IO, element_class.input_depths)):
            for index, depth in enumerate(depths):
                wanted = deepest.pop((number, Register(file, index)), 0)
                if depth != wanted:
                    yield f"class {number}: {file.name}{index} has depth {depth}, it holds {wanted} tokens"
    for (number, register), wanted in deepest.items():
        yield f"class {number}: {register} has no depth, it holds {wanted} tokens"


def _occupancy(tokens: list[Token]) -> int:
    """The most tokens in one cycle: it is reached when one arrives."""
    return max(sum(t.ready <= arrival.ready <= t.pop for t in tokens) for arrival in tokens)


def _transfers(brute: Brute, concrete: Concrete) -> Iterator[str]:
    reads, writes = set[Transfer](), set[Transfer]()
    for generator in concrete.generators:
        is_output = concrete.arrays[generator.array].is_output
        (writes if is_output else reads).update(_accesses(brute, concrete, generator, is_output))
    for what, found, wanted in (("read", reads, list(brute.reads())), ("written", writes, list(brute.writes()))):
        if len(set(wanted)) < len(wanted):
            yield f"an element of an array is {what} twice through one port in one cycle"
        yield from (f"{t} is not {what}" for t in sorted(set(wanted) - found))
        yield from (f"{t} is {what}, nothing demands it" for t in sorted(found - set(wanted)))


def _accesses(brute: Brute, concrete: Concrete, generator: Generator, is_output: bool) -> Iterator[Transfer]:
    side = LOCATION[generator.side]
    row = {NORTH: 0, SOUTH: concrete.rows - 1}.get(side, generator.position)
    column = {WEST: 0, EAST: concrete.columns - 1}.get(side, generator.position)
    ends = (
        [_source(concrete, (row, column), (side, generator.channel))]
        if is_output
        else _sinks(concrete, (row, column), (side, generator.channel))
    )
    layout = concrete.arrays[generator.array]
    for step in range(prod(concrete.extents)):
        digits = digits_of(step, concrete.extents)
        if in_domain(digits, generator.domain):
            word = generator.base + sum(a * x for a, x in zip(generator.coefficients, digits, strict=True))
            for element, register, hops in ends:
                delay = hops * brute.symbolic.limits.hop_delay
                cycle = generator.delay + step * concrete.initiation_interval + (-delay if is_output else delay)
                yield Transfer(element, register, cycle, generator.array, _index(word, layout.strides))


def _index(word: int, strides: tuple[int, ...]) -> tuple[int, ...]:
    """The index of a word of a row-major array."""
    index: list[int] = []
    for stride in strides:
        digit, word = divmod(word, stride)
        index.append(digit)
    return tuple(index)


def _sinks(concrete: Concrete, element: Element, source: Port) -> list[tuple[Element, int, int]]:
    """(element, id, links) of all input registers that `source` of the wrapper of `element` drives."""
    found: list[tuple[Element, int, int]] = []
    for (location, index), driver in _connections(concrete, element):
        if driver == source and location == PE:
            found.append((element, index, 0))
        elif driver == source:
            beside = _beside(concrete, element, location)
            found += [
                (e, i, hops + 1)
                for e, i, hops in (_sinks(concrete, beside, (OPPOSITE[location], index)) if beside else [])
            ]
    return found


def _source(concrete: Concrete, element: Element, sink: Port) -> tuple[Element, int, int]:
    """(element, od, links) of the output register that drives `sink` of the wrapper of `element`."""
    ((location, index),) = (source for driven, source in _connections(concrete, element) if driven == sink)
    if location == PE:
        return element, index, 0
    beside = _beside(concrete, element, location)
    assert beside is not None, "an output bank is driven from a bank"
    found, register, hops = _source(concrete, beside, (OPPOSITE[location], index))
    return found, register, hops + 1


def _beside(concrete: Concrete, element: Element, location: int) -> Element | None:
    row, column = element[0] + STEP[location][0], element[1] + STEP[location][1]
    return (row, column) if 0 <= row < concrete.rows and 0 <= column < concrete.columns else None


def _classes(brute: Brute, concrete: Concrete) -> Iterator[str]:
    """Elements that must do the same form at most as many groups as there are classes, border writes widened or not."""
    behaviour: dict[Element, set[object]] = defaultdict(set)
    for o in brute.operations():
        cycle = o.cycle - start_cycle(concrete, *o.element)
        behaviour[o.element].add((o.node, cycle, o.destinations, o.sources))
    distinct = len({frozenset(b) for b in behaviour.values()})
    if len(concrete.classes) > distinct:
        yield f"there are {len(concrete.classes)} processor classes, but the elements differ in {distinct} ways only"
    for row, line in enumerate(concrete.element_class):
        for column, number in enumerate(line):
            if (number >= 0) != ((row, column) in behaviour):
                yield f"element {(row, column)} has class {number}, but {'no' if number >= 0 else 'an'} operation"
