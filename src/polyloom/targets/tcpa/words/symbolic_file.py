# SPDX-License-Identifier: Apache-2.0
"""File format of symbolic configurations (`.plsc`; docs/formats.md): compact, and read sequentially within a section.

Numbers are LEB128 (DWARF 5, 2017, section 7.6), so almost every field is one byte. A row is stored once and referred to
by number: the constraints first, then the other rows in order of use. What the graph implies is not stored: which
operand a use or an input belongs to is said by the node, and a node's number of operands by its operation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from polyloom import binary
from polyloom.binary import (
    Codec,
    FileKind,
    Reader,
    counted_list,
    fixed_integer,
    fixed_list,
    integer,
    map_codec,
    mask,
    natural,
    optional,
    pool_reference,
    record,
    section,
    sparse,
    text,
)
from polyloom.ir.numbers import WIDTH
from polyloom.ir.operations import ELEMENT_TYPES
from polyloom.targets.tcpa.words import encoding, provenance_table
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, source_type
from polyloom.targets.tcpa.words.sides import LOCATIONS
from polyloom.targets.tcpa.words.symbolic import (
    Access,
    Apart,
    ArrayInfo,
    Bottleneck,
    Bound,
    Candidate,
    Extent,
    ImmediateOperand,
    InputOperand,
    InputUse,
    Kind,
    Limits,
    Link,
    Node,
    OutputUse,
    Port,
    Route,
    Row,
    Schedule,
    Symbolic,
    Use,
    UseOperand,
    Writer,
)

KIND = FileKind(b"PLSC", "symbolic configuration", version=3, sections=6)
_SYMBOLS = 64
"""A file holds fewer dimensions, and fewer parameters, than this."""

_LONGEST = 255
"""Cycles that an operation of a machine takes at most (machine_file.py)."""

_port: Codec[Port] = map_codec(
    natural("a port"),
    lambda port: port.index * len(LOCATIONS) + LOCATIONS.index(port.location),
    lambda n: Port(LOCATIONS[n % len(LOCATIONS)], n // len(LOCATIONS)),
)


def _read_hop(reader: Reader) -> Port:
    at, port = reader.position, _port.read(reader)
    # Only the ends of a route are registers, and these are fields of their own.
    if port.location == "pe":
        raise binary.format_error(at, "a route leaves a wrapper through a register")
    return port


_hop: Codec[Port] = Codec(_port.write, _read_hop)
_DISPLACEMENTS = tuple((rows, columns) for rows in (-1, 0, 1) for columns in (-1, 0, 1))
_displacement = map_codec(
    natural("a displacement", len(_DISPLACEMENTS)), _DISPLACEMENTS.index, _DISPLACEMENTS.__getitem__
)


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The numbers of things, by which later sections are read."""

    parameters: int
    dimensions: int
    arrays: int
    nodes: int
    units: int


_sizes = record(
    _Sizes,
    parameters=natural("the number of parameters", _SYMBOLS),
    dimensions=natural("the number of dimensions", _SYMBOLS),
    arrays=natural("the number of arrays", 1 << 16),
    nodes=natural("the number of nodes", 1 << 16),
    units=natural("the number of units", 1 << 16),
)


def _adjacency() -> Codec[tuple[tuple[Port, Port], ...] | None]:
    """No restriction as 0, else 1, the number of pairs, the pairs."""
    flag, pairs = natural("adjacency", 2), counted_list(fixed_list(_port, 2), natural("the number of port pairs"))

    def write(out: bytearray, value: tuple[tuple[Port, Port], ...] | None) -> None:
        flag.write(out, value is not None)
        if value is not None:
            pairs.write(out, value)

    return Codec(
        write, lambda reader: cast("tuple[tuple[Port, Port], ...]", pairs.read(reader)) if flag.read(reader) else None
    )


