# SPDX-License-Identifier: Apache-2.0
"""Words that change: after them, a circuit holds what the next configuration says, and nothing else that shows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.targets.tcpa.rtl.conftest import tiny_circuit
from tests.targets.tcpa.rtl.random_programs import random_program

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
from polyloom.targets.tcpa.rtl.configuration_changes import (
    NO_PROGRAM,
    NO_READER,
    Image,
    change_loading,
    changed_words,
    make_image,
)
from polyloom.targets.tcpa.words import concrete_file

SEEDS = range(8)


def _place(a: int) -> int:
    """Address of where a word is held: a bank has one generator, with a number to read and one to write."""
    return (
        address(GENERATOR, address_number(a) >> 1, address_unit(a), address_index(a), address_part(a))
        if address_kind(a) == GENERATOR
        else a
    )


def _uses(image: Image) -> dict[int, str]:
    """What banks are for, by the numbers of their generators."""
    numbers = {address_number(a) for a in image.words if address_kind(a) == GENERATOR}
    return {n >> 1: "written" if n & 1 else "read" for n in numbers}


class Bus:
    """What 2x2 elements, the controller and the banks hold (verilog/element.v, wrapper.v, domain.v, bank.v)."""

    def __init__(self) -> None:
        self.elements: dict[int, tuple[int, int]] = dict.fromkeys(range(4), (0, 0))
        self.held: dict[tuple[int, int, int, int, int], int] = {}
        self.sinks: dict[tuple[int, int], int] = {}
        self.shared: dict[int, int] = {}
        self.banks: dict[int, str] = {}

    def load(self, words: tuple[Write, ...]) -> None:
        for a, word in words:
            kind, number = address_kind(a), address_number(a)
            for element, (own, wrapper) in self.elements.items():
                if kind == MAP and number == element:
                    self.elements[element] = (word & 0xFFFF, word >> 16)
                elif kind in (PROGRAM, DEPTH) and number == own:
                    self.held[element, kind, address_unit(a), address_index(a), address_part(a)] = word
                elif kind == (WRAPPER if number == wrapper else -1) or (kind == ROUTE and number == element):
                    self.sinks[element, address_index(a)] = word
            if kind in (CONTROL, GENERATOR):
                self.shared[_place(a)] = word
            if kind == GENERATOR:
                read = "nothing" if address_unit(a) == NO_READER else "read"
                self.banks[number >> 1] = "written" if number & 1 else read

    def shows(self, image: Image) -> bool:
        """Whether the configuration is what a run would see."""
        sinks = {(e, s): source for e, own in image.sinks.items() for s, source in own.items()}
        driven = {place: source for place, source in self.sinks.items() if not source >> 31}
        programs = {
            (e, address_kind(a), address_unit(a), address_index(a), address_part(a)): word
            for e, (own, _) in image.elements.items()
            for a, word in image.words.items()
            if address_kind(a) in (PROGRAM, DEPTH) and address_number(a) == own
        }
        shared = {_place(a): word for a, word in image.words.items() if address_kind(a) in (CONTROL, GENERATOR)}
        sets = {
            a
            for a, word in self.shared.items()
            if address_unit(a) == 2 and address_part(a) == 2 * image.dimensions and word
        }
        return (
            driven == sinks
            and all(self.held.get(place) == word for place, word in programs.items())
            and all(self.shared.get(a) == word for a, word in shared.items())
            and sets <= shared.keys()
            and all(self.banks[bank] == use for bank, use in _uses(image).items())
            and all(bank in _uses(image) for bank, use in self.banks.items() if use == "read")
        )


@pytest.fixture(scope="module")
def images() -> list[Image]:
    circuit = tiny_circuit()
    programs = (random_program(circuit.machine, seed)[0] for seed in SEEDS)
    return [make_image(circuit, concrete_file.decode(data)) for data in programs]


def test_changes_give_the_next_configuration(images: list[Image]) -> None:
    bus = Bus()
    bus.load(tuple(images[0].words.items()))
    for before, own in pairwise(images):
        assert bus.shows(before) and not bus.shows(own)
        bus.load(changed_words(before, own))
        assert bus.shows(own)


def test_nothing_changes_between_equal_configurations(images: list[Image]) -> None:
    assert changed_words(images[0], images[0]) == ()


def test_all_words_are_loaded_where_these_are_fewer(images: list[Image]) -> None:
    for before, own in pairwise(images):
        found = change_loading(before, own)
        assert found.whole == (len(changed_words(before, own)) >= len(own.words))
        assert len(found.words) <= len(own.words)


def test_programs_and_readers_are_taken_back(images: list[Image]) -> None:
    """A unit without a program halts at once; a wire from a bank that nothing reads is not driven."""
    image = images[0]
    reader = next(address_number(a) for a in image.words if address_kind(a) == GENERATOR and address_number(a) % 2 == 0)
    gone = {a for a in image.words if address_kind(a) == PROGRAM and address_unit(a) == 1}
    gone |= {a for a in image.words if address_kind(a) == GENERATOR and address_number(a) == reader}
    kept = {a: word for a, word in image.words.items() if a not in gone}
    own = replace(image, words=kept, programs={(c, u) for c, u in image.programs if u != 1})
    changes = dict(changed_words(image, own))
    classes = {address_number(a) for a in gone if address_kind(a) == PROGRAM}
    assert {address(PROGRAM, c, 1, 0, NO_PROGRAM) for c in classes} <= changes.keys()
    assert address(GENERATOR, reader, NO_READER) in changes


def test_a_bank_is_read_in_one_step_and_written_in_the_next(images: list[Image]) -> None:
    image = images[0]
    reader = next(address_number(a) for a in image.words if address_kind(a) == GENERATOR and address_number(a) % 2 == 0)
    writing = {
        a | address(0, 1) if address_kind(a) == GENERATOR and address_number(a) == reader else a: word
        for a, word in image.words.items()
    }
    # A set that the writer has not is taken back, after which the bank still writes.
    more = {**image.words, address(GENERATOR, reader, 2, 1, 2 * image.dimensions): 1}
    read, written = replace(image, words=more), replace(image, words=writing)
    bus = Bus()
    bus.load(tuple(read.words.items()))
    for before, own in ((read, written), (written, read)):
        assert bus.shows(before) and not bus.shows(own)
        bus.load(changed_words(before, own))
        assert bus.shows(own)
