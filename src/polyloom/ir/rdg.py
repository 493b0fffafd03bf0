# SPDX-License-Identifier: Apache-2.0
"""Reduced dependence graph (array paper, section 4, Figure 3; Karp, Miller and Winograd 1967): equations are nodes,
uses of internal variables are edges.

A use is one operand x[I - d] of one consumer. Its edges come from every equation that defines x for some iteration that
the consumer reads; each carries the producer iterations whose value is read, because what a producer writes, and when,
follows from its consumers. The graph stays in the program's coordinates; tiling and allocation come later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polyloom.ir.pla import Equation, Program
from polyloom.sets import Condition


@dataclass(frozen=True, slots=True)
class Writer:
    """Equation `node` produces for a use in the iterations of `condition` (the producer's: C_v and C_w - d)."""

    node: int
    condition: Condition


@dataclass(frozen=True, slots=True)
class Use:
    """Operand `position` of equation `consumer` reads `variable` at `distance` d, in the order of the dimensions."""

    consumer: int
    position: int
    variable: str
    distance: tuple[int, ...]
    writers: tuple[Writer, ...]

    @property
    def is_local(self) -> bool:
        """Whether producer and consumer are in the same iteration."""
        return not any(self.distance)


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes are `program.equations`. Pairs are of ascending indices.

    `exclusive`: equations that never execute in the same iteration. `overlaps`: uses of one variable for which some
    iteration produces one value, so that it has to be sent to both.
    """

    program: Program
    uses: tuple[Use, ...]
    exclusive: frozenset[tuple[int, int]]
    overlaps: frozenset[tuple[int, int]]

    @property
    def equations(self) -> tuple[Equation, ...]:
        return self.program.equations

    def is_exclusive_pair(self, one: int, other: int) -> bool:
        return (min(one, other), max(one, other)) in self.exclusive

    def variable_uses(self, variable: str) -> tuple[int, ...]:
        return tuple(n for n, use in enumerate(self.uses) if use.variable == variable)

    def variable_writers(self, variable: str) -> tuple[int, ...]:
        """The equations that produce a value of `variable` that some use reads, ascending."""
        return tuple(sorted({w.node for use in self.uses if use.variable == variable for w in use.writers}))


def print_graph(graph: Graph) -> str:
    """The graph for people: one line per node, below it one line per edge that enters it."""
    return "\n".join(_graph_lines(graph))


def _graph_lines(graph: Graph) -> Iterator[str]:
    for n, equation in enumerate(graph.equations):
        yield f"{equation.name}: {equation.target.name} [{equation.operation}] {{{equation.condition}}}"
        for use in graph.uses:
            if use.consumer == n:
                distance = "" if use.is_local else f" d = ({', '.join(map(str, use.distance))})"
                for writer in use.writers:
                    yield (
                        f"  {'ABC'[use.position]} <- {graph.equations[writer.node].name}{distance} "
                        f"{{{writer.condition}}}"
                    )