def _narrow_words() -> Codec[int]:
    """Width of words at the end of the section, where it is not 64: files from before it was a key are as they were."""
    width = natural("the width of words", 64)

    def read(reader: Reader) -> int:
        if reader.position == reader.end:
            return 64
        at, bits = reader.position, width.read(reader)
        if bits != 32:
            raise binary.format_error(at, f"words of {bits} bits")
        return bits

    def write(out: bytearray, bits: int) -> None:
        if bits < 64:
            width.write(out, bits)

    return Codec(write, read)


def _limits(units: tuple[str, ...]) -> Codec[Limits]:
    return record(
        partial(Limits, units=units),
        fifo_depth=optional("the FIFO depth"),
        instruction_words=optional("the instruction words"),
        branch_flags=natural("the branch flags"),
        channels=optional("the channels"),
        adjacency=_adjacency(),
        hop_delay=natural("the hop delay"),
        control_signals=optional("the control signals"),
        signal_sets=optional("the sets of a signal"),
        half_spaces=map_codec(natural("half-spaces", 2), int, bool),
        counter_bits=natural("the counter bits"),
        generator_dimensions=optional("the generator dimensions"),
        delay_bits=natural("the delay bits"),
        bank_words=optional("the bank words"),
        rows=optional("the largest rows"),
        columns=optional("the largest columns"),
        word_bits=_narrow_words(),
    )


def _row(sizes: _Sizes) -> Codec[Row]:
    # Dimensions and parameters in one sparse vector: most coefficients are 0 in both.
    n = sizes.dimensions
    coefficients, constant = sparse("a row's coefficient", n + sizes.parameters), integer("a row's constant")

    def write(out: bytearray, row: Row) -> None:
        coefficients.write(out, (*row.dims, *row.params))
        constant.write(out, row.constant)

    def read(reader: Reader) -> Row:
        values = coefficients.read(reader)
        return Row(values[:n], values[n:], constant.read(reader))

    return Codec(write, read)


def _conditions(constraints: int) -> Codec[tuple[tuple[tuple[int, ...], ...], ...]]:
    return counted_list(
        counted_list(mask("a conjunction", constraints), natural("the number of pieces")),
        natural("the number of conditions"),
    )


@dataclass(frozen=True, slots=True)
class _Sets:
    """What refers to rows in the second section."""

    assumptions: tuple[tuple[Row, ...], ...]
    extents: tuple[Extent, ...]
    arrays: tuple[ArrayInfo, ...]


def _sets(sizes: _Sizes, row: Codec[Row]) -> Codec[_Sets]:
    rows = counted_list(row, natural("the number of rows"))
    bound = record(
        Bound,
        guards=rows,
        numerator=row,
        # A denominator is at least 1: stored less by one, so that 0 cannot stand in a file.
        denominator=map_codec(natural("a denominator"), lambda d: d - 1, lambda n: n + 1),
    )
    bounds = counted_list(bound, natural("the number of pieces of a bound"))
    return record(
        _Sets,
        assumptions=counted_list(rows, natural("the number of pieces")),
        extents=fixed_list(record(Extent, lower=bounds, upper=bounds), sizes.dimensions),
        arrays=fixed_list(_array(row), sizes.arrays),
    )


def _array(row: Codec[Row]) -> Codec[ArrayInfo]:
    def write(out: bytearray, array: ArrayInfo) -> None:
        encoding.array_head.write(out, (array.dtype, array.is_output, len(array.shape)))
        fixed_list(row, len(array.shape)).write(out, array.shape)

    def read(reader: Reader) -> ArrayInfo:
        dtype, is_output, rank = encoding.array_head.read(reader)
        return ArrayInfo("", dtype, fixed_list(row, rank).read(reader), is_output)

    return Codec(write, read)


_IMMEDIATE, _USE, _INPUT = range(3)
_WIDE = fixed_integer(8, "an immediate")


def _write_operand(out: bytearray, operand: ImmediateOperand | UseOperand | InputOperand, is_wide: bool) -> None:
    """A tag in the two low bits and a number above; an immediate's bits follow as the integer that they mean, 64 bits
    as they are."""
    tag = natural("an operand")
    match operand:
        case ImmediateOperand(bits):
            tag.write(out, _IMMEDIATE)
            # As the signed number that they mean: small negative constants then take one byte, not five.
            _WIDE.write(out, bits) if is_wide else integer("an immediate").write(out, bits - (bits >> 31 << 32))
        case UseOperand(use):
            tag.write(out, use << 2 | _USE)
        case InputOperand(number):
            tag.write(out, number << 2 | _INPUT)


