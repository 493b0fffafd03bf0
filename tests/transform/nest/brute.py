# SPDX-License-Identifier: Apache-2.0
"""Runs through a nest with a pencil: which instance wrote each element last, at every read and at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from polyloom.ir.nest import Assign, If, Loop, Nest, Node, accesses
from polyloom.ir.pla import Reference

Instance = tuple[str, tuple[int, ...]]
"""A statement at its loops' values, or `@array` at an element that nothing wrote."""


@dataclass
class Trace:
    """`reads[instance]` are the origins of its reads in order; `last[array, element]` wrote it last."""

    reads: dict[Instance, list[Instance]] = field(default_factory=dict[Instance, list[Instance]])
    last: dict[Instance, Instance] = field(default_factory=dict[Instance, Instance])

    def run(self, nodes: tuple[Node, ...], at: dict[str, int], loops: tuple[int, ...]) -> None:
        for node in nodes:
            match node:
                case Assign():
                    elements = [self.element(r, at) for r in accesses(node.value)]
                    self.reads[node.name, loops] = [self.last.get(e, (f"@{e[0]}", e[1])) for e in elements]
                    self.last[self.element(node.target, at)] = (node.name, loops)
                case Loop():
                    values = range(max(a.evaluate(at) for a in node.lower), min(a.evaluate(at) for a in node.upper))
                    for value in values[:: node.step]:
                        self.run(node.body, at | {node.name: value}, (*loops, value))
                case If():
                    self.run(node.body if node.condition.contains(at) else node.orelse, at, loops)

    def element(self, reference: Reference, at: Mapping[str, int]) -> Instance:
        return reference.name, tuple(a.evaluate(at) for a in reference.index)


def trace(nest: Nest, parameters: Mapping[str, int]) -> Trace:
    made = Trace()
    made.run(nest.body, dict(parameters), ())
    return made
