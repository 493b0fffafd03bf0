# SPDX-License-Identifier: Apache-2.0
"""Listings of configurations in the notation of the array paper, and as plain data.

`show_symbolic` prints what Figure 3 and sections 5.1 to 5.6 print: schedules, and for every candidate its space-time
mapping, routes, polyhedral syntax tree and access mappings. `show_concrete` prints Figures 5, 7 and 8 and the programs
of section 6.3: processor classes with a label q1, q2, ... before each kernel class of pi instructions, the controller's
signals, wrappers and banks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, cast

from polyloom.sets import Affine
from polyloom.targets.tcpa.words import notation, operation_texts
from polyloom.targets.tcpa.words.concrete import Concrete, Generator, route_end
from polyloom.targets.tcpa.words.event_resolution import Known
from polyloom.targets.tcpa.words.isa import Immediate, Instruction
from polyloom.targets.tcpa.words.notation import sink_port, source_port, tile_symbol
from polyloom.targets.tcpa.words.sides import LOCATIONS, OPPOSITE
from polyloom.targets.tcpa.words.symbolic import Access, Bound, Candidate, Route, Symbolic
from polyloom.targets.tcpa.words.symbolic_timing import Polynomial, Timing, derive_timing
from polyloom.targets.tcpa.words.syntax_tree import InstructionNode, Leaf, Position, build_tree


def _indent(lines: Iterable[str], by: int = 2) -> list[str]:
    return [" " * by + line for line in lines]


def show_symbolic(symbolic: Symbolic) -> str:
    """Listing of a symbolic configuration (the array paper, sections 5.1 to 5.6)."""
    lines = [
        f"symbolic configuration of {symbolic.kernel} for {symbolic.machine} ({symbolic.machine_hash:016x})",
        f"parameters: {', '.join(symbolic.parameters) or 'none'} with {_assumptions(symbolic)}",
        "iteration space:",
        *_indent(
            f"{_extent(e.lower, symbolic)} <= {d} <= {_extent(e.upper, symbolic)}"
            for d, e in zip(symbolic.dimensions, symbolic.extents, strict=True)
        ),
        "arrays:",
        *_indent(_array(symbolic, n) for n in range(len(symbolic.arrays))),
    ]
    for n, bottleneck in enumerate(symbolic.bottlenecks):
        proof = "proved minimal" if bottleneck.proved else f"at least {bottleneck.minimum}"
        lines += [
            f"schedule {n}: pi = {symbolic.schedules[n].initiation_interval}, {proof}: {bottleneck.bound_by}",
            *_indent(_schedule(symbolic, n)),
            *_indent(_rare(symbolic, n)),
        ]
    for n in range(len(symbolic.candidates)):
        lines += _candidate(symbolic, n)
    return "\n".join(lines)


def _assumptions(symbolic: Symbolic) -> str:
    pieces = [
        notation.conjunction((notation.affine(r, symbolic.dimensions, symbolic.parameters) for r in piece), ())
        for piece in symbolic.assumptions
    ]
    return " or ".join(pieces) or "false"


def _extent(bounds: tuple[Bound, ...], symbolic: Symbolic) -> str:
    """`floor(value)` pieces; the guard of a single piece only says that the space is not empty."""

    def text(bound: Bound) -> str:
        # Bounds have no dimensions; these are passed because rows always have full length.
        value = str(notation.affine(bound.numerator, symbolic.dimensions, symbolic.parameters))
        return value if bound.denominator == 1 else f"floor(({value})/{bound.denominator})"

    if len(bounds) == 1:
        return text(bounds[0])
    guards = [
        notation.conjunction((notation.affine(g, symbolic.dimensions, symbolic.parameters) for g in b.guards), ())
        for b in bounds
    ]
    return "{" + "; ".join(f"{text(b)} if {g}" for b, g in zip(bounds, guards, strict=True)) + "}"


def _array(symbolic: Symbolic, number: int) -> str:
    array = symbolic.arrays[number]
    shape = "".join(f"[{notation.affine(row, symbolic.dimensions, symbolic.parameters)}]" for row in array.shape)
    return f"{array.name}{shape}: {array.dtype}, {'output' if array.is_output else 'input'}"


def _schedule(symbolic: Symbolic, number: int) -> list[str]:
    schedule = symbolic.schedules[number]
    table = [("node", "unit", "tau", "latency", "operation", "condition")]
    for v, node in enumerate(symbolic.nodes):
        operation = notation.mnemonic(node.opcode, False)
        place = (symbolic.limits.units[schedule.unit[v]], str(schedule.tau[v]), str(schedule.latency[v]))
        table.append(
            (
                symbolic.node_names[v],
                *place,
                operation,
                " or ".join(_braces(notation.condition(symbolic, node.condition))) + _origin(symbolic, (v,)),
            )
        )
    widths = [max(len(row[c]) for row in table) for c in range(5)]
    return ["  ".join((*(cell.ljust(w) for cell, w in zip(row, widths, strict=False)), row[5])) for row in table]


def _origin(symbolic: Symbolic, nodes: Iterable[int]) -> str:
    """A comment: where these operations come from."""
    places = operation_texts.provenance_text([symbolic.origins[v] for v in nodes]) if symbolic.origins else ""
    return f"  ; {places}" if places else ""


def _rare(symbolic: Symbolic, number: int) -> list[str]:
    """The operations that do not reserve their unit, and the differences between their iterations."""
    found: list[str] = []
    for pair in symbolic.schedules[number].apart:
        pieces = [
            notation.conjunction((notation.affine(r, symbolic.dimensions, symbolic.parameters) for r in piece), ())
            for piece in pair.where
        ]
        names = " and ".join(dict.fromkeys(symbolic.node_names[v] for v in (pair.first, pair.second)))
        found.append(f"rare: {names}, in iterations that differ by {' or '.join(_braces(pieces))}")
    return found


def _braces(pieces: Iterable[str]) -> list[str]:
    return ["{" + piece + "}" for piece in pieces] or ["{}"]


def _candidate(symbolic: Symbolic, number: int) -> list[str]:
    candidate = symbolic.candidates[number]
    allocation = [
        f"{axis} = {symbolic.dimensions[m]}"
        for axis, m in (("rows", candidate.rows), ("columns", candidate.columns))
        if m is not None
    ]
    scan = ", ".join(symbolic.dimensions[m] + (" downwards" if candidate.reflected[m] else "") for m in candidate.order)
    return [
        f"candidate {number}: {', '.join(allocation) or 'one element'}; scan {scan} (innermost first); schedule "
        f"{candidate.schedule}",
        *_indent(_tiling(symbolic, candidate)),
        *_indent(_timing(symbolic, candidate, derive_timing(symbolic, candidate))),
        *_indent(_routes(candidate)),
        *_indent(_tree(symbolic, number)),
        *_indent(_access_mappings(symbolic, candidate)),
    ]


def _tiling(symbolic: Symbolic, candidate: Candidate) -> list[str]:
    """Tiling (the array paper, section 5.1): I in terms of position j within tile k, as counted from the end where the
    scan goes downwards.
    """
    texts: list[str] = []
    for m, name in enumerate(symbolic.dimensions):
        j, k, p = (tile_symbol(letter, m, symbolic.dimensions) for letter in "jkp")
        position = f"{p}*{k} + {j}" if m in (candidate.rows, candidate.columns) else j
        lower, upper = _extent(symbolic.extents[m].lower, symbolic), _extent(symbolic.extents[m].upper, symbolic)
        texts.append(
            f"{name} = {upper} - ({position})"
            if candidate.reflected[m]
            else f"{name} = {position}" + (f" + {lower}" if lower != "0" else "")
        )
    return ["tiling: " + ", ".join(texts)]


def _timing(symbolic: Symbolic, candidate: Candidate, times: Timing) -> list[str]:
    """Schedule vectors and latency (the array paper, section 5.2), with the names of dimensions in the place of their
    numbers.
    """
    names = symbolic.dimensions

    def text(value: Polynomial) -> str:
        return str(value.substitute(lambda s: Polynomial.symbol(tile_symbol("p", int(s[1:]), names))))

    lines = [
        "lambda_J: " + ", ".join(f"{name} = {text(factor)}" for name, factor in zip(names, times.lambda_j, strict=True))
    ]
    for (rows, columns), bounds in times.skew:
        terms = [(rows, "lambda_K_rows"), (columns, "lambda_K_columns")]
        left = Affine.from_terms({name: sign for sign, name in terms})
        lines.append(
            f"lambda_K: {left} >= " + (text(bounds[0]) if len(bounds) == 1 else f"max({', '.join(map(text, bounds))})")
        )
    allocated = [(axis, m) for axis, m in (("rows", candidate.rows), ("columns", candidate.columns)) if m is not None]
    wavefront = "".join(f"lambda_K_{axis}*({tile_symbol('t', m, names)} - 1) + " for axis, m in allocated)
    lines.append(f"latency: {wavefront}{text(times.tile)}")
    lines.append("valid: " + (" and ".join(f"{text(value)} >= 0" for value in times.valid) or "for all tile sizes"))
    return lines


def _routes(candidate: Candidate) -> list[str]:
    return [f"route {n}, displacement {route.displacement}: {_path(route)}" for n, route in enumerate(candidate.routes)]


def _path(route: Route) -> str:
    """The ports that a value passes (paper section 5.4), each sink port with its sibling behind it."""
    ports = [source_port("pe", route.output)]
    for hop in route.hops:
        ports += [sink_port(hop.location, hop.index), source_port(OPPOSITE[hop.location], hop.index)]
    return f"({', '.join((*ports, sink_port('pe', route.input)))})"


def _tree(symbolic: Symbolic, candidate: int) -> list[str]:
    """Polyhedral syntax tree (the array paper, section 5.5), with the levels of its example: unit, offset, instruction,
    operand.
    """
    lines = ["tree:"]
    for unit in build_tree(symbolic, candidate).units:
        lines.append(f"  {symbolic.limits.units[unit.unit]}")
        for offset in unit.offsets:
            lines.append(f"    tau {offset.tau}")
            for node in offset.instructions:
                lines += _indent(_instruction_node(symbolic, node), 6)
    return lines


def _instruction_node(symbolic: Symbolic, node: InstructionNode) -> list[str]:
    immediate = bool(node.sources) and all(isinstance(leaf.fragment, Immediate) for leaf in node.sources[-1])
    names = ", ".join(symbolic.node_names[v] for v in node.nodes)
    lines = [f"{notation.mnemonic(node.opcode, immediate)} ({names})"]
    sources = ["src"] if len(node.sources) == 1 else [f"src{'ABC'[k]}" for k in range(len(node.sources))]
    for label, number, position in (
        *(("dest", 0, position) for position in node.destinations),
        *zip(sources, range(len(sources)), node.sources, strict=True),
    ):
        lines += _position(symbolic, node.opcode, label, number, position)
    return lines


def _position(symbolic: Symbolic, opcode: int, label: str, number: int, position: Position) -> list[str]:
    texts = [
        (notation.fragment(leaf.fragment, opcode, number, writes=label == "dest"), _leaf(symbolic, leaf))
        for leaf in position
    ]
    width = max((len(name) for name, _ in texts), default=0)
    return [f"  {label if n == 0 else '':4}  {name.ljust(width)}  [{where}]" for n, (name, where) in enumerate(texts)]


def _leaf(symbolic: Symbolic, leaf: Leaf) -> str:
    texts: list[str] = []
    for piece in leaf.pieces:
        bounds = [notation.tile_bound(bound, symbolic.dimensions) for bound in piece.tile]
        conditions = notation.condition(symbolic, piece.condition)
        texts += _braces(
            " and ".join([text for text in (c, *bounds) if text != "true"] or ["true"]) for c in conditions
        )
    return " or ".join(dict.fromkeys(texts))


def _access_mappings(symbolic: Symbolic, candidate: Candidate) -> list[str]:
    """Access mappings (reg, x[index], space) of the array paper, section 5.6."""
    lines = ["access mappings:"]
    for register, read in zip(candidate.input_registers, symbolic.inputs, strict=True):
        lines.append(f"  (id{register}, {_accessed_banks(symbolic, read.access, read.consumer)})")
    for register, written in zip(candidate.output_registers, symbolic.outputs, strict=True):
        lines.append(f"  (od{register}, {_accessed_banks(symbolic, written.access, written.producer)})")
    return lines


def _accessed_banks(symbolic: Symbolic, access: Access, node: int) -> str:
    index = ", ".join(str(notation.affine(row, symbolic.dimensions, symbolic.parameters)) for row in access.index)
    space = " or ".join(_braces(notation.condition(symbolic, symbolic.nodes[node].condition)))
    return f"{symbolic.arrays[access.array].name}[{index}], {space}"


def show_concrete(concrete: Concrete, units: Sequence[str] = (), known: Known | None = None) -> str:
    """Listing of a concrete configuration (the array paper, Figures 5, 7 and 8). `units` are the names of the machine's
    functional units, if known, and `known` is what it was made of: then each instruction says where it comes from.
    """
    lines = [
        f"concrete configuration of {concrete.kernel} for {concrete.machine} ({concrete.machine_hash:016x})",
        f"{concrete.rows} x {concrete.columns} elements, pi = {concrete.initiation_interval}, "
        f"tile {' x '.join(map(str, concrete.extents))} ({', '.join(notation.digit_names(len(concrete.extents)))}; "
        "innermost first)",
        "arrays:",
        *_indent(
            f"{a.name}{''.join(f'[{n}]' for n in a.shape)}: {a.dtype}, {'output' if a.is_output else 'input'}"
            for a in concrete.arrays
        ),
    ]
    for n in range(len(concrete.classes)):
        lines += _class(concrete, n, units, known)
    return "\n".join(
        [
            *lines,
            *_controller(concrete),
            *_wrappers(concrete),
            "banks:",
            *_indent(_bank(concrete, g) for g in concrete.generators),
        ]
    )


def _elements(grid: tuple[tuple[int, ...], ...], number: int) -> str:
    """The elements with this number, one range of columns per row; rows with the same ranges together."""
    rows: dict[tuple[str, ...], list[int]] = {}
    for r, row in enumerate(grid):
        # Classes are mostly rectangles: rows that share their columns are one entry.
        rows.setdefault(tuple(_ranges([c for c, value in enumerate(row) if value == number])), []).append(r)
    return (
        "; ".join(
            f"rows {','.join(_ranges(at))} columns {','.join(columns)}" for columns, at in rows.items() if columns
        )
        or "none"
    )


def _ranges(numbers: Sequence[int]) -> list[str]:
    known = set(numbers)
    starts = [n for n in numbers if n - 1 not in known]
    ends = [n for n in numbers if n + 1 not in known]
    return [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]


def _class(concrete: Concrete, number: int, units: Sequence[str], known: Known | None) -> list[str]:
    one = concrete.classes[number]
    depths = [(f"fd{n}", d) for n, d in enumerate(one.feedback_depths)] + [
        (f"id{n}", d) for n, d in enumerate(one.input_depths)
    ]
    lines = [f"processor class P{number + 1}: {_elements(concrete.element_class, number)}"]
    lines += (
        [f"  depth: {', '.join(f'{name} {depth}' for name, depth in depths if depth)}"]
        if any(d for _, d in depths)
        else []
    )
    for unit, program in enumerate(one.programs):
        if program:
            lines += [
                f"  {units[unit] if unit < len(units) else f'unit {unit}'}:",
                *_indent(_program(program, concrete.initiation_interval, _comments(concrete, unit, known)), 4),
            ]
    return lines


Comment = Callable[[int, int], str]
"""Of an instruction: its slot and its opcode."""


def _comments(concrete: Concrete, unit: int, known: Known | None) -> Comment:
    if known is None:
        return lambda slot, opcode: ""
    nodes = operation_texts.nodes_by_slot(known.symbolic, known.schedule, concrete.initiation_interval)
    return lambda slot, opcode: _origin(known.symbolic, nodes.get((unit, slot, opcode), ()))


def _program(program: Sequence[Instruction], pi: int, comment: Comment) -> list[str]:
    """Section 6.3: a label at the first instruction of each kernel class."""
    # A malformed file may say 0, and is still listed.
    pi = max(pi, 1)

    def label(target: int) -> str:
        return f"q{target // pi + 1}" + (f"+{target % pi}" if target % pi else "")

    labels = [f"{label(n)}:" if n % pi == 0 else "" for n in range(len(program))]
    width = max(map(len, labels), default=0)
    return [
        f"{text.ljust(width)} {notation.instruction(i)} / {notation.branch(i.branch, label)}{comment(n % pi, i.opcode)}"
        for n, (text, i) in enumerate(zip(labels, program, strict=True))
    ]


def _controller(concrete: Concrete) -> list[str]:
    one = concrete.controller
    corner = f"{'south' if one.south else 'north'}-{'east' if one.east else 'west'}"
    lines = [
        f"global controller: {corner} corner, start {one.start}, {one.row_delay} cycles per row, "
        f"{one.column_delay} per column, {one.steps} steps"
    ]
    return lines + [
        f"  ic{n} = 1 iff {notation.domain(signal, concrete.extents)}" for n, signal in enumerate(one.signals)
    ]


def _wrappers(concrete: Concrete) -> list[str]:
    lines: list[str] = []
    for n, wrapper in enumerate(concrete.wrappers):
        lines.append(f"wrapper {n + 1}: {_elements(concrete.wrapper, n)}")
        lines += [
            f"  {source_port(LOCATIONS[c.source[0]], c.source[1])} -> {sink_port(LOCATIONS[c.sink[0]], c.sink[1])}"
            for c in wrapper
        ]
    return lines


def _bank(concrete: Concrete, generator: Generator) -> str:
    """Figure 8: when the bank is enabled and which element it accesses; of a multi-dimensional array, which word."""
    array = concrete.arrays[generator.array]
    line = "column" if generator.side in ("north", "south") else "row"
    names = notation.digit_names(len(concrete.extents))
    word = Affine.from_terms(dict(zip(names, generator.coefficients, strict=True)), generator.base)
    element = (
        array.name
        if not array.shape
        else f"{array.name}[{word}]"
        # One dimension, row by row: the word is the index; of several dimensions only the word is known here.
        if array.strides == (1,)
        else f"{array.name} word {word}"
    )
    when = notation.domain(generator.domain, concrete.extents)
    verb = "writes" if array.is_output else "reads"
    register = f"from od{generator.register}" if array.is_output else f"to id{generator.register}"
    row, column = route_end(concrete, generator)
    end = "" if not generator.links else f" of row {row}" if line == "column" else f" of column {column}"
    bank = f"{generator.side} {line} {generator.position} channel {generator.channel} {register}{end}"
    return f"{bank}: {verb} {element} when {when}, from cycle {generator.delay}"


def as_json(value: Any) -> Any:
    """JSON form of a configuration, or of any value within it, as dicts, lists, texts and numbers; a record says its
    `type`.
    """
    if isinstance(value, Enum):
        return value.name.lower()
    if is_dataclass(value):
        # Class and field names are the format's: renaming one changes what scripts read.
        return {"type": type(value).__name__} | {f.name: as_json(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, bytes):
        # The symbolic file inside has a listing of its own; its bytes would say nothing here.
        return {"bytes": len(value)}
    if isinstance(value, tuple | list):
        return [as_json(item) for item in cast("Sequence[Any]", value)]
    return value
