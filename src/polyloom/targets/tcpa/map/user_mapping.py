# SPDX-License-Identifier: Apache-2.0
"""User-given mapping (`--mapping FILE`, docs/mapping-file.md): any of allocation, scan order, and modulo schedule.

    rows = "i"                 # the dimension along array rows; columns likewise
    columns = "j"
    order = ["i", "j", "-k"]   # innermost first; a minus counts down
    initiation_interval = 2
    [equations.S1]             # a schedule: all equations or none
    tau = 0
    unit = "alu0"

What is not given is searched. What is given is checked like any answer of the solvers.
"""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.diagnostics import PolyloomError, Span, input_error, nearest
from polyloom.ir.rdg import Graph
from polyloom.machine.table import Table, parse
from polyloom.modulo.guards.problem import Solution
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.map.allocate import Allocation, Order, is_legal
from polyloom.targets.tcpa.map.schedule import Scheduled, best_solution, check_given_schedule

_LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Slot:
    """When and where one equation issues."""

    tau: int
    unit: str
    span: Span


@dataclass(frozen=True, slots=True)
class UserMapping:
    """`order` is innermost first, with the sign of each dimension; `None` and empty mean: search."""

    table: Table
    rows: str | None
    columns: str | None
    order: tuple[str, ...]
    interval: int | None
    slots: dict[str, Slot]


def parse_mapping(text: str, name: str) -> UserMapping:
    """Read a mapping file; errors PL0302 to PL0306 with line and column."""
    table = parse(text, name)
    table.reject_unknown(("rows", "columns", "order", "initiation_interval", "equations"))
    slots: dict[str, Slot] = {}
    if "equations" in table.content:
        equations = table.table("equations")
        for label in equations.content:
            entry = equations.table(label)
            entry.reject_unknown(("tau", "unit"))
            slots[label] = Slot(entry.integer("tau", 0, _LARGEST), entry.text("unit"), entry.span())
    # A mapping that gives slots must say the interval; one that only fixes the order may leave it to the search.
    interval = (
        table.integer("initiation_interval", 1, _LARGEST) if "initiation_interval" in table.content or slots else None
    )
    return UserMapping(
        table,
        table.text("rows") if "rows" in table.content else None,
        table.text("columns") if "columns" in table.content else None,
        table.texts("order") if "order" in table.content else (),
        interval,
        slots,
    )


def restrict_allocations(mapping: UserMapping, graph: Graph, found: tuple[Allocation, ...]) -> tuple[Allocation, ...]:
    """Allocations that the mapping leaves open."""
    if mapping.rows is None and mapping.columns is None:
        return found
    rows, columns = (
        None if name is None else _dimension(mapping, graph, key, name)
        for key, name in (("rows", mapping.rows), ("columns", mapping.columns))
    )
    # One dimension cannot be cut along both axes.
    if rows is not None and rows == columns:
        raise _mapping_error(
            mapping,
            "columns",
            "one dimension cannot run along both rows and columns",
            "name two dimensions, or leave one out",
        )
    return (Allocation(rows, columns),)


def restrict_orders(mapping: UserMapping, graph: Graph, found: tuple[Order, ...]) -> tuple[Order, ...]:
    """Scan orders that the mapping leaves open; PL0411 when the one it gives runs against a dependence."""
    if not mapping.order:
        return found
    names = [name.removeprefix("-") for name in mapping.order]
    dimensions = tuple(_dimension(mapping, graph, "order", name) for name in names)
    if sorted(dimensions) != list(range(len(graph.program.dimensions))):
        raise _mapping_error(
            mapping,
            "order",
            "a scan order names every dimension once",
            f"write a permutation of {', '.join(graph.program.dimensions)}",
        )
    # Reflection is kept by dimension, while the user gives it by place in the order.
    down = {names.index(n.removeprefix("-")) for n in mapping.order if n.startswith("-")}
    order = Order(dimensions, tuple(m in {dimensions[k] for k in down} for m in range(len(dimensions))))
    for use in graph.uses:
        if use.writers and not use.is_local and not is_legal(order, [use.distance]):
            where = (
                f"{graph.equations[use.consumer].name} reads {use.variable} at distance "
                f"({', '.join(map(str, use.distance))})"
            )
            raise _mapping_error(
                mapping,
                "order",
                f"the scan order runs against a dependence: {where}",
                "reverse or exchange dimensions",
                "PL0411",
            )
    return (order,)


def read_schedule(mapping: UserMapping, graph: Graph, machine: Machine, orders: tuple[Order, ...]) -> Scheduled | None:
    """Modulo schedule that the mapping gives, checked; PL0412 for what it violates. None when it gives none."""
    if not mapping.slots or mapping.interval is None:
        return None
    labels = [e.name for e in graph.equations]
    for label, slot in mapping.slots.items():
        if label not in labels:
            raise input_error(
                "PL0410",
                f"the program has no equation '{label}'",
                span=slot.span,
                help=nearest(label, labels, "equation"),
            )
    missing = [label for label in labels if label not in mapping.slots]
    if missing:
        raise _mapping_error(
            mapping,
            "equations",
            f"the schedule leaves out {', '.join(missing)}",
            "give tau and unit of every equation, or of none",
        )
    units = {u.name: n for n, u in enumerate(machine.units)}
    for slot in mapping.slots.values():
        if slot.unit not in units:
            raise input_error(
                "PL0410",
                f"machine {machine.name} has no unit '{slot.unit}'",
                span=slot.span,
                help=nearest(slot.unit, units, "unit"),
            )
    slots = [mapping.slots[label] for label in labels]
    # Schedules are normalized: the least start is 0.
    first = min(slot.tau for slot in slots)
    dimension = orders[0].order[0]
    # The user's interval is kept whatever it is; the search only tells how good it is.
    best = best_solution(graph, machine, dimension)
    proved = best is not None and best.proved and best.initiation_interval == mapping.interval
    solution = Solution(
        mapping.interval,
        tuple(slot.tau - first for slot in slots),
        tuple(units[slot.unit] for slot in slots),
        best.minimum if best is not None else 1,
        proved,
        best.bound_by
        if best is not None and proved
        else f"the given mapping: an initiation interval of {mapping.interval}",
    )
    found = check_given_schedule(graph, machine, dimension, solution)
    if isinstance(found, Scheduled):
        return found
    raise input_error(
        "PL0412",
        "the given schedule is not valid",
        span=mapping.table.span("equations"),
        notes=found,
        help="change tau or unit of these equations",
    )


def _dimension(mapping: UserMapping, graph: Graph, key: str, name: str) -> int:
    if name in graph.program.dimensions:
        return graph.program.dimensions.index(name)
    raise _mapping_error(
        mapping, key, f"the program has no dimension '{name}'", nearest(name, graph.program.dimensions, "dimension")
    )


def _mapping_error(mapping: UserMapping, key: str, message: str, help: str, code: str = "PL0410") -> PolyloomError:
    return input_error(code, message, span=mapping.table.span(key), help=help)
