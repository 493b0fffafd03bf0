# SPDX-License-Identifier: Apache-2.0
"""Symbolic configuration (the array paper, section 5.7): everything that is decided at compile time, nothing that
depends on a parameter's value.

Positions, not names, index everything here: dimension m is `dimensions[m]`, parameter n is `parameters[n]`. Nodes, uses
and the registers of a candidate determine the polyhedral syntax tree of that candidate (the array paper, section 5.5):
`syntax_tree.py` builds it.

Signs: an operand is x[I - d]; a use with tile displacement theta reads from tile K - theta, that is from the element at
displacement -Phi theta; the producer sends to the element at +Phi theta.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from polyloom.ir.operations import ElementType
from polyloom.targets.provenance import Provenance
from polyloom.targets.tcpa.words.sides import Location


@dataclass(frozen=True, slots=True)
class Row:
    """`dims . I + params . N + constant`, I in the program's own coordinates. Both vectors always have full length: a
    row "without dims" has zeros there."""

    dims: tuple[int, ...]
    params: tuple[int, ...]
    constant: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A piece of a parametric bound: where all guards are >= 0, the value is floor(numerator / denominator)."""

    # Minima and maxima of several bounds are pieces: in each, one of them is the binding one.
    guards: tuple[Row, ...]
    numerator: Row
    # Tile-independent rounding, as in a loop up to N / 2; the only division that a bound may have.
    denominator: int = 1


@dataclass(frozen=True, slots=True)
class Extent:
    """Smallest and largest index of a dimension over the iteration space; empty space when no piece applies."""

    lower: tuple[Bound, ...]
    upper: tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """`shape[r]` is a row without dims."""

    name: str
    dtype: ElementType
    shape: tuple[Row, ...]
    is_output: bool


@dataclass(frozen=True, slots=True)
class Access:
    """Indexing function of an access mapping (the array paper, section 5.6): row r gives the index in array dimension
    r.
    """

    array: int
    index: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class ImmediateOperand:
    bits: int


@dataclass(frozen=True, slots=True)
class UseOperand:
    """The operand is read through `uses[use]`."""

    use: int


@dataclass(frozen=True, slots=True)
class InputOperand:
    """The operand is read through `inputs[input]`."""

    input: int


@dataclass(frozen=True, slots=True)
class Node:
    """Operation node of the reduced dependence graph (the array paper, section 4): one equation. `condition` indexes
    `conditions`; its iterations are I in that condition.
    """

    opcode: int
    condition: int
    operands: tuple[ImmediateOperand | UseOperand | InputOperand, ...]
    # An equation defines a variable or an output, never both.
    output: int | None
    """Index into `outputs` when the equation defines an output; such a node has no consumer."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A node that produces for a use, and the producer iterations whose value the use consumes (guards derive from
    consumers): C_v intersected with C_w shifted by -d, simplified."""

    node: int
    condition: int


@dataclass(frozen=True, slots=True)
class Use:
    """Dependence edge (the array paper, section 4): operand `position` of node `consumer` reads variable x at distance
    d. The consumer iterations are C_w.
    """

    consumer: int
    position: int
    distance: tuple[int, ...]
    writers: tuple[Writer, ...]


@dataclass(frozen=True, slots=True)
class InputUse:
    """Operand `position` of node `consumer` reads an input array; the access space is C_w."""

    consumer: int
    position: int
    access: Access


@dataclass(frozen=True, slots=True)
class OutputUse:
    """Node `producer` writes an output array; the access space is C_v."""

    producer: int
    access: Access


class Kind(IntEnum):
    """Register class that carries a value from writer to reader (the array paper, section 5.3)."""

    GENERAL = 0
    FEEDBACK = 1
    CHANNEL = 2


@dataclass(frozen=True, slots=True)
class Port:
    """A wrapper port. `source` ports drive, `sink` ports are driven (paper section 3.1). `location` "pe": id or od."""

    location: Location
    index: int


@dataclass(frozen=True, slots=True)
class Route:
    """Propagation channel (the array paper, section 5.4) for processor displacement (rows, columns).

    `hops[i]` is the wrapper sink port through which the value leaves the i-th wrapper; it enters the next one through
    the sibling source port of the same index. The path is od `output` -> hops -> id `input`. Channels that share an
    output port carry the same values and share a prefix.
    """

    displacement: tuple[int, int]
    output: int
    hops: tuple[Port, ...]
    input: int


