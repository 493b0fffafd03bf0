# SPDX-License-Identifier: Apache-2.0
"""Bank windows: what of an array each bank of the circuit holds, and where."""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.targets.tcpa.rtl.capacities import check_need, refuse_configuration
from polyloom.targets.tcpa.rtl.circuit import Circuit
from polyloom.targets.tcpa.words.concrete import Concrete, Generator
from polyloom.targets.tcpa.words.sides import SIDES


@dataclass(frozen=True, slots=True)
class BankWindow:
    """What generator `generator` accesses: word `first` of the array's memory is word 0 of the bank."""

    generator: int
    bank: int
    is_output: bool
    first: int
    words: int


def bank_number(circuit: Circuit, generator: Generator) -> int:
    """Banks are numbered by port, north, east, south, west, then by channel."""
    first = (0, circuit.columns, circuit.columns + circuit.rows, 2 * circuit.columns + circuit.rows)
    channels = circuit.capacity("channels")
    check_need("channels", generator.channel + 1, channels)
    return (first[SIDES.index(generator.side)] + generator.position) * channels + generator.channel


def array_words(concrete: Concrete, number: int) -> int:
    """Words from an array's first element to its last one."""
    array = concrete.arrays[number]
    if 0 in array.shape:
        return 0
    return 1 + sum(stride * (extent - 1) for stride, extent in zip(array.strides, array.shape, strict=True))


def bank_windows(circuit: Circuit, concrete: Concrete) -> list[BankWindow]:
    """Windows: of each generator, the words between the least and the greatest address of its boxes. Errors: PL0640."""
    taken = set[int]()
    windows: list[BankWindow] = []
    for number, generator in enumerate(concrete.generators):
        bank, is_output = bank_number(circuit, generator), concrete.arrays[generator.array].is_output
        if bank in taken:
            raise refuse_configuration("two generators use one bank, and the circuit has one generator for each")
        taken.add(bank)
        low, high = _address_range(concrete, generator)
        # An empty domain has a window of no words, in a bank that nothing accesses.
        size = max(0, high - low + 1)
        windows.append(BankWindow(number, bank, is_output, low, size))
        check_need("words of a bank", size, circuit.capacity("bank_words"))
    return windows


def _address_range(concrete: Concrete, generator: Generator) -> tuple[int, int]:
    """Least and greatest word of the array that the boxes of the domain reach."""
    base = base_address(concrete, generator)
    # An affine form is extreme in corners; half-spaces only make the window smaller than this.
    ends = [
        (
            base + sum(min(c * a, c * b) for c, a, b in zip(generator.coefficients, s.lower, s.upper, strict=True)),
            base + sum(max(c * a, c * b) for c, a, b in zip(generator.coefficients, s.lower, s.upper, strict=True)),
        )
        for s in generator.domain
    ]
    last = array_words(concrete, generator.array) - 1
    low, high = min((a for a, _ in ends), default=0), max((b for _, b in ends), default=-1)
    return max(0, min(low, last)), min(high, last)


def base_address(concrete: Concrete, generator: Generator) -> int:
    place = concrete.arrays[generator.array].place
    return generator.base - (place.base if place else 0)
