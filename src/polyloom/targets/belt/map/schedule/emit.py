# SPDX-License-Identifier: Apache-2.0
"""Code emission: placed operations as bundles; operands by position, drops counted, targets by the first bundle of a
block (docs/formats.md, Belt words)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from polyloom.ir.ssa import Place
from polyloom.targets.belt.isa import LANED, OPS, states_width
from polyloom.targets.belt.machine import Slot
from polyloom.targets.belt.map.schedule.graph import LOADS, Absent, Graph, Node, Read, Source
from polyloom.targets.belt.map.schedule.open_code import Code, Linear
from polyloom.targets.belt.map.schedule.origins import node_places
from polyloom.targets.belt.map.schedule.pipeline import Pipelined
from polyloom.targets.belt.map.schedule.prologue_passes import entry_values, frame_values
from polyloom.targets.belt.map.schedule.spill import frame_age
from polyloom.targets.belt.source.ir import Constant, Operand, Value
from polyloom.targets.belt.value_types import BYTES
from polyloom.targets.belt.words.program import NONE, Bundle, Immediate, Issue, Note
from polyloom.targets.belt.words.program import Belt as Position
from polyloom.targets.belt.words.program import Operand as Placed

Home = Callable[[str], int]
"""The byte of a value in scratch."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Bundles of a block; `links` are (bundle, slot) of what names another block."""

    bundles: tuple[Bundle, ...]
    links: Mapping[tuple[int, Slot], str]


def entry_belt(found: Pipelined) -> tuple[Operand | None, ...]:
    """Entry belt: what the belt must have as the loop begins, the first at b0: initial values, else None
    (docs/targets/belt.md, Loops)."""
    belt, graph = found.belt, found.belt.graph
    list_: list[Operand | None] = [None] * belt.entry_length()
    for (node, result), far in entry_values(graph).items():
        for j in range(1, far + 1):
            # Numbers below 0 dropped before the loop: -1 lies at b0 as it begins.
            number = belt.entry_number(Read(node, result, j))
            if number < 0 and -number <= len(list_):
                list_[-number - 1] = graph.start(node, result, j)
    return tuple(list_)


def entry_spills(found: Pipelined) -> tuple[tuple[int, Operand], ...]:
    """Initial frame contents (byte, value) that the head spills."""
    graph, placed = found.belt.graph, found.belt.placed
    list_: list[tuple[int, Operand]] = []
    for n, place in found.frames.places.items():
        source = next(iter(graph.nodes[n].reads))
        for j in range(1, frame_values(graph, n) + 1):
            # The frame in which iteration -j would have spilled, counted from the newest one as the loop is entered.
            frame = j - placed.stage(n) - 1
            start = graph.start(source.node, source.result, j)
            if 0 <= frame < found.frames.count and start is not None:
                list_.append((frame * found.frames.size + place, start))
    return tuple(list_)


def home_constants(found: Pipelined) -> tuple[tuple[Value, Constant], ...]:
    """Constants that the loop fills from scratch, with the names of their homes."""
    nodes = found.belt.graph.nodes
    return tuple(dict.fromkeys((n.home, n.constant) for n in nodes if n.home is not None and n.constant is not None))


def loop_piece(found: Pipelined, home: Home, place: Place) -> Piece:
    """Bundles of one pass of the loop at a place of the source."""
    belt, graph, placed = found.belt, found.belt.graph, found.belt.placed
    rows: list[list[tuple[Issue, Note]]] = [[] for _ in range(placed.interval)]
    links: dict[tuple[int, Slot], str] = {}
    places = node_places(graph, place)
    for n, node in enumerate(graph.nodes):
        row = placed.start[n] % placed.interval
        operands = [_operand(o, belt.positions.get((n, k), 0)) for k, o in enumerate(node.operands)]
        offset = node.offset
        if node.name == "spill":
            offset = found.frames.places[n]
        elif node.name == "fill":
            # Rotations have renamed the frame since: its byte counts from the newest one.
            offset = found.frames.size * frame_age(graph, placed, n) + found.frames.places[node.spill]
        elif node.home is not None:
            offset = home(node.home.name)
        rows[row].append(
            (
                _make_issue(graph, node, placed.slots[n], operands, offset, placed.latency[n]),
                _make_note(graph, node, placed.stage(n), places[n]),
            )
        )
        if node.edge is not None:
            links[row, placed.slots[n]] = node.edge.target
    # Without spills nothing rotates.
    bundles = [_bundle(row, belt.row_drops(k), k == 0 and found.frames.count > 0) for k, row in enumerate(rows)]
    return Piece(tuple(bundles), links)