@dataclass(frozen=True, slots=True)
class Link:
    """Split edge e^i (the array paper, section 5.3): how one use is carried for one processor displacement (rows,
    columns).

    GENERAL: `register` is an rd. FEEDBACK: an fd. CHANNEL: `register` indexes the candidate's `routes`.
    """

    displacement: tuple[int, int]
    kind: Kind
    register: int


@dataclass(frozen=True, slots=True)
class Apart:
    """Nodes `first` and `second` of one unit, which each holds for its latency, but which is not reserved for them.

    `where` is a union of conjunctions of rows (each >= 0) over the differences I' - I of an iteration I of the first
    and an iteration I' of the second. A tiling is valid if no difference within a tile brings them together."""

    first: int
    second: int
    where: tuple[tuple[Row, ...], ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """Modulo schedule (the array paper, section 5.2): start offset tau, functional unit and latency of every node; tau
    is normalized so that its minimum is 0.

    All writers of a use have one ready offset tau + latency, so one FIFO serves them in scan order.
    """

    initiation_interval: int
    tau: tuple[int, ...]
    unit: tuple[int, ...]
    latency: tuple[int, ...]
    apart: tuple[Apart, ...] = ()
    """Rare operations: what limits the tilings that the schedule is valid for."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Mapping candidate: (allocation, signed scan order, schedule, registers, routes) (the array paper, sections 5.1 to
    5.4).

    `rows`/`columns` are the dimensions mapped to array rows and columns. A reflected dimension counts down: in the
    candidate's coordinates x_m = upper_m - I_m (else x_m = I_m - lower_m), so every scan runs upwards; distances and
    displacements are in the candidate's coordinates: a reflected component of d changes sign.

    `order` lists the dimensions innermost first. `links[u]` are the links of `uses[u]`, displacement (0, 0) first.
    `input_registers[i]` is the id of `inputs[i]`, `output_registers[o]` the od of `outputs[o]`.
    """

    rows: int | None
    columns: int | None
    reflected: tuple[bool, ...]
    order: tuple[int, ...]
    schedule: int
    # A dependence that leaves the tile in some iterations has one link for each neighbour that it reaches, and (0, 0).
    links: tuple[tuple[Link, ...], ...]
    routes: tuple[Route, ...]
    input_registers: tuple[int, ...]
    output_registers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """The machine's capacities that instantiation checks (None: unlimited); the fields are those of `Machine`."""

    units: tuple[str, ...]
    fifo_depth: int | None
    instruction_words: int | None
    branch_flags: int
    channels: int | None
    adjacency: tuple[tuple[Port, Port], ...] | None
    """Allowed (source, sink) pairs of a wrapper; None: every pair."""
    hop_delay: int
    control_signals: int | None
    signal_sets: int | None
    half_spaces: bool
    counter_bits: int
    generator_dimensions: int | None
    delay_bits: int
    bank_words: int | None
    rows: int | None
    columns: int | None
    word_bits: int


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """Binding bound of pi, for people: `minimum` = max(ResMII, RecMII) (Rau 1994), `proved`, and a sentence."""

    minimum: int
    proved: bool
    bound_by: str


@dataclass(frozen=True, slots=True)
class Symbolic:
    """A symbolic configuration. `conditions[c]` is a union of conjunctions of ascending indices into `constraints`
    (each >= 0)."""

    kernel: str
    machine: str
    machine_hash: int
    limits: Limits
    parameters: tuple[str, ...]
    dimensions: tuple[str, ...]
    assumptions: tuple[tuple[Row, ...], ...]
    """The parameters' domain: a union of conjunctions of rows without dims."""
    extents: tuple[Extent, ...]
    arrays: tuple[ArrayInfo, ...]
    constraints: tuple[Row, ...]
    conditions: tuple[tuple[tuple[int, ...], ...], ...]
    nodes: tuple[Node, ...]
    uses: tuple[Use, ...]
    inputs: tuple[InputUse, ...]
    outputs: tuple[OutputUse, ...]
    schedules: tuple[Schedule, ...]
    candidates: tuple[Candidate, ...]
    # The mapping needs no names: the file is as valid without them.
    node_names: tuple[str, ...]
    """Equation names, for listings (in the names section)."""
    bottlenecks: tuple[Bottleneck, ...]
    """One per schedule."""
    program: str = ""
    """The digest of the equations that were compiled (`ir.pla_text.digest`), for whoever looks for their source."""
    origins: tuple[Provenance, ...] = ()
    """One per node, or none: where it comes from (in the names section)."""