def _read_operand(reader: Reader, is_wide: bool) -> ImmediateOperand | UseOperand | InputOperand:
    at, value = reader.position, natural("an operand").read(reader)
    if value == _IMMEDIATE:
        bits = _WIDE.read(reader) if is_wide else integer("an immediate").read(reader) & 0xFFFFFFFF
        return ImmediateOperand(bits)
    if value & 3 == _USE:
        return UseOperand(value >> 2)
    if value & 3 == _INPUT:
        return InputOperand(value >> 2)
    raise binary.format_error(at, f"{value} is no operand")


def _node(conditions: int) -> Codec[Node]:
    """Codec of an operation node; the number of operands follows from the opcode."""
    opcode, condition = natural("an opcode", OPCODE_NOP), natural("a condition", conditions)
    output = optional("an output")

    def write(out: bytearray, node: Node) -> None:
        opcode.write(out, node.opcode)
        condition.write(out, node.condition)
        for position, operand in enumerate(node.operands):
            _write_operand(out, operand, source_type(node.opcode, position) == "f64")
        output.write(out, node.output)

    def read(reader: Reader) -> Node:
        at, code = reader.position, opcode.read(reader)
        arity = encoding.arity(code)
        if arity is None:
            raise binary.format_error(at, f"opcode {code} is no operation")
        number = condition.read(reader)
        operands = tuple(_read_operand(reader, source_type(code, k) == "f64") for k in range(arity))
        return Node(code, number, operands, output.read(reader))

    return Codec(write, read)


@dataclass(frozen=True, slots=True)
class _Graph:
    """Nodes, and what belongs to their operands and results; who that is follows from the nodes."""

    nodes: tuple[Node, ...]
    uses: tuple[Use, ...]
    inputs: tuple[InputUse, ...]
    outputs: tuple[OutputUse, ...]


def _graph(sizes: _Sizes, conditions: int, arrays: tuple[ArrayInfo, ...], row: Codec[Row]) -> Codec[_Graph]:
    writer = record(Writer, node=natural("a writer", sizes.nodes), condition=natural("a condition", conditions))

    # The rank follows from the array, so that an access stores no number of rows.
    def access() -> Codec[Access]:
        number = natural("an array", sizes.arrays)

        def write(out: bytearray, value: Access) -> None:
            number.write(out, value.array)
            fixed_list(row, len(arrays[value.array].shape)).write(out, value.index)

        def read(reader: Reader) -> Access:
            array = number.read(reader)
            return Access(array, fixed_list(row, len(arrays[array].shape)).read(reader))

        return Codec(write, read)

    return record(
        _Graph,
        nodes=fixed_list(_node(conditions), sizes.nodes),
        uses=counted_list(
            record(
                partial(Use, 0, 0),
                distance=sparse("a distance", sizes.dimensions),
                writers=counted_list(writer, natural("the number of writers")),
            ),
            natural("the number of uses"),
        ),
        inputs=counted_list(record(partial(InputUse, 0, 0), access=access()), natural("the number of inputs")),
        outputs=counted_list(record(partial(OutputUse, 0), access=access()), natural("the number of outputs")),
    )


