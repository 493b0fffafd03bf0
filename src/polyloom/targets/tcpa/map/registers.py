# SPDX-License-Identifier: Apache-2.0
"""Register binding and propagation channels of a mapping (the array paper, sections 5.3 and 5.4).

What carries a use follows from its distance and slack: a general register if it is read in the iteration and within pi
cycles of its production, else a feedback FIFO within the tile and a channel to every neighbour that its distance
reaches. General registers are coloured as circular arcs modulo pi. Uses that exclude each other share FIFOs and
channels when they read at the same offset: the tokens are then read in the order in which they were written. An input
shares the input register of a channel to the same operand when no element ever receives from both, which is what keeps
processor classes few.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

from polyloom.ir.pla import Equation, Reference
from polyloom.ir.rdg import Graph
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import is_empty, parameter_set, polyhedron_to_set
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.allocate import Allocation, Order
from polyloom.targets.tcpa.map.channel_routing import Demand, check_routes, route
from polyloom.targets.tcpa.map.graph_colouring import Interval, check_colours, colour_intervals
from polyloom.targets.tcpa.map.register_demand import check_capacity
from polyloom.targets.tcpa.words.symbolic import Candidate, Kind, Link, Route, Schedule

Displacement = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Channel:
    """The tokens of a merged group of uses on their way to one neighbour."""

    group: int
    displacement: Displacement


def bind_registers(
    graph: Graph, machine: Machine, allocation: Allocation, order: Order, schedule: Schedule, number: int
) -> Candidate:
    """Register binding (the array paper, section 5.3): the candidate with its registers, routes and links; PL0403 to
    PL0406 and the router's errors where they run out.

    `number` is the index of `schedule` among the schedules of the configuration.
    """
    general = _color_general_registers(graph, machine, schedule)
    groups = _merge_fifos(graph, schedule, [n for n in range(len(graph.uses)) if n not in general])
    channels = [
        _Channel(g, delta)
        for g, uses in enumerate(groups)
        # Displacement (0, 0) is the feedback register of the same element; each of the others needs a channel.
        for delta in _displacements(graph.uses[uses[0]].distance, allocation, order)[1:]
    ]
    routes = _routes(graph, machine, groups, channels)
    member = {n: g for g, uses in enumerate(groups) for n in uses}
    check_capacity("PL0404", "feedback_registers", "feedback register", machine.feedback_registers, len(groups))
    links = tuple(
        (Link((0, 0), Kind.GENERAL, general[n]),)
        if n in general
        else (
            Link((0, 0), Kind.FEEDBACK, member[n]),
            *(Link(c.displacement, Kind.CHANNEL, k) for k, c in enumerate(channels) if c.group == member[n]),
        )
        for n in range(len(graph.uses))
    )
    # Outputs take od registers behind those of the channels: both leave the element through its output ports.
    outputs = tuple(e for e in graph.equations if _is_output(graph, e))
    first = 1 + max((r.output for r in routes), default=-1)
    check_capacity("PL0406", "output_registers", "output register", machine.output_registers, first + len(outputs))
    return Candidate(
        allocation.rows,
        allocation.columns,
        order.reflected,
        order.order,
        number,
        links,
        routes,
        _inputs(graph, machine, allocation, order, schedule, links, routes),
        tuple(range(first, first + len(outputs))),
    )


def feedback_demand(graph: Graph, schedule: Schedule) -> int:
    """Feedback register demand, equal for all candidates with this schedule (the array paper, section 5.3)."""
    general = _register_lifetimes(graph, schedule)[0]
    return len(_merge_fifos(graph, schedule, [n for n in range(len(graph.uses)) if n not in general]))


def input_operands(graph: Graph) -> Iterator[tuple[int, int, Reference]]:
    """(equation, operand position, reference) of every operand that reads an input, in order."""
    inputs = {a.name for a in graph.program.inputs}
    for v, e in enumerate(graph.equations):
        yield from ((v, k, o) for k, o in enumerate(e.operands) if isinstance(o, Reference) and o.name in inputs)


def _is_output(graph: Graph, equation: Equation) -> bool:
    return equation.target.name in {a.name for a in graph.program.outputs}


def _result_offset(schedule: Schedule, node: int) -> int:
    return schedule.tau[node] + schedule.latency[node]


def _register_lifetimes(graph: Graph, schedule: Schedule) -> tuple[dict[int, str], dict[str, Interval]]:
    """Lifetimes in general registers: the uses that one can carry, with their variables, and the circular arcs of these
    (the array paper, section 5.3).
    """
    period = schedule.initiation_interval
    arcs: dict[str, Interval] = {}
    carried: dict[int, str] = {}
    for n, use in enumerate(graph.uses):
        if use.is_local and use.writers:
            ready, read = _result_offset(schedule, use.writers[0].node), schedule.tau[use.consumer]
            # One register holds a value for less than one interval: afterwards the next iteration's value is written.
            # Longer lives need a FIFO.
            if read - ready < period:
                before = arcs.get(use.variable)
                arcs[use.variable] = Interval(ready, max(read, before.last) if before else read)
                carried[n] = use.variable
    return carried, arcs


def _color_general_registers(graph: Graph, machine: Machine, schedule: Schedule) -> dict[int, int]:
    """Colouring of general registers: the register of every use that one can carry. PL0403 where they run out."""
    period = schedule.initiation_interval
    carried, arcs = _register_lifetimes(graph, schedule)
    names = list(arcs)
    intervals = tuple(arcs.values())
    writers = [graph.variable_writers(name) for name in names] if graph.exclusive else []
    pairs = combinations(range(len(writers)), 2)
    compatible = frozenset((a, b) for a, b in pairs if _exclude_values(graph, writers, intervals, a, b, period))
    colours, _ = colour_intervals(intervals, period, compatible)
    check_colours(intervals, period, compatible, colours)
    check_capacity(
        "PL0403", "general_registers", "general register", machine.general_registers, 1 + max(colours, default=-1)
    )
    return {n: colours[names.index(variable)] for n, variable in carried.items()}


def _exclude_values(
    graph: Graph, writers: list[tuple[int, ...]], arcs: tuple[Interval, ...], a: int, b: int, period: int
) -> bool:
    """Whether the values that `writers` produce are of iterations that exclude each other, and do not meet those of
    earlier or later ones."""
    one, other = arcs[a], arcs[b]
    # An arc that reaches into the next iteration could meet a value of an iteration that is not the same one.
    if one.last >= other.ready + period or other.last >= one.ready + period:
        return False
    return all(graph.is_exclusive_pair(v, w) for v in writers[a] for w in writers[b])


def _merge_fifos(graph: Graph, schedule: Schedule, uses: list[int]) -> list[list[int]]:
    """FIFO sharing: groups of uses of the same variable, distance and offset whose consumers exclude each other."""
    groups: list[list[int]] = []
    for n in uses:
        use = graph.uses[n]
        for group in groups:
            others = [graph.uses[m] for m in group]
            # Exclusive consumers at one offset pop in turns: their tokens arrive in scan order in one FIFO.
            same = others[0].variable == use.variable and others[0].distance == use.distance
            if same and all(
                schedule.tau[o.consumer] == schedule.tau[use.consumer]
                and graph.is_exclusive_pair(o.consumer, use.consumer)
                for o in others
            ):
                group.append(n)
                break
        else:
            groups.append([n])
    return groups


def _displacements(distance: tuple[int, ...], allocation: Allocation, order: Order) -> list[Displacement]:
    """Processor displacements Delta(d) (the array paper, section 5.1): where a value may travel, as (rows, columns),
    (0, 0) first, diagonals last.
    """

    def steps(m: int | None) -> tuple[int, ...]:
        if m is None or not distance[m]:
            return (0,)
        return (0, 1) if (distance[m] > 0) != order.reflected[m] else (0, -1)

    return sorted(
        product(steps(allocation.rows), steps(allocation.columns)), key=lambda s: (abs(s[0]) + abs(s[1]), abs(s[0]))
    )


def _routes(graph: Graph, machine: Machine, groups: list[list[int]], channels: list[_Channel]) -> tuple[Route, ...]:
    """Propagation channels, one route each (the array paper, section 5.4); same value, distance, producers and
    displacement mean the same tokens.
    """
    values: dict[object, int] = {}
    demands: list[Demand] = []
    for channel in channels:
        uses = [graph.uses[n] for n in groups[channel.group]]
        # Same tokens, hence one value for the router: their paths may share a prefix (ARCHITECTURE, on section 5.4).
        key = (uses[0].variable, uses[0].distance, frozenset(w for u in uses for w in u.writers), channel.displacement)
        demands.append(Demand(channel.displacement, values.setdefault(key, len(values))))
    routes = route(machine, tuple(demands))
    check_routes(machine, tuple(demands), routes)
    return routes


def _inputs(
    graph: Graph,
    machine: Machine,
    allocation: Allocation,
    order: Order,
    schedule: Schedule,
    links: tuple[tuple[Link, ...], ...],
    routes: tuple[Route, ...],
) -> tuple[int, ...]:
    """Input registers of all input operands: that of a channel to the same operand slot (the array paper, Figure 3), or
    one of its own.
    """
    registers: list[int] = []
    used = {r.input for r in routes}
    shared: set[int] = set()
    for v, position, _ in input_operands(graph):
        slot = (schedule.unit[v], schedule.tau[v], position)
        fitting = (
            routes[link.register].input
            for n, use in enumerate(graph.uses)
            if (schedule.unit[use.consumer], schedule.tau[use.consumer], use.position) == slot
            for link in links[n]
            if link.kind is Kind.CHANNEL
            and routes[link.register].input not in shared
            and _can_share_input(graph, allocation, order, v, link.register, links)
        )
        register = next(fitting, None)
        if register is None:
            register = next(n for n in range(len(used) + 1) if n not in used)
        used.add(register)
        # An input operand that takes the register of a channel makes the classes of border and inner elements alike
        # (Figure 3: one id0 for both).
        shared.add(register)
        registers.append(register)
    check_capacity("PL0405", "input_registers", "input register", machine.input_registers, len(used))
    return tuple(registers)


def _can_share_input(
    graph: Graph, allocation: Allocation, order: Order, reader: int, channel: int, links: tuple[tuple[Link, ...], ...]
) -> bool:
    """Disjointness: whether no tile has both an iteration of equation `reader` and one that receives over the route
    `channel`.
    """
    return all(
        _is_disjoint_use(graph, allocation, order, reader, n, link.displacement)
        for n, carried in enumerate(links)
        for link in carried
        if link.kind is Kind.CHANNEL and link.register == channel
    )


def _is_disjoint_use(
    graph: Graph, allocation: Allocation, order: Order, reader: int, n: int, displacement: Displacement
) -> bool:
    """Disjointness for one use, as emptiness of a polyhedron. A tile is any box: its origin and size are variables of
    the question.
    """
    program, use = graph.program, graph.uses[n]
    first, second = _Copy("'"), _Copy('"')
    constraints: list[Affine] = []
    boxes: list[str] = []
    for m, theta in ((allocation.rows, displacement[0]), (allocation.columns, displacement[1])):
        if m is None:
            continue
        sign = -1 if order.reflected[m] else 1
        origin, size = Affine.symbol(f"origin of {m}"), Affine.symbol(f"size of {m}")
        boxes += [f"origin of {m}", f"size of {m}"]
        x, y = (Affine.symbol(c.name(program.dimensions[m])) * sign for c in (first, second))
        d = use.distance[m] * sign
        constraints += [x - origin, origin + size - x - 1, y - origin, origin + size - y - 1, size - max(1, abs(d))]
        # Where the value was produced, in the coordinates of the reader's tile.
        source = y - d
        inside = [source - origin, origin + size - source - 1]
        # The source lies before the tile, or behind it.
        outside = origin - source - 1 if d > 0 else source - origin - size
        constraints += [outside] if theta else inside
    names = [c.name(d) for c in (first, second) for d in program.dimensions] + boxes
    domain = parameter_set(program.assumptions, program.parameters)
    produced = Condition(tuple(p for w in use.writers for p in w.condition.pieces))
    shift = {d: Affine.symbol(second.name(d)) - c for d, c in zip(program.dimensions, use.distance, strict=True)}
    here = {d: Affine.symbol(first.name(d)) for d in program.dimensions}
    return all(
        is_empty(
            polyhedron_to_set(Polyhedron((*a, *b, *constraints)), names, program.parameters).intersect_params(domain)
        )
        for a in _substitute(graph.equations[reader].condition, here)
        for b in _substitute(produced, shift)
    )


@dataclass(frozen=True, slots=True)
class _Copy:
    """One of two iterations of the same space."""

    suffix: str

    def name(self, dimension: str) -> str:
        return dimension + self.suffix


def _substitute(condition: Condition, values: dict[str, Affine]) -> Iterator[tuple[Affine, ...]]:
    return (tuple(c.substitute(values) for c in p.constraints) for p in condition.pieces)
