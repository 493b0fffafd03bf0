# SPDX-License-Identifier: Apache-2.0
"""Routing of propagation channels: node-disjoint paths of exact displacement on the reduced topology graph (the array
paper, section 5.4, Figure 4).

The interconnect is homogeneous, so one template of a route stands for all its copies, and one wrapper's ports for all
wrappers': what leaves through sink port east c arrives in the next wrapper at source port west c. No port carries two
values. Demands with equal values share their output port and may share a prefix of the path, for a source port may
drive several sink ports. All demands are routed at once with CP-SAT: least ports in use, then east-west hops before
north-south ones, then low indices, the first demands first. Without adjacency restrictions a detour never helps and any
channel is as good as any other, so the search tries only shortest paths and as many channels as there are demands.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, pairwise, product
from typing import Literal, TypeAlias

from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError, infeasible
from polyloom.modulo.cp_sat import cp_model, solver
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.words.sides import OPPOSITE
from polyloom.targets.tcpa.words.symbolic import Port, Route

Side = Literal["east", "west", "south", "north"]
Location = Literal["pe", "east", "west", "south", "north"]
SIDES: tuple[Side, ...] = ("east", "west", "south", "north")
STEP: Mapping[str, tuple[int, int]] = {"east": (0, 1), "west": (0, -1), "south": (1, 0), "north": (-1, 0)}
"""Displacement (rows, columns) of the wrapper that a sink port of this side leads to;"""
DETOURS = (0, 2, 4)
"""Hops beyond the displacement where adjacency is restricted; the first number that does is kept."""
EFFORT = 2.0
"""Deterministic effort of the search, in CP-SAT's unit (about a second)."""


@dataclass(frozen=True, slots=True)
class Demand:
    """Routing demand: a value to carry to the element at `displacement` (rows, columns), components in -1..1, not both
    0.

    Demands with equal `value` carry the same tokens in the same iterations: they leave by one output port and may share
    a prefix of their paths (the relaxation of the array paper, section 5.4).
    """

    displacement: tuple[int, int]
    value: int


def route(machine: Machine, demands: tuple[Demand, ...]) -> tuple[Route, ...]:
    """Channel routing (the array paper, section 5.4): one route per demand, checked. Exit 3 names what is short: PL0460
    output registers, PL0461 input registers, PL0462 channels, PL0463 adjacency.
    """
    if any(d.displacement == (0, 0) or max(map(abs, d.displacement)) > 1 for d in demands):
        raise ValueError("a displacement reaches beyond the neighbouring elements")
    values = len({d.value for d in demands})
    _check_capacity("PL0460", "output_registers", "output register", machine.output_registers, values)
    _check_capacity("PL0461", "input_registers", "input register", machine.input_registers, len(demands))
    routes = _search(machine, demands) if demands else ()
    if routes is None:
        raise _explain_failure(machine, demands)
    check_routes(machine, demands, routes)
    return routes