def _schedules(sizes: _Sizes, row: Codec[Row]) -> Codec[tuple[tuple[Schedule, Bottleneck], ...]]:
    """Codec of schedules, each with its bottleneck, whose sentence is among the names."""
    apart = record(
        Apart,
        first=natural("a node", sizes.nodes),
        second=natural("a node", sizes.nodes),
        where=counted_list(counted_list(row, natural("the number of rows")), natural("the number of pieces")),
    )
    per_node = fixed_list(natural("an offset or a latency"), sizes.nodes)
    schedule = record(
        Schedule,
        initiation_interval=natural("an initiation interval"),
        tau=per_node,
        unit=fixed_list(natural("a unit", sizes.units), sizes.nodes),
        latency=per_node,
        apart=counted_list(apart, natural("the number of rare pairs")),
    )
    bottleneck = record(
        partial(Bottleneck, bound_by=""),
        minimum=natural("the minimum initiation interval"),
        proved=map_codec(natural("a flag", 2), int, bool),
    )

    def write(out: bytearray, pair: tuple[Schedule, Bottleneck]) -> None:
        schedule.write(out, pair[0])
        bottleneck.write(out, pair[1])

    return counted_list(
        Codec(write, lambda reader: (schedule.read(reader), bottleneck.read(reader))),
        natural("the number of schedules"),
    )


def _write_link(out: bytearray, link: Link) -> None:
    natural("a link").write(out, link.kind * len(_DISPLACEMENTS) + _DISPLACEMENTS.index(link.displacement))
    natural("a register").write(out, link.register)


def _read_link(reader: Reader) -> Link:
    kind, displacement = divmod(natural("a link", len(Kind) * len(_DISPLACEMENTS)).read(reader), len(_DISPLACEMENTS))
    return Link(_DISPLACEMENTS[displacement], Kind(kind), natural("a register").read(reader))


def _candidate(sizes: _Sizes, graph: _Graph, schedules: int) -> Codec[Candidate]:
    """Codec of a candidate. Order and reflection are one number per dimension: twice the dimension, plus one if it is
    reflected.
    """
    n = sizes.dimensions
    link: Codec[Link] = Codec(_write_link, _read_link)
    route = record(
        Route,
        displacement=_displacement,
        output=natural("an od"),
        hops=counted_list(_hop, natural("the number of hops")),
        input=natural("an id"),
    )
    dimension, scan = optional("a dimension"), fixed_list(natural("a scanned dimension", 2 * n), n)
    schedule = natural("a schedule", schedules)
    routes = counted_list(route, natural("the number of routes"))
    # Every use has links, so that their number is not stored.
    links = fixed_list(counted_list(link, natural("the number of links")), len(graph.uses))
    inputs, outputs = fixed_list(natural("an id"), len(graph.inputs)), fixed_list(natural("an od"), len(graph.outputs))

    def write(out: bytearray, candidate: Candidate) -> None:
        dimension.write(out, candidate.rows)
        dimension.write(out, candidate.columns)
        # One number holds dimension and direction, so that a candidate takes a byte per dimension.
        scan.write(out, tuple(2 * m + candidate.reflected[m] for m in candidate.order))
        schedule.write(out, candidate.schedule)
        routes.write(out, candidate.routes)
        links.write(out, candidate.links)
        inputs.write(out, candidate.input_registers)
        outputs.write(out, candidate.output_registers)

    def read(reader: Reader) -> Candidate:
        at = reader.position
        rows, columns, scanned = dimension.read(reader), dimension.read(reader), scan.read(reader)
        order = tuple(m >> 1 for m in scanned)
        allocated = [m for m in (rows, columns) if m is not None]
        if sorted(order) != list(range(n)) or any(m >= n for m in allocated) or len(set(allocated)) < len(allocated):
            raise binary.format_error(at, "rows, columns and order are not dimensions, each once")
        number, routed = schedule.read(reader), routes.read(reader)
        candidate = Candidate(
            rows=rows,
            columns=columns,
            reflected=tuple(2 * m + 1 in scanned for m in range(n)),
            order=order,
            schedule=number,
            links=links.read(reader),
            routes=routed,
            input_registers=inputs.read(reader),
            output_registers=outputs.read(reader),
        )
        if any(one.kind is Kind.CHANNEL and one.register >= len(routed) for use in candidate.links for one in use):
            raise binary.format_error(at, "a link has no route")
        return candidate

    return Codec(write, read)


def _candidates(sizes: _Sizes, graph: _Graph, schedules: int) -> Codec[tuple[Candidate, ...]]:
    return counted_list(_candidate(sizes, graph, schedules), natural("the number of candidates"))


