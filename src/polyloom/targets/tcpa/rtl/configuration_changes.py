# SPDX-License-Identifier: Apache-2.0
"""Configuration changes: the words that turn the configuration which a circuit holds into the next one (docs/rtl.md,
The configuration bus).

A class has one copy of its words on the bus and one in each of its elements. So an element is looked at by what it
holds: a word of a class is sent if it is new to any of the elements that have the class now. What the next
configuration has not is taken back where it could still show: programs, connections, convex sets, readers of banks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final

from polyloom.targets.tcpa.rtl.bus_addresses import (
    CONTROL,
    DEPTH,
    GENERATOR,
    MAP,
    PROGRAM,
    ROUTE,
    WRAPPER,
    Write,
    address,
    address_index,
    address_kind,
    address_number,
    address_part,
    address_unit,
)
from polyloom.targets.tcpa.rtl.bus_words import configuration_words
from polyloom.targets.tcpa.rtl.circuit import Circuit
from polyloom.targets.tcpa.words.concrete import Concrete

NO_PROGRAM: Final = 255
"""Part of an instruction that says that the unit has none (verilog/unit.v)."""
DOMAIN, NO_READER = 2, 5
"""Units of addresses of generators and of the controller: convex sets; that nothing reads the bank (verilog/bank.v)."""
EXTENTS: Final = {1: 0, 3: 0xFFFFFFFF}
"""Extents of generators and of the controller that are not loaded, by their unit of addresses (verilog/odometer.v)."""
NOTHING: Final = 1 << 31
"""Source of a sink that nothing drives (verilog/wrapper.v)."""


@dataclass(frozen=True, slots=True)
class Loading:
    """Words that the bus carries before a step; if `whole`, all of a configuration, into a circuit that is cleared."""

    whole: bool
    words: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class Image:
    """Words of a configuration by address; what elements hold by their numbers: class and wrapper, and the sources of
    their sinks. `programs` are the pairs of class and unit that have
    one."""

    region: tuple[int, int]
    dimensions: int
    words: Mapping[int, int]
    elements: Mapping[int, tuple[int, int]]
    sinks: Mapping[int, Mapping[int, int]]
    programs: Set[tuple[int, int]]


def make_image(circuit: Circuit, concrete: Concrete) -> Image:
    """Image of a configuration. Errors: PL0640 where the circuit lacks something."""
    words = dict(configuration_words(circuit, concrete))
    elements = {address_number(a): (word & 0xFFFF, word >> 16) for a, word in words.items() if address_kind(a) == MAP}
    connections: dict[tuple[int, int], dict[int, int]] = {}
    for a, word in words.items():
        if address_kind(a) in (WRAPPER, ROUTE):
            connections.setdefault((address_kind(a), address_number(a)), {})[address_index(a)] = word
    sinks = {
        e: connections.get((WRAPPER, wrapper), {}) | connections.get((ROUTE, e), {})
        for e, (_, wrapper) in elements.items()
    }
    programs = {(address_number(a), address_unit(a)) for a in words if address_kind(a) == PROGRAM}
    return Image(
        (concrete.rows, concrete.columns), circuit.capacity("generator_dimensions"), words, elements, sinks, programs
    )


def load_image(image: Image) -> Loading:
    return Loading(True, tuple(image.words.items()))


def change_loading(before: Image, own: Image) -> Loading:
    """The words that change, or all of them if these are no more, or if the regions have other sizes."""
    if before.region != own.region:
        return load_image(own)
    changes = changed_words(before, own)
    return Loading(False, changes) if len(changes) < len(own.words) else load_image(own)


def changed_words(before: Image, own: Image) -> tuple[Write, ...]:
    """Words that change between two configurations of one region."""
    return (*_class_changes(before, own), *_connection_changes(before, own), *_other_changes(before, own))


def _class_changes(before: Image, own: Image) -> Iterator[Write]:
    """The map first, because elements take the words of the class that they have then."""
    held: dict[int, set[int]] = {}
    for element, (of_class, wrapper) in own.elements.items():
        held.setdefault(of_class, set()).add(before.elements[element][0])
        if before.elements[element] != (of_class, wrapper):
            yield address(MAP, element), own.words[address(MAP, element)]
    for a, word in own.words.items():
        if address_kind(a) in (PROGRAM, DEPTH) and _is_new(before, a, word, held.get(address_number(a), ())):
            yield a, word
    for of_class, classes in sorted(held.items()):
        # A unit without a program now would go on with the one that it had.
        units = {u for c, u in before.programs if c in classes} - {u for c, u in own.programs if c == of_class}
        yield from ((address(PROGRAM, of_class, u, 0, NO_PROGRAM), 0) for u in sorted(units))


def _is_new(before: Image, a: int, word: int, classes: Iterable[int]) -> bool:
    """Whether a word of a class is new to elements that had one of these classes."""
    own = address(0, address_number(a))
    return any(before.words.get(a - own + address(0, c)) != word for c in classes)


def _connection_changes(before: Image, own: Image) -> Iterator[Write]:
    """Sinks that lose their source, element by element; then what is new to any element of a wrapper."""
    members: dict[int, list[int]] = {}
    for element, (_, wrapper) in own.elements.items():
        members.setdefault(wrapper, []).append(element)
        lost = before.sinks[element].keys() - own.sinks[element].keys()
        yield from ((address(ROUTE, element, 0, sink), NOTHING) for sink in sorted(lost))
    for a, word in own.words.items():
        if address_kind(a) in (WRAPPER, ROUTE):
            elements = members.get(address_number(a), ()) if address_kind(a) == WRAPPER else (address_number(a),)
            if any(before.sinks[e].get(address_index(a)) != word for e in elements):
                yield a, word


def _other_changes(before: Image, own: Image) -> Iterator[Write]:
    """Controller and generators, which have one copy of each word.

    What is taken back goes first: its number would say that a bank is read which now is written.
    """
    kept = {_place(a) for a in own.words}
    lost = [a for a in before.words if address_kind(a) in (CONTROL, GENERATOR) and _place(a) not in kept]
    yield from ((a, 0) for a in lost if address_unit(a) == DOMAIN and address_part(a) == 2 * own.dimensions)
    # Digits that the next one has not: as in a circuit that is cleared.
    yield from (
        (a, EXTENTS[address_unit(a)]) for a in lost if address_kind(a) == CONTROL and address_unit(a) in EXTENTS
    )
    used = {address_number(a) >> 1 for a in own.words if address_kind(a) == GENERATOR}
    # Those that write do nothing without a set.
    gone = {address_number(a) for a in lost if address_kind(a) == GENERATOR and address_number(a) % 2 == 0}
    yield from ((address(GENERATOR, n, NO_READER), 0) for n in sorted(gone) if n >> 1 not in used)
    yield from (
        (a, w) for a, w in own.words.items() if address_kind(a) in (CONTROL, GENERATOR) and before.words.get(a) != w
    )


def _place(a: int) -> int:
    """Where a word is held: a bank has one generator, whether it reads or writes."""
    return a & ~address(0, 1) if address_kind(a) == GENERATOR else a
