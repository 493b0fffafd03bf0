# SPDX-License-Identifier: Apache-2.0
"""Drawing of the array, beyond what its words say: the routes between banks and elements by the names of arrays, what a
program holds in FIFOs, and the cycle of dependences that bounds the interval.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from polyloom.targets.report import Circuit, Route
from polyloom.targets.tcpa.words.concrete import Concrete, ElementProgram, Generator, Side, bank_route

_CIRCUIT: Final = re.compile(r"(\S+(?: [-~]> \S+)+) \(latency (\d+), distance (\d+)")
"""As `modulo.guarded.bounds` writes it: a symbolic file keeps the reason as a sentence."""
_ARROW: Final = re.compile(r" [-~]> ")


def locate_bank(concrete: Concrete, generator: Generator) -> tuple[int, int]:
    """Position of a bank as (row, column), just outside the border."""
    at = generator.position
    places: dict[Side, tuple[int, int]] = {
        "north": (-1, at),
        "east": (at, concrete.columns),
        "south": (concrete.rows, at),
        "west": (at, -1),
    }
    return places[generator.side]


def list_routes(concrete: Concrete) -> Iterator[Route]:
    """Bank routes: of an input from the bank to the element, of an output the other way (the array paper, section 6.4,
    Figure 8).
    """
    for generator in concrete.generators:
        array = concrete.arrays[generator.array]
        path = (locate_bank(concrete, generator), *bank_route(concrete, generator))
        yield Route(array.name, path[::-1] if array.is_output else path)


def notes(concrete: Concrete) -> Iterator[tuple[str, str]]:
    """Of every program: its instructions, and the depths of its FIFOs."""
    for number, element in enumerate(concrete.classes, 1):
        depths = ", ".join(_depths(element))
        words = f"{sum(map(len, element.programs))} instruction words"
        yield f"P{number}", f"{words}; FIFO depths {depths}" if depths else words


def _depths(element: ElementProgram) -> Iterator[str]:
    for name, depths in (("fd", element.feedback_depths), ("id", element.input_depths)):
        yield from (f"{name}{n} {depth}" for n, depth in enumerate(depths) if depth)


def parse_circuit(bound_by: str) -> Circuit | None:
    """Critical circuit that a sentence of `modulo.guarded.bounds` names; None where the interval is bound by something
    else.
    """
    found = _CIRCUIT.search(bound_by)
    if found is None:
        return None
    names = _ARROW.split(found[1])
    return Circuit(tuple(names[:-1]), int(found[2]), int(found[3]))
