# SPDX-License-Identifier: Apache-2.0
"""Systems of affine recurrence equations (Karp, Miller and Winograd 1967; Feautrier 1991): a nest in single assignment,
where every read names the instance that wrote it.

    S[I] = value(R[f(I)], A[g(I)], ...) for I in domain

Each statement of a nest is one equation over its own loops; a read takes its value, piece by piece, from an instance of
a statement, from what an argument held at entry, or is a constant. `transform.dataflow` makes this by last-writer
analysis (Feautrier, "Dataflow analysis of array and scalar references", 1991); `transform.embed` and
`transform.localize` make a piecewise linear algorithm of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from polyloom.diagnostics import Span
from polyloom.ir.nest import Expression, Statement, Storage
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition


@dataclass(frozen=True, slots=True)
class Produced:
    """The value of the instance `statement[index]`; `index` is affine in the reader's loops and the parameters."""

    statement: str
    index: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """Initial value: what the argument `name[index]` held at entry."""

    name: str
    index: tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class Immediate:
    """The constant that was assigned last; no statement need execute for it."""

    constant: Constant
    index: tuple[Affine, ...] = ()


Origin = Produced | Stored | Immediate


@dataclass(frozen=True, slots=True)
class Piece:
    """Piece of a read (a leaf of Feautrier's quasi-affine selection tree, 1991): in `domain` (over the reader's loops,
    already inside the reader's domain) the value comes from `origin`.
    """

    domain: Condition
    origin: Origin


@dataclass(frozen=True, slots=True)
class Recurrence:
    """`statement` with the origins of its reads: `reads[n]` belongs to the n-th of
    `ir.nest.accesses(statement.assign.value)`.

    The pieces of a read are disjoint and cover the statement's domain (dead instances, which nothing needs, are cut
    from it).
    """

    statement: Statement
    dtype: ElementType
    reads: tuple[tuple[Piece, ...], ...]

    @property
    def name(self) -> str:
        return self.statement.assign.name

    @property
    def loops(self) -> tuple[str, ...]:
        return self.statement.loops

    @property
    def domain(self) -> Condition:
        return self.statement.domain

    @property
    def value(self) -> Expression:
        return self.statement.assign.value

    @property
    def span(self) -> Span | None:
        return self.statement.assign.span


def origins(equations: Iterable[Recurrence]) -> Iterator[Origin]:
    """Origins of the reads of all `equations`."""
    return (piece.origin for e in equations for read in e.reads for piece in read)


@dataclass(frozen=True, slots=True)
class Final:
    """The instances of `statement` in `domain` wrote the last value of `name[index]`, an element of an output."""

    name: str
    index: tuple[Affine, ...]
    statement: str
    domain: Condition


@dataclass(frozen=True, slots=True)
class System:
    """A whole nest. `storage` holds the arguments only. Output elements that no `Final` writes keep what they held at
    entry.

    `reasons` pairs equations that are not the user's with a sentence that says why they are there."""

    name: str
    parameters: tuple[str, ...]
    assumptions: Condition
    storage: tuple[Storage, ...]
    equations: tuple[Recurrence, ...]
    finals: tuple[Final, ...]
    span: Span | None = None
    reasons: tuple[tuple[str, str], ...] = ()

    def __getitem__(self, name: str) -> Recurrence:
        return next(e for e in self.equations if e.name == name)

    @property
    def names(self) -> frozenset[str]:
        """Names of parameters, arrays and variables. Equations and the loops of each have names to themselves."""
        return frozenset(
            (
                *self.parameters,
                *(s.name for s in self.storage),
                *(e.statement.assign.target.name for e in self.equations),
            )
        )

    @property
    def labels(self) -> set[str]:
        """The names of the equations."""
        return {e.name for e in self.equations}
