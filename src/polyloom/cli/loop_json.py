# SPDX-License-Identifier: Apache-2.0
"""Loops that `polyloom schedule` reads: resources, nodes and edges of a JSON text (docs/schedule.md), and every fault
at its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NoReturn, cast

from polyloom import files
from polyloom.cli.json_text import Document, Path, parse_json
from polyloom.diagnostics import PolyloomError, Span, input_error, nearest
from polyloom.modulo.problem import LARGEST, Choice, Dependence, Operation, Problem, Resource, Use

EXAMPLE: Final = (
    'write a loop as {"resources": {"mul": {"limit": 1}}, "nodes": [{"name": "a", "resource": "mul", "latency": 3}, '
    '{"name": "b"}],'
    ' "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a", "distance": 1}]}'
)
Label = str | list[str] | None
"""What a choice holds: a resource, several, or none."""
Members = dict[str, object]


@dataclass(frozen=True, slots=True)
class Loop:
    """Loop with its problem. `labels[v][k]` is the name of choice k of node v in answers; `document` has the places."""

    problem: Problem
    labels: tuple[tuple[Label, ...], ...]
    document: Document


def read_loop(path: str) -> Loop:
    """Loop in a file. Errors: PL0960 and PL0980 to PL0983, shown at their place."""
    document = parse_json(files.read(path), path, EXAMPLE)
    if (repeated := document.repeated_anywhere()) is not None:
        raise input_error(
            "PL0980", f"the key '{repeated[0]}' is given twice", span=repeated[1], help=f"give '{repeated[0]}' once"
        )
    return _Reader(document).loop()


class _Reader:
    """Reader over a document with places; `resources` and `nodes` are numbers by name."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.resources: dict[str, int] = {}
        self.nodes: dict[str, int] = {}

    def loop(self) -> Loop:
        members = self.members((), self.document.value, "a loop", ("resources", "nodes", "edges"), ("nodes",))
        resources = tuple(self._resources(members.get("resources", {})))
        self.resources = {r.name: n for n, r in enumerate(resources)}
        nodes = self.items(("nodes",), members["nodes"], "nodes")
        if not nodes:
            span = self.document.value_span(("nodes",))
            raise input_error("PL0983", "the loop has no nodes", span=span, help='give at least one: [{"name": "a"}]')
        # All nodes before the edges: an edge may name a node that stands below it.
        read = [self._node(("nodes", n), node) for n, node in enumerate(nodes)]
        edges = self.items(("edges",), members.get("edges", []), "edges")
        dependences = tuple(self._edge(("edges", n), edge) for n, edge in enumerate(edges))
        problem = Problem(tuple(operation for operation, _ in read), resources, dependences)
        return Loop(problem, tuple(labels for _, labels in read), self.document)

    def _resources(self, value: object) -> Iterator[Resource]:
        if not isinstance(value, dict):
            self.mistyped(("resources",), "an object of resources")
        for name, described in cast(Members, value).items():
            path: Path = ("resources", name)
            limit = self.members(path, described, "a resource", ("limit",), ("limit",))["limit"]
            yield Resource(
                name, None if limit is None else self.number((*path, "limit"), limit, 0, "or null for any number")
            )

    def _node(self, path: Path, value: object) -> tuple[Operation, tuple[Label, ...]]:
        members = self.members(path, value, "a node", ("name", "resource", "latency", "busy"), ("name",))
        name = members["name"]
        if not isinstance(name, str) or not name:
            self.mistyped((*path, "name"), "a name")
        # Edges name nodes: two of one name could not be told apart.
        if name in self.nodes:
            raise self.wrong_name((*path, "name"), f"there are two nodes '{name}'", "give every node a name of its own")
        self.nodes[name] = len(self.nodes)
        timing = Timing(1, 1).with_members(self, path, members)
        if "resource" not in members:
            return Operation(name, (Choice((), timing.latency),)), (None,)
        place: Path = (*path, "resource")
        entries = members["resource"]
        if not isinstance(entries, list):
            found = [self._choice(place, entries, timing)]
        else:
            found = [self._choice((*place, n), entry, timing) for n, entry in enumerate(cast("list[object]", entries))]
        if not found:
            self.mistyped(place, "a resource, or a list of at least one to choose from")
        return Operation(name, tuple(choice for choice, _ in found)), tuple(label for _, label in found)

    def _choice(self, path: Path, value: object, timing: Timing) -> tuple[Choice, Label]:
        """Choice of resources of a node: a name, or an object, which may override latency and busy time."""
        if not isinstance(value, dict):
            return Choice((Use(self.resource(path, value), timing.busy),), timing.latency), cast(str, value)
        if "hold" not in value:
            members = self.members(
                path, cast(object, value), "a choice", ("resource", "hold", "latency", "busy"), ("resource",)
            )
            mine = timing.with_members(self, path, members)
            name = members["resource"]
            return Choice((Use(self.resource((*path, "resource"), name), mine.busy),), mine.latency), cast(str, name)
        members = self.members(path, cast(object, value), "a choice that holds several", ("hold", "latency", "busy"))
        mine = timing.with_members(self, path, members)
        held = [
            self._read_use((*path, "hold", n), entry, mine)
            for n, entry in enumerate(self.items((*path, "hold"), members["hold"], "resources"))
        ]
        return Choice(tuple(held), mine.latency), [
            name for use in held for name, n in self.resources.items() if n == use.resource
        ]

    def _read_use(self, path: Path, value: object, timing: Timing) -> Use:
        if not isinstance(value, dict):
            return Use(self.resource(path, value), timing.busy)
        members = self.members(
            path, cast(object, value), "a resource that is held", ("resource", "busy"), ("resource",)
        )
        return Use(
            self.resource((*path, "resource"), members["resource"]), timing.with_members(self, path, members).busy
        )

    def _edge(self, path: Path, value: object) -> Dependence:
        members = self.members(path, value, "an edge", ("from", "to", "delay", "distance", "latency"), ("from", "to"))
        ends = [self._edge_end((*path, key), members[key]) for key in ("from", "to")]
        distance = self.number((*path, "distance"), members.get("distance", 0), 0, "iterations")
        delay = self.number((*path, "delay"), members.get("delay", 0), -LARGEST, "cycles")
        latency = self.number((*path, "latency"), members["latency"], 0, "cycles") if "latency" in members else None
        return Dependence(ends[0], ends[1], distance, delay, latency)

    def _edge_end(self, path: Path, value: object) -> int:
        if not isinstance(value, str):
            self.mistyped(path, "the name of a node")
        if value not in self.nodes:
            raise self.wrong_name(path, f"there is no node '{value}'", nearest(value, self.nodes, "node"))
        return self.nodes[value]

    def resource(self, path: Path, value: object) -> int:
        if not isinstance(value, str):
            self.mistyped(path, "the name of a resource")
        if value not in self.resources:
            raise self.wrong_name(path, f"there is no resource '{value}'", nearest(value, self.resources, "resource"))
        return self.resources[value]

    def number(self, path: Path, value: object, least: int, remark: str) -> int:
        if type(value) is not int:  # true and false are int to isinstance
            self.mistyped(path, f"an integer ({remark})")
        if not least <= value <= LARGEST:
            self.mistyped(path, f"in {least} to {LARGEST}")
        return value

    def items(self, path: Path, value: object, what: str) -> list[object]:
        if not isinstance(value, list):
            self.mistyped(path, f"a list of {what}")
        return cast("list[object]", value)

    def members(self, path: Path, value: object, what: str, keys: Iterable[str], needed: Iterable[str] = ()) -> Members:
        if not isinstance(value, dict):
            self.mistyped(path, f"{what}, an object with the keys {', '.join(keys)}")
        members = cast(Members, value)
        for key in members:
            if key not in keys:
                span = self.document.key_span((*path, key))
                raise input_error("PL0980", f"{what} has no key '{key}'", span=span, help=nearest(key, keys, "key"))
        for key in needed:
            if key not in members:
                raise input_error(
                    "PL0980", f"{what} needs the key '{key}'", span=self.document.value_span(path), help=EXAMPLE
                )
        return members

    def mistyped(self, path: Path, wanted: str) -> NoReturn:
        span = self.document.value_span(path)
        title = (
            "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
            or "the loop"
        )
        raise input_error(
            "PL0981", f"{title} is {self.document.text(span)}, which is not {wanted}", span=span, help=EXAMPLE
        )

    def wrong_name(self, path: Path, message: str, help: str) -> PolyloomError:
        return input_error("PL0982", message, span=self.document.value_span(path), help=help)


@dataclass(frozen=True, slots=True)
class Timing:
    """Timing that a choice inherits from its node: latency and busy time, in cycles."""

    latency: int
    busy: int

    def with_members(self, reader: _Reader, path: Path, members: Members) -> Timing:
        latency = reader.number((*path, "latency"), members.get("latency", self.latency), 0, "cycles")
        return Timing(latency, reader.number((*path, "busy"), members.get("busy", self.busy), 0, "cycles"))


def node_span(loop: Loop, node: int) -> Span:
    """Where a node stands."""
    return loop.document.value_span(("nodes", node))