def _resolve_uses(graph: _Graph, at: int) -> _Graph:
    """`graph` with the operand that each use and input belongs to, and the node of each output."""
    places = {operand: (v, k) for v, node in enumerate(graph.nodes) for k, operand in enumerate(node.operands)}
    producers = {node.output: v for v, node in enumerate(graph.nodes) if node.output is not None}
    read = [operand for node in graph.nodes for operand in node.operands if not isinstance(operand, ImmediateOperand)]
    expected = {*map(UseOperand, range(len(graph.uses))), *map(InputOperand, range(len(graph.inputs)))}
    written = [node.output for node in graph.nodes if node.output is not None]
    # Operands name uses, so that uses need not name operands: each must be named exactly once.
    if len(read) != len(expected) or set(read) != expected or sorted(written) != list(range(len(graph.outputs))):
        raise binary.format_error(at, "uses, inputs and outputs do not belong to one operand or result each")
    # What follows from the nodes is not stored twice; here it is put back.
    return replace(
        graph,
        uses=tuple(
            replace(use, consumer=places[UseOperand(u)][0], position=places[UseOperand(u)][1])
            for u, use in enumerate(graph.uses)
        ),
        inputs=tuple(InputUse(*places[InputOperand(n)], one.access) for n, one in enumerate(graph.inputs)),
        outputs=tuple(OutputUse(producers[n], one.access) for n, one in enumerate(graph.outputs)),
    )


def _names(symbolic: Symbolic) -> Iterable[str]:
    return (
        symbolic.kernel,
        symbolic.machine,
        symbolic.program,
        *symbolic.limits.units,
        *symbolic.parameters,
        *symbolic.dimensions,
        *(array.name for array in symbolic.arrays),
        *symbolic.node_names,
        *(bottleneck.bound_by for bottleneck in symbolic.bottlenecks),
    )


def encode(symbolic: Symbolic) -> bytes:
    """File of a symbolic configuration; the constraints of a conjunction are sorted. Errors: PL0706 when a value does
    not fit.
    """
    s = symbolic
    sizes = _Sizes(len(s.parameters), len(s.dimensions), len(s.arrays), len(s.nodes), len(s.limits.units))
    # Sections are encoded in the order of the file, because each may add rows to the pool.
    graph = _Graph(s.nodes, s.uses, s.inputs, s.outputs)
    rows = list(s.constraints)
    row = pool_reference(rows, "the number of a row", natural)
    sets = section(_sets(sizes, row), _Sets(s.assumptions, s.extents, s.arrays))
    nodes = section(_graph(sizes, len(s.conditions), s.arrays, row), graph)
    schedules = section(_schedules(sizes, row), tuple(zip(s.schedules, s.bottlenecks, strict=True)))
    table = counted_list(_row(sizes), natural("the number of rows"))
    return binary.pack(
        KIND,
        s.machine_hash,
        (
            section(_sizes, sizes) + section(_limits(()), s.limits),
            section(table, s.constraints)
            + section(table, tuple(rows[len(s.constraints) :]))
            + section(_conditions(len(s.constraints)), s.conditions)
            + sets,
            nodes,
            schedules,
            section(_candidates(sizes, graph, len(s.schedules)), s.candidates),
            b"".join(section(text, name) for name in _names(s))
            + section(provenance_table.codec(sizes.nodes), s.origins),
        ),
    )


