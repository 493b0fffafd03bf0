# SPDX-License-Identifier: Apache-2.0
"""Concrete configuration (the array paper, section 6): the words that the array is loaded with, for given parameter
values and a given region.

Iterations here are *digits*: the coordinates of a tile's iteration in scan order, innermost first, each counting up
from 0. Step s of the scan has the digits of s in mixed radix `extents`; in the epilogue the outermost digit runs past
its extent.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.ir.operations import ElementType
from polyloom.targets.tcpa.words.isa import Instruction
from polyloom.targets.tcpa.words.sides import Side


@dataclass(frozen=True, slots=True)
class HalfSpace:
    """`coefficients . digits + constant >= 0`, at least two coefficients nonzero, divided by their gcd."""

    # A half-space with one nonzero coefficient would be a bound of the box: each set then has one form.
    coefficients: tuple[int, ...]
    constant: int


@dataclass(frozen=True, slots=True)
class ConvexSet:
    """A box of digits, bounds inclusive and tight, intersected with half-spaces."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    half_spaces: tuple[HalfSpace, ...] = ()


Domain = tuple[ConvexSet, ...]
"""A union of disjoint convex sets in ascending order."""


@dataclass(frozen=True, slots=True)
class Controller:
    """Global controller (the array paper, sections 3.3 and 6.2). It stands at the corner element named by `south` and
    `east`, sends the start token in cycle `start`, then the control signals of step s for the cycles [start + s*pi,
    start + (s+1)*pi), for `steps` steps; both pass `row_delay` cycles per row and `column_delay` cycles per column,
    away from that corner.
    """

    south: bool
    east: bool
    start: int
    row_delay: int
    column_delay: int
    # One per iteration of the tile and of the epilogue, in which the pipeline drains.
    steps: int
    signals: tuple[Domain, ...]


@dataclass(frozen=True, slots=True)
class ElementProgram:
    """Processor class (the array paper, section 6.1): one program per functional unit (empty: the unit halts at once)
    and FIFO depths of fd and id. Depths are listed up to the last register in use; 0 marks an unused one.
    """

    programs: tuple[tuple[Instruction, ...], ...]
    # Per class, not per element: elements of one class have the same iterations, hence the same occupancy.
    feedback_depths: tuple[int, ...]
    input_depths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Connection:
    """Wrapper connection (the array paper, section 3.1). Within one wrapper `sink` is driven by `source`: (location,
    index) each, location 0 pe, 1 north, 2 east, 3 south, 4 west. Source (pe, k) is od k; sink (pe, k) is id k; source
    (north, c) is what arrives from the north on channel c. Wrappers connect elements with each other: the ports of a
    region's border belong to the routes of banks.
    """

    sink: tuple[int, int]
    source: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Generator:
    """Address generator (the array paper, section 6.4) of the bank at channel `channel` of border `side`, at row or
    column `position`, and the bank's route: straight inwards on that channel, `links` crossings from wrapper to
    wrapper, to the id `register` of an element; or, of an output, the other way, from the od `register`. No other
    connection may drive a port that the route drives.

    It steps through the tile's digits once every pi cycles from cycle `delay` on (absolute, like `Controller.start`).
    In the steps of `domain` it reads word `base + coefficients . digits` of the memory that has array `array` and the
    token is at the border port in that very cycle; or, for an output, takes the token that arrives in that cycle.
    """

    side: Side
    register: int
    position: int
    channel: int
    links: int
    array: int
    base: int
    coefficients: tuple[int, ...]
    delay: int
    domain: Domain


@dataclass(frozen=True, slots=True)
class Place:
    """Where whoever asked for the configuration put an array: its first element is word `base` of memory `bank`."""

    bank: int
    base: int


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """A concrete array: element (i0, i1, ...) is word `sum(stride * index)` after the first element's. Without a place,
    which is how `instantiate` makes it unless told otherwise, it is row-major and begins with word 0 of a memory of its
    own."""

    name: str
    dtype: ElementType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_output: bool
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class MadeOf:
    """What a configuration was made of, for people: the candidate that was taken, the values of the parameters in their
    order, and the bytes of the symbolic file."""

    candidate: int
    values: tuple[int, ...]
    symbolic: bytes


@dataclass(frozen=True, slots=True)
class Concrete:
    """Concrete configuration of `rows` x `columns` elements.

    `element_class[r][c]` indexes `classes`, or is -1 for an element with an empty tile. `wrapper[r][c]` indexes
    `wrappers`.
    """

    kernel: str
    machine: str
    machine_hash: int
    initiation_interval: int
    rows: int
    columns: int
    extents: tuple[int, ...]
    controller: Controller
    classes: tuple[ElementProgram, ...]
    element_class: tuple[tuple[int, ...], ...]
    # Wrappers are numbered apart from classes: border elements may run the program of inner ones with other
    # connections.
    wrappers: tuple[tuple[Connection, ...], ...]
    wrapper: tuple[tuple[int, ...], ...]
    generators: tuple[Generator, ...]
    arrays: tuple[ArrayLayout, ...]
    program: str = ""
    """As in the symbolic configuration that it was made of."""
    made_of: MadeOf | None = None
    """None where whoever made it kept it short."""


def route_end(concrete: Concrete, generator: Generator) -> tuple[int, int]:
    """End of a bank's route: the last element of `bank_route`, which has the register."""
    last = (concrete.rows if generator.side in ("north", "south") else concrete.columns) - 1
    line = last - generator.links if generator.side in ("south", "east") else generator.links
    return (line, generator.position) if generator.side in ("north", "south") else (generator.position, line)


def bank_route(concrete: Concrete, generator: Generator) -> list[tuple[int, int]]:
    """Bank route: the elements from the border inwards; the last one has the register (straight, docs/targets/tcpa.md,
    Banks).
    """
    at, far = generator.position, generator.side in ("south", "east")
    across = generator.side in ("north", "south")
    last = (concrete.rows if across else concrete.columns) - 1
    places = [last - n if far else n for n in range(generator.links + 1)]
    return [(n, at) if across else (at, n) for n in places]