def open_piece(code: Code, linear: Linear, home: Home, place: Place) -> Piece:
    """Bundles of a block outside of pipelined loops, at a place of the source."""
    graph, placed = code.graph, linear.placed
    places = node_places(graph, place)
    issued = [n for n in range(len(graph.nodes)) if linear.is_operation(n)]
    rows: list[list[tuple[Issue, Note]]] = [[] for _ in range(1 + max(placed.start[n] for n in issued))]
    links: dict[tuple[int, Slot], str] = {}
    for n in issued:
        node, row = graph.nodes[n], placed.start[n]
        operands = [_operand(o, linear.linear(code.entry, n, o) if isinstance(o, Read) else 0) for o in node.operands]
        offset = node.offset if node.home is None else home(node.home.name)
        issue = _make_issue(graph, node, placed.slots[n], operands, offset, placed.latency[n])
        rows[row].append((issue, _make_note(graph, node, None, places[n])))
        if node.edge is not None:
            links[row, placed.slots[n]] = node.edge.target
    return Piece(tuple(_bundle(row, linear.row_drops(k), False) for k, row in enumerate(rows)), links)


def link_blocks(piece: Piece, first: Mapping[str, int]) -> tuple[Bundle, ...]:
    """Link: bundles of a piece with the first bundles of blocks as targets."""
    return tuple(
        replace(
            bundle,
            issues=tuple(
                replace(issue, target=first[piece.links[k, issue.slot]]) if (k, issue.slot) in piece.links else issue
                for issue in bundle.issues
            ),
        )
        for k, bundle in enumerate(piece.bundles)
    )


def _bundle(row: Sequence[tuple[Issue, Note]], drops: int, rotate: bool) -> Bundle:
    """Bundle of a row, in the order of slots. Notes that say nothing are left out, as a listing does."""
    row = sorted(row, key=lambda item: item[0].slot.order)
    notes = tuple(n for _, n in row)
    return Bundle(tuple(i for i, _ in row), drops, rotate, notes if any(n != Note() for n in notes) else ())


def _operand(source: Source, position: int) -> Placed:
    match source:
        case Read():
            return Position(position)
        case Absent(width):
            return Position(NONE, width)
        case Immediate():
            return source


def _make_issue(graph: Graph, node: Node, slot: Slot, operands: Sequence[Placed], offset: int, delay: int) -> Issue:
    """Issue of a node: positions, width, lanes and fields of its word."""
    op = OPS[node.name]
    width = node.width if states_width(op) else None
    lanes = 1
    if node.name in LANED:
        read = next(iter(node.reads), None)
        is_spill = node.name in ("spill", "spillx")
        # A spill gives nothing: its lanes are those of what it reads.
        lanes = graph.type(read).lanes if is_spill and read is not None else node.results[0].type.lanes
    # Its node has the frames in fields that it needs for nothing else.
    if node.name == "scratchf":
        return Issue("scratchf", slot, offset=offset, frame=node.literal, frames=node.scale)
    return Issue(
        node.name,
        slot,
        tuple(operands),
        width,
        lanes,
        node.scale,
        offset,
        delay if node.name in LOADS else 0,
        node.literal % (1 << 8 * BYTES[width]) if node.name == "con" and width else 0,
        callee=node.callee,
    )


def _make_note(graph: Graph, node: Node, stage: int | None, place: Place) -> Note:
    operands = [_name(graph, o) for o in node.operands]
    while operands and not operands[-1]:
        operands.pop()
    return Note(tuple(operands), tuple(v.name for v in node.results), stage, replace(place, file=place.shown_file))


def _name(graph: Graph, source: Source) -> str:
    return graph.nodes[source.node].results[source.result].name if isinstance(source, Read) else ""