def decode(data: bytes) -> Symbolic:
    """Symbolic configuration in `data`, which is exactly what `encode` makes of it. Errors: PL0701 to PL0705 (exit
    1)."""
    stamp, (head, set_reader, graph_reader, schedule_reader, candidate_reader, name_reader) = binary.unpack(KIND, data)
    sizes = _sizes.read(head)

    def names(count: int) -> tuple[str, ...]:
        return fixed_list(text, count).read(name_reader)

    (kernel, machine, program), units, parameters, dimensions = (
        names(3),
        names(sizes.units),
        names(sizes.parameters),
        names(sizes.dimensions),
    )
    array_names, node_names = names(sizes.arrays), names(sizes.nodes)
    limits = _limits(units).read(head)
    table = counted_list(_row(sizes), natural("the number of rows"))
    constraints = table.read(set_reader)
    # Rows of conditions come first in the pool: conjunctions are masks over these alone.
    row = pool_reference([*constraints, *table.read(set_reader)], "the number of a row", natural)
    conditions = _conditions(len(constraints)).read(set_reader)
    sets = _sets(sizes, row).read(set_reader)
    graph = _resolve_uses(_graph(sizes, len(conditions), sets.arrays, row).read(graph_reader), graph_reader.position)
    schedules = _schedules(sizes, row).read(schedule_reader)
    if not dimensions or not schedules or not all(schedule.initiation_interval for schedule, _ in schedules):
        raise binary.format_error(
            schedule_reader.position, "there is no dimension, no schedule, or one with an initiation interval of 0"
        )
    _check_widths(limits, sets, graph.nodes, set_reader.position)
    _check_rare_pairs([schedule for schedule, _ in schedules], schedule_reader.position)
    _check_parametric(sets, set_reader.position)
    symbolic = Symbolic(
        kernel=kernel,
        machine=machine,
        program=program,
        machine_hash=stamp,
        limits=limits,
        parameters=parameters,
        dimensions=dimensions,
        assumptions=sets.assumptions,
        extents=sets.extents,
        arrays=tuple(replace(array, name=name) for array, name in zip(sets.arrays, array_names, strict=True)),
        constraints=constraints,
        conditions=conditions,
        nodes=graph.nodes,
        uses=graph.uses,
        inputs=graph.inputs,
        outputs=graph.outputs,
        schedules=tuple(schedule for schedule, _ in schedules),
        candidates=_candidates(sizes, graph, len(schedules)).read(candidate_reader),
        node_names=node_names,
        bottlenecks=tuple(replace(bottleneck, bound_by=names(1)[0]) for _, bottleneck in schedules),
        origins=provenance_table.codec(sizes.nodes).read(name_reader),
    )
    if not symbolic.candidates:
        raise binary.format_error(candidate_reader.position, "there is no candidate")
    binary.check_canonical(data, encode(symbolic))
    return symbolic


def _check_widths(limits: Limits, sets: _Sets, nodes: Iterable[Node], at: int) -> None:
    """PL0705 for an array or an operation of a type that is wider than words."""
    types = {a.dtype for a in sets.arrays} | {t for node in nodes for t in encoding.value_types(node.opcode)}
    if wide := next((t for t in ELEMENT_TYPES if t in types and WIDTH[t] > limits.word_bits), None):
        raise binary.format_error(at, f"there are values of {wide}, but words have {limits.word_bits} bits")


def _check_rare_pairs(schedules: Iterable[Schedule], at: int) -> None:
    """The differences of rare operations are enumerated as far as they hold their units (PL0705)."""
    nodes = ((s, v) for s in schedules for pair in s.apart for v in (pair.first, pair.second))
    # Enumerating the differences takes time in proportion to the latency: an altered file must not hang the reader.
    if any(s.latency[v] > _LONGEST for s, v in nodes):
        raise binary.format_error(at, f"a rare operation holds its unit for more than {_LONGEST} cycles")


def _check_parametric(sets: _Sets, at: int) -> None:
    """Domains, bounds and shapes depend on parameters alone: their rows have no dimensions (PL0705)."""
    pieces = [piece for extent in sets.extents for bounds in (extent.lower, extent.upper) for piece in bounds]
    rows = (
        *(row for piece in sets.assumptions for row in piece),
        *(row for piece in pieces for row in (*piece.guards, piece.numerator)),
        *(row for array in sets.arrays for row in array.shape),
    )
    if any(any(row.dims) for row in rows):
        raise binary.format_error(at, "a bound, a shape or the domain of the parameters depends on a loop dimension")


def size_without_names(data: bytes) -> int:
    """Bytes of the file before its names. Errors: PL0701 to PL0705."""
    return binary.size_without_names(data, KIND)