def _check_capacity(code: str, field: str, noun: str, have: int | None, need: int) -> None:
    if have is not None and have < need:
        message = f"propagation channels need {_count(need, noun)} per element, the machine has {have}"
        raise infeasible(
            code, message, help=f"set {field} = {need} or more in the machine description ({need - have} more)"
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"


def _explain_failure(machine: Machine, demands: tuple[Demand, ...]) -> PolyloomError:
    """Why no routes exist: too few channels even with every connection, or connections that the adjacency lacks."""
    # If even a full crossbar is not enough, channels are short; if it is, some pair of the adjacency is missing.
    free = replace(machine, adjacency=None)
    if machine.channels is not None and _search(free, demands) is None:
        need = next(
            c
            for c in range(machine.channels + 1, len(demands) + 1)
            if _search(replace(free, channels=c), demands) is not None
        )
        message = f"propagation channels need {_count(need, 'channel')} per side, the machine has {machine.channels}"
        help = f"set channels = {need} or more in the machine description ({need - machine.channels} more)"
        return infeasible("PL0462", message, notes=tuple(_crossings(demands)), help=help)
    routes = _search(machine, demands, may_connect=True) or ()
    missing = sorted({pair for r in routes for pair in _connections(r) if not _adjacent(machine, *pair)}, key=str)
    lone = [d for d in demands if _search(machine, (d,)) is None]
    what = (
        f"a value to the element {_direction(lone[0])}"
        if lone
        else f"{_count(len(demands), 'value')} to neighbours at once"
    )
    pairs = ", ".join(f"({_name(source)}, {_name(sink)})" for source, sink in missing)
    return infeasible(
        "PL0463",
        f"the wrapper's adjacency has no path for {what}",
        help=f"add {pairs} to adjacency in the machine description",
    )


def _crossings(demands: tuple[Demand, ...]) -> Iterator[str]:
    for side, (rows, columns) in STEP.items():
        if passing := sum(rows * d.displacement[0] + columns * d.displacement[1] > 0 for d in demands):
            yield f"{_count(passing, 'value')} must pass {side}"


def _direction(demand: Demand) -> str:
    rows, columns = demand.displacement
    return " and ".join(
        f"one step {side}" for side, (r, c) in STEP.items() if (r and r == rows) or (c and c == columns)
    )


def _name(port: Port) -> str:
    return f"{port.location}{port.index}"


def _sibling_port(port: Port) -> Port:
    """Sibling of a sink port: the source port of the next wrapper that it is connected to (the array paper, section
    3.1).
    """
    return Port(OPPOSITE[port.location], port.index)


def _connections(r: Route) -> list[tuple[Port, Port]]:
    """The (source port, sink port) pairs that a route connects, in the order of the wrappers that it passes."""
    return list(zip([Port("pe", r.output), *map(_sibling_port, r.hops)], [*r.hops, Port("pe", r.input)], strict=True))


def _adjacent(machine: Machine, source: Port, sink: Port) -> bool:
    return machine.adjacency is None or (_name(source), _name(sink)) in _pairs(machine.adjacency)


@lru_cache(maxsize=4)
def _pairs(adjacency: tuple[tuple[str, str], ...]) -> frozenset[tuple[str, str]]:
    return frozenset(adjacency)


Level: TypeAlias = "dict[Port, cp_model.IntVar]"
"""The literals of one step of a path, one per port."""


@dataclass(frozen=True, slots=True)
class _Path:
    """One demand's literals: od, then hops (keyed by sink port; the last ones may stay empty), then id."""

    output: Level
    hops: tuple[Level, ...]
    input: Level


def _search(machine: Machine, demands: tuple[Demand, ...], *, may_connect: bool = False) -> tuple[Route, ...] | None:
    """The best routes or None; `may_connect` allows connections that the adjacency lacks, as few as possible."""
    detours = (0,) if machine.adjacency is None or may_connect else DETOURS
    found = (_attempt(machine, demands, detour, may_connect) for detour in detours)
    return next((routes for routes in found if routes is not None), None)


def _attempt(machine: Machine, demands: tuple[Demand, ...], detour: int, may_connect: bool) -> tuple[Route, ...] | None:
    model = cp_model.CpModel()
    restricted = machine.adjacency is not None
    # With an adjacency, a port's index decides what it connects to, so that every port has to be in the model.
    paths = _paths(model, machine, demands, detour, every=restricted)
    for demand, path in zip(demands, paths, strict=True):
        _constrain_displacement(model, demand, path)
    _constrain_disjointness(model, demands, paths)
    missing: dict[tuple[Port, Port], cp_model.IntVar] = {}
    for path in paths if restricted else ():
        _constrain_adjacency(model, machine, path, missing if may_connect else None)
    if not restricted:
        _break_symmetry(model, demands, paths)
    in_use, penalties = _cost_terms(model, demands, paths)
    port = 1 + sum(penalty for penalty, _ in penalties)
    # Lexicographic weights: one missing connection outweighs all ports, one port all penalties.
    connection = port * (1 + len(in_use))
    weighted = [*((connection, m) for m in missing.values()), *((port, p) for p in in_use), *penalties]
    model.minimize(sum(weight * literal for weight, literal in weighted))
    search = solver(EFFORT)
    status = search.solve(model)
    if status == cp_model.INFEASIBLE:
        return None
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise infeasible(
            "PL0464",
            "the search for propagation channels gave up",
            help="list fewer adjacency pairs, or none, in the machine description",
        )
    return tuple(_read_route(search, d, p) for d, p in zip(demands, paths, strict=True))


def _paths(
    model: cp_model.CpModel, machine: Machine, demands: tuple[Demand, ...], detour: int, *, every: bool
) -> list[_Path]:
    def level(name: str, locations: Iterable[Location], have: int | None) -> Level:
        # More channels than demands are only worth looking at where adjacency makes them differ.
        count = len(demands) if have is None else have if every else min(have, len(demands))
        return {Port(where, n): model.new_bool_var(f"{name} {where}{n}") for where in locations for n in range(count)}

    outputs = {d.value: level(f"value {d.value} output", ("pe",), machine.output_registers) for d in demands}
    for literals in outputs.values():
        model.add_exactly_one(literals.values())
    paths: list[_Path] = []
    for k, demand in enumerate(demands):
        hops = sum(map(abs, demand.displacement)) + detour
        steps = tuple(level(f"demand {k} hop {s}", SIDES, machine.channels) for s in range(hops))
        paths.append(_Path(outputs[demand.value], steps, level(f"demand {k} input", ("pe",), machine.input_registers)))
    return paths


def _constrain_displacement(model: cp_model.CpModel, demand: Demand, path: _Path) -> None:
    """Path constraints: one port per step, no step after an empty one, no port twice, and the steps sum to the
    displacement.
    """
    model.add_exactly_one(path.input.values())
    for axis in (0, 1):
        model.add(
            sum(STEP[p.location][axis] * literal for hop in path.hops for p, literal in hop.items())
            == demand.displacement[axis]
        )
    for hop in path.hops:
        model.add_at_most_one(hop.values())
    for hop, after in pairwise(path.hops):
        # Empty steps only at the end, so that a path is a prefix of its steps.
        model.add(sum(hop.values()) >= sum(after.values()))
    for port in path.hops[0]:
        model.add_at_most_one(hop[port] for hop in path.hops)


def _constrain_disjointness(model: cp_model.CpModel, demands: tuple[Demand, ...], paths: list[_Path]) -> None:
    """Node-disjointness, but for common prefixes of equal values (the array paper, section 5.4)."""
    for port in paths[0].input:
        model.add_at_most_one(path.input[port] for path in paths)
    outputs = {d.value: p.output for d, p in zip(demands, paths, strict=True)}
    for port in paths[0].output:
        model.add_at_most_one(output[port] for output in outputs.values())
    for (one, path), (other, rival) in combinations(zip(demands, paths, strict=True), 2):
        for (s, hop), (t, step) in product(enumerate(path.hops), enumerate(rival.hops)):
            for port in hop:
                # Equal values may use one port at the same step, behind the same ports: a common prefix.
                if one.value != other.value or s != t:
                    model.add_at_most_one(hop[port], step[port])
                elif s > 0:
                    for before, literal in path.hops[s - 1].items():
                        model.add_bool_or(
                            hop[port].negated(), step[port].negated(), literal.negated(), rival.hops[s - 1][before]
                        )


def _constrain_adjacency(
    model: cp_model.CpModel, machine: Machine, path: _Path, missing: dict[tuple[Port, Port], cp_model.IntVar] | None
) -> None:
    """Adjacency constraints (the array paper, section 3.1): consecutive ports are adjacent; or else, when `missing` is
    given, counted there.
    """
    for n, level in enumerate((path.output, *path.hops)):
        sources = {_sibling_port(port) if n else port: literal for port, literal in level.items()}
        after = path.hops[n] if n < len(path.hops) else {}
        ends_here = sum(level.values()) - sum(after.values())
        sinks = [*after.items(), *((port, literal + ends_here - 1) for port, literal in path.input.items())]
        for sink, needed in sinks:
            # A port may end here or go on; either way the connection that it makes must exist.
            usable = {
                source: literal
                for source, literal in sources.items()
                if missing is not None or _adjacent(machine, source, sink)
            }
            model.add(sum(usable.values()) >= needed)
            for source, literal in usable.items():
                if missing is not None and not _adjacent(machine, source, sink):
                    # One literal per pair, however many paths would use it.
                    lacking = missing.setdefault((source, sink), model.new_bool_var(f"{_name(source)}-{_name(sink)}"))
                    model.add(lacking >= literal + needed - 1)


def _break_symmetry(model: cp_model.CpModel, demands: tuple[Demand, ...], paths: list[_Path]) -> None:
    """Symmetry breaking: where ports are interchangeable, values and inputs take them in the order of the demands."""
    rank = {value: n for n, value in enumerate(dict.fromkeys(d.value for d in demands))}
    for k, (demand, path) in enumerate(zip(demands, paths, strict=True)):
        model.add(path.output[Port("pe", rank[demand.value])] == 1)
        model.add(path.input[Port("pe", k)] == 1)
    by_rank = sorted(zip(demands, paths, strict=True), key=lambda pair: rank[pair[0].value])
    for (one, path), (other, rival) in combinations(by_rank, 2):
        for side in SIDES if one.value != other.value else ():
            mine, theirs = _side_literals(side, path), _side_literals(side, rival)
            for index in sorted({n for n, _ in mine}):
                model.add_at_most_one(
                    [*(lit for n, lit in mine if n >= index), *(lit for n, lit in theirs if n <= index)]
                )


def _side_literals(side: Side, path: _Path) -> list[tuple[int, cp_model.IntVar]]:
    return [(port.index, literal) for hop in path.hops for port, literal in hop.items() if port.location == side]


def _cost_terms(
    model: cp_model.CpModel, demands: tuple[Demand, ...], paths: list[_Path]
) -> tuple[list[cp_model.IntVar], list[tuple[int, cp_model.IntVar]]]:
    """Literals of ports in use, and (penalty, literal) pairs that choose among equally short routes."""
    in_use: dict[tuple[int, Port], cp_model.IntVar] = {}
    penalties: list[tuple[int, cp_model.IntVar]] = []
    for k, (demand, path) in enumerate(zip(demands, paths, strict=True)):
        for port, literal in ((p, lit) for hop in path.hops for p, lit in hop.items()):
            used = in_use.setdefault(
                (demand.value, port), model.new_bool_var(f"value {demand.value} uses {_name(port)}")
            )
            model.add_implication(literal, used)
        for level in (path.output, *path.hops, path.input):
            penalties += [((len(demands) - k) * port.index, literal) for port, literal in level.items() if port.index]
        penalties += [(1, literal) for port, literal in path.hops[0].items() if STEP[port.location][0]]
    return list(in_use.values()), penalties


def _read_route(search: cp_model.CpSolver, demand: Demand, path: _Path) -> Route:
    def chosen_ports(level: Level) -> list[Port]:
        return [port for port, literal in level.items() if search.boolean_value(literal)]

    hops = tuple(port for hop in path.hops for port in chosen_ports(hop))
    return Route(demand.displacement, chosen_ports(path.output)[0].index, hops, chosen_ports(path.input)[0].index)


def check_routes(machine: Machine, demands: tuple[Demand, ...], routes: tuple[Route, ...]) -> None:
    """Verifier of routes: PL0465 (internal) unless every demand has its route: right displacement, existing ports,
    allowed connections, and every sink port driven by one source with one value (the array paper, section 5.4).
    Independent of the search.
    """
    if found := tuple(_faults(machine, demands, routes)):
        raise PolyloomError(Diagnostic("PL0465", f"the router made a mistake: {found[0]}", INTERNAL, notes=found[1:]))


def _faults(machine: Machine, demands: tuple[Demand, ...], routes: tuple[Route, ...]) -> Iterator[str]:
    if len(demands) != len(routes):
        yield f"{len(demands)} demands have {len(routes)} routes"
        return
    carries: dict[tuple[str, Port], int] = {}
    driver: dict[Port, tuple[Port, ...]] = {}
    for k, (demand, r) in enumerate(zip(demands, routes, strict=True)):
        reached = sum(STEP[h.location][0] for h in r.hops), sum(STEP[h.location][1] for h in r.hops)
        if not demand.displacement == r.displacement == reached:
            yield f"route {k} leads to {reached}, not to {demand.displacement}"
        limits = [
            (machine.output_registers, r.output),
            (machine.input_registers, r.input),
            *((machine.channels, h.index) for h in r.hops),
        ]
        if any(n < 0 or (limit is not None and n >= limit) for limit, n in limits):
            yield f"route {k} uses a port that does not exist"
        prefix: tuple[Port, ...] = ()
        for source, sink in _connections(r):
            prefix = (*prefix, source)
            if not _adjacent(machine, source, sink):
                yield f"route {k} connects {_name(source)} to {_name(sink)}"
            if (
                carries.setdefault(("source", source), demand.value) != demand.value
                or carries.setdefault(("sink", sink), demand.value) != demand.value
            ):
                yield f"route {k} meets another value in {_name(source)} or {_name(sink)}"
            # The whole way to the sink is compared: a fork must have one trunk.
            if driver.setdefault(sink, prefix) != prefix:
                yield f"{_name(sink)} is driven by two sources"
        if len(set(r.hops)) != len(r.hops):
            yield f"route {k} passes a port twice"
    if len({r.input for r in routes}) != len(routes):
        yield "two routes end in one input register"
    if len({(d.value, r.output) for d, r in zip(demands, routes, strict=False)}) != len({d.value for d in demands}):
        yield "a value leaves by two output registers"
